// Do maps look where people look? Measures of saliency research in their usual definitions
// (Bylinskii et al., What do different evaluation metrics tell us about saliency models?, 2016),
// over the picture's pixels; a map's value at a pixel is bilinear between the middles of its cells.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arrcoc/map.h"
#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {

// Where people looked on one picture, in its pixels: fixations (without a question), or boxes that
// the share `score` of them read (with one).
struct GazeItem {
  std::string image;  // path, the folder's name in front
  int width = 0, height = 0;
  std::string question;  // "" without
  std::vector<std::pair<float, float>> fixations;
  struct Looked {
    Box box;
    float score = 1;
  };
  std::vector<Looked> boxes;
};
// Lines of every items*.jsonl that have `fixations`, or `gaze_boxes` and `gaze_scores`; others are
// left out. Error{not_found} when none has, Error{bad_json} with file and line.
std::vector<GazeItem> load_gaze(const std::string& folder);

// A value for every pixel [height*width].
struct Field {
  int width = 0, height = 0;
  std::vector<float> values;
};
Field field_of(const Map& map, int width, int height);
// exp(-(dx^2 + dy^2) / 2), dx and dy from the middle in units of `sigma` of the width and height.
Field centred(int width, int height, double sigma);
// Share of the people who looked at a pixel: the largest score of the boxes over its middle.
Field painted(const GazeItem& item);
// 1 at every pixel that was fixated, however often; fixations outside of the picture do not count.
Field fixated(const GazeItem& item);

// Normalised scanpath saliency: the mean of (value - mean) / standard deviation over the pixels
// that were looked at, weighted by how much (fixated: 1 each). 0 for an even field or without a
// look.
double nss(const Field& field, const Field& looked);
// Area under the ROC curve of fixated against all other pixels, thresholds at the values of the
// fixated ones and straight lines between them (Judd); equal values are one threshold, where the
// first implementation breaks ties at random. 0.5 without either.
double auc_judd(const Field& field, const Field& looked);
// Pearson's correlation over all pixels; 0 when one of them is even.
double correlation(const Field& a, const Field& b);

}  // namespace arrcoc::measuring
