// A scene made ready for training: pixels on a square canvas, labels on grids, questions as
// symbols.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "arrcoc/map.h"
#include "lab/scenes/scenes.h"
#include "models/tiny/tiny.h"

namespace arrcoc::training {

enum class Task {
  answer,  // a question of the scene
  after,   // which word follows this one on its line, or stands below it
  find,    // where is this word: for the realizer only
};

// What a question's boxes teach the realizer.
enum class Aim {
  place,   // these cells and no others
  object,  // a thing: the strongest cell must lie on it
  loose,   // somewhere in there, or at one of several places
  none,    // nothing: no box is known
};

struct Ask {
  std::vector<uint8_t> question;                  // symbols
  std::vector<uint8_t> answer;                    // symbols, without the end mark
  std::vector<Box> answer_boxes, evidence_boxes;  // native pixels
  // Words of the question that stand on a real page whose evidence nobody marked: looking there is
  // neither right nor wrong.
  std::vector<Box> context_boxes;
  Aim aim = Aim::place;
  std::vector<std::string> accepted;  // real questions: all right answers, for measuring
  int complexity = 1;                 // 0 simple, 1 medium, 2 complex
  Task task = Task::answer;
  std::string intent;
};

inline constexpr uint8_t kNotKnown = 255;  // a label that teaches nothing
inline int64_t label_of(uint8_t symbol) { return symbol == kNotKnown ? -1 : symbol; }  // for losses

struct Sample {
  uint64_t ticket = 0;
  std::string kind;
  Geometry geometry;  // of the real content on the canvas: the frame that the realizer sees
  Geometry native;    // of the picture that tokens are cut from; scenes: the same
  int canvas = 0;     // pixels along the canvas
  at::Tensor pixels;  // [canvas,canvas,3] uint8, the last row and column repeated outwards
  bool real = false;
  at::Tensor picture;  // of real ones: the native picture on its own canvas, in the same way
  std::vector<uint8_t> cells;  // [canvas/16][canvas/8][kCellSlots] symbols by x
  // Symbols of level-0 cells [rows][columns][kGlyphSlots] and of level -1, twice as many each way:
  // of the canvas, or of a real picture's native grid.
  std::vector<uint8_t> tokens, halves;
  int columns = 0;
  std::vector<uint8_t> text;   // [canvas/16][canvas/16] 1 where text is, kNotKnown where unknown
  std::vector<int32_t> inked;  // indices of cells that hold a character
  std::vector<Ask> asks;       // Task::answer
  std::vector<Ask> words;      // Task::after and Task::find
  struct Thing {               // on photographs
    Box box;                   // native pixels
    int name = 0;
  };
  std::vector<Thing> things;

  // Frame pixels a native one.
  float frame_x() const {
    return static_cast<float>(geometry.width) / static_cast<float>(native.width);
  }
  float frame_y() const {
    return static_cast<float>(geometry.height) / static_cast<float>(native.height);
  }
};

// Shrinks the scene's picture when it is larger than the canvas. `pinned` asks for page-locked
// memory. A scene whose chosen picture has no question gives a sample without asks.
Sample make_sample(const scenes::Scene& scene, uint64_t ticket, int canvas, bool pinned);

// Interleaved RGB at the top left of a square of `canvas` pixels, its last row and column repeated
// outwards.
void paint(const std::vector<uint8_t>& rgb, int width, int height, int canvas, uint8_t* out);

// Tier (0..4) that a question is worth: room for its boxes at native detail, bounded by complexity.
int tier_of(const Ask& ask, const Geometry& geometry);

// The name of the smallest thing at a place of the native picture; -1 where none is known, or where
// a cell of this area is larger than the thing.
int thing_at(const Sample& sample, float x, float y, float area);

// Cells of side pixels that a box touches: rows [r0,r1), cols [c0,c1), inside the grid.
struct CellRange {
  int r0, r1, c0, c1;
};
CellRange touched(const Box& box, int side, int rows, int cols);

}  // namespace arrcoc::training
