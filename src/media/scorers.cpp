// Scorers that need OpenCV: what catches a person's eye because it means something.
#include <algorithm>

#include "media/providers.h"
#include "media/vision.h"

namespace arrcoc::media {

namespace {

Map text_map(const cv::Mat& luma, const Sight& sight) {
  return pool(text_strength(luma), sight.shape, sight.picture.width(), sight.picture.height());
}

// 0.3 edges + 0.5 faces + 0.2 text. Edges are relative to the picture's strongest cell, faces are
// the part of a cell that a face covers: all three and so the sum lie in [0,1].
class Symbolic : public Scorer {
 public:
  Map score(const Sight& sight) const override {
    const int width = sight.picture.width();
    const int height = sight.picture.height();
    const cv::Mat luma = luma_of(sight.frame);
    const Map edges = pool(edge_strength(luma), sight.shape, width, height);
    const float strongest = std::max(maximum(edges), 1e-3F);

    cv::Mat grey;
    luma.convertTo(grey, CV_8U, 255);
    cv::Mat covered = cv::Mat::zeros(grey.size(), CV_32FC1);
    for (const cv::Rect& face : detect_faces(grey)) covered(face).setTo(1);
    const Map faces = pool(covered, sight.shape, width, height);
    const Map text = text_map(luma, sight);

    Map out = like(sight.shape, 0);
    for (size_t i = 0; i < out.size(); ++i) {
      const float sum =
          0.3F * edges.values[i] / strongest + 0.5F * faces.values[i] + 0.2F * text.values[i];
      out.values[i] = std::clamp(sum, 0.0F, 1.0F);
    }
    return out;
  }
};

class TextScorer : public Scorer {
 public:
  Map score(const Sight& sight) const override {
    Map out = text_map(luma_of(sight.frame), sight);
    for (float& v : out.values) v = std::clamp(v, 0.0F, 1.0F);
    return out;
  }
};

}  // namespace

std::unique_ptr<Scorer> make_symbolic() { return std::make_unique<Symbolic>(); }
std::unique_ptr<Scorer> make_text_scorer() { return std::make_unique<TextScorer>(); }

}  // namespace arrcoc::media
