// Whole-picture passes behind the effects. All work in place or row by row on 8-bit RGB and are
// written so that the compiler turns the inner loops into vector code.
#pragma once

#include <vector>

#include "lab/scenes/canvas.h"
#include "lab/scenes/draft.h"
#include "lab/scenes/random.h"

namespace arrcoc::scenes {

// Brightness over the picture: a coarse grid that is interpolated, and sharp lines (folds).
// 256 leaves a pixel as it is.
struct Light {
  static constexpr int kGrid = 9;
  int grid[kGrid][kGrid];
  std::vector<int> row, column;  // factors, 256 = 1; empty: none
  Light();
};

struct Tone {
  int gain[3] = {256, 256, 256};  // colour of the paper
  int lift[3] = {0, 0, 0};        // added, fades blacks
  int noise = 0;                  // amplitude of the grain, in 1/4 grey levels of one deviation
  int texture = 0;                // amplitude of the soft paper structure
  bool coloured_noise = false;
};

// out = in * gain * light + lift + grain + structure, clamped.
void tone(Canvas& canvas, const Tone& tone, const Light& light, Random& random);

void to_grey(Canvas& canvas);
// Two tones, as fax and old scanners do: below `level` black, else white, with a ragged edge.
void threshold(Canvas& canvas, int level, int ragged, Random& random);
// Blends each pixel with its neighbours by [1 2 1] / 4 in both directions.
void blur(Canvas& canvas);
void blur_rows(Canvas& canvas);     // along x only
void blur_columns(Canvas& canvas);  // along y only
// Sharpens edges: 2 in - blurred.
void sharpen(Canvas& canvas);
// Darkest (or lightest) of a pixel and its right neighbour: heavier or thinner ink.
void thicken(Canvas& canvas);
void thin(Canvas& canvas);
// What a worn print head does to dark ink on white: pale columns, pale bands, missing dots.
void wear_print(Canvas& canvas, Random& random, float strength);
// Specks of dust, dark or light.
void specks(Canvas& canvas, Random& random, int count, Color color);
// Quantises 8x8 blocks as a JPEG file of this quality (1..100) does; colour at half resolution.
void jpeg(Canvas& canvas, int quality);

// Draws `source` through `map` (source to target coordinates) onto a canvas of the given size.
Canvas warp(const Canvas& source, const Mapping& map, int width, int height, Color ground);

// The map that takes the corners of a width x height page to the four target points (clockwise from
// the top left).
Mapping quad_map(float width, float height, const Point target[4]);
Mapping inverse(const Mapping& map);

}  // namespace arrcoc::scenes
