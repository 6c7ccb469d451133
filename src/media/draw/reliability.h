// Reliability diagrams: how often answers are right against how sure they are.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace arrcoc::media {

struct ReliabilityBar {
  int count = 0;
  double confidence = 0, right = 0;  // means over the bin, [0,1]; unused where count is 0
};

struct ReliabilityPanel {
  std::string title, second;         // two lines
  std::vector<ReliabilityBar> bins;  // of equal width over [0,1]
};

// Panels beside each other, three a row: a bar of the share that is right for every bin with its
// count above, a dot at the mean confidence, the diagonal where both are the same. [3,h,w] uint8.
// Error{bad_argument} without a panel, or for one without bins.
at::Tensor draw_reliability(const std::vector<ReliabilityPanel>& panels);

}  // namespace arrcoc::media
