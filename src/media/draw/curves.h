// Curves over a common axis as a picture: losses of a training run, tokens over time.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

namespace arrcoc::media {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x, y; values that are not finite are left out
};

struct CurvePanel {
  std::string title;
  std::vector<Curve> curves;
};

struct CurveOptions {
  int width = 900;
  int panel_height = 260;
  std::string axis = "step";
};

// One panel below the other, each with its own scale: [3,h,w] uint8. Error{bad_argument} when no
// panel has a point.
at::Tensor draw_curves(const std::vector<CurvePanel>& panels, const CurveOptions& options = {});

}  // namespace arrcoc::media
