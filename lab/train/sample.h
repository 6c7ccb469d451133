// A scene made ready for training: pixels on a square canvas, labels on grids, questions as
// symbols.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "arrcoc/map.h"
#include "models/tiny/tiny.h"
#include "lab/scenes/scenes.h"

namespace arrcoc::training {

enum class Task {
  answer,  // a question of the scene
  after,   // which word follows this one on its line, or stands below it
  find,    // where is this word: for the realizer only
};

struct Ask {
  std::vector<uint8_t> question;  // symbols
  std::vector<uint8_t> answer;    // symbols, without the end mark
  std::vector<Box> answer_boxes, evidence_boxes;
  int complexity = 1;  // 0 simple, 1 medium, 2 complex
  Task task = Task::answer;
  std::string intent;
};

struct Sample {
  uint64_t ticket = 0;
  std::string kind;
  Geometry geometry;           // of the real content
  int canvas = 0;              // pixels along the canvas
  at::Tensor pixels;           // [canvas,canvas,3] uint8, the last row and column repeated outwards
  std::vector<uint8_t> cells;  // [canvas/16][canvas/8][kCellSlots] symbols by x
  std::vector<uint8_t> tokens;  // [canvas/16][canvas/16][kGlyphSlots]
  std::vector<uint8_t> halves;  // [canvas/8][canvas/8][kGlyphSlots]
  std::vector<uint8_t> text;    // [canvas/16][canvas/16] 1 where text is
  std::vector<int32_t> inked;   // indices of cells that hold a character
  std::vector<Ask> asks;        // Task::answer
  std::vector<Ask> words;       // Task::after and Task::find
};

// Shrinks the scene's picture when it is larger than the canvas. `pinned` asks for page-locked
// memory. A scene whose chosen picture has no question gives a sample without asks.
Sample make_sample(const scenes::Scene& scene, uint64_t ticket, int canvas, bool pinned);

// Tier (0..4) that a question is worth: room for its boxes at native detail, bounded by complexity.
int tier_of(const Ask& ask, const Geometry& geometry);

// Cells of side pixels that a box touches: rows [r0,r1), cols [c0,c1), inside the grid.
struct CellRange {
  int r0, r1, c0, c1;
};
CellRange touched(const Box& box, int side, int rows, int cols);

}  // namespace arrcoc::training
