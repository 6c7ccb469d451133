// Scorers that need OpenCV: what catches a person's eye because it means something.
#include <algorithm>

#include "media/mats.h"
#include "media/vision/vision.h"

namespace arrcoc::media {

namespace {

Map pooled(const cv::Mat& values, const Sight& sight) {
  return pool(values, sight.shape, sight.picture.width(), sight.picture.height());
}

// Print, as the texture has it where a provider filled that channel, else found here.
Map text_map(const Sight& sight) {
  if (sight.texture.has(Channel::text_mask)) {
    Map sensed = scoring::channel_map(sight, Channel::text_mask);
    if (maximum(sensed) > 0) return sensed;
  }
  return pooled(text_strength(grey_of(sight.frame)), sight);
}

Map edge_map(const Sight& sight) {
  if (sight.texture.has(Channel::edges)) return scoring::channel_map(sight, Channel::edges);
  const at::Tensor edges = texture::peak_outlines_cpu(sight.frame.cpu().to(at::kFloat), 1);
  return pooled(plane_of(edges.unsqueeze(0), 0), sight);
}

// The part of each cell that a face covers.
Map face_map(const Sight& sight) {
  const cv::Mat grey = shrunk(grey_of(sight.frame), kFaceFrame);
  cv::Mat covered = cv::Mat::zeros(grey.size(), CV_32FC1);
  for (const cv::Rect& face : detect_faces(grey)) covered(face).setTo(1);
  return pooled(covered, sight);
}

}  // namespace

// 0.3 edges + 0.5 faces + 0.2 text. Edges are relative to the picture's strongest cell: all three
// and so the sum lie in [0,1].
Map symbolic(const Sight& sight) {
  const Map edges = edge_map(sight);
  const Map faces = face_map(sight);
  const Map text = text_map(sight);
  const float strongest = std::max(maximum(edges), 1e-3F);
  Map out = like(sight.shape, 0);
  for (size_t i = 0; i < out.size(); ++i) {
    const float sum =
        0.3F * edges.values[i] / strongest + 0.5F * faces.values[i] + 0.2F * text.values[i];
    out.values[i] = std::clamp(sum, 0.0F, 1.0F);
  }
  return out;
}

Map text(const Sight& sight) {
  Map out = text_map(sight);
  for (float& v : out.values) v = std::clamp(v, 0.0F, 1.0F);
  return out;
}

}  // namespace arrcoc::media
