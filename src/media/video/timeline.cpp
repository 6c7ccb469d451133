#include "arrcoc/media.h"

namespace arrcoc::media {

namespace {

constexpr size_t kColumns = 2048;

}  // namespace

void Timeline::add(const filming::Step& step) {
  if (columns_.size() == kColumns && columns_.back().frames == merge_) {
    for (size_t i = 0; i < kColumns / 2; ++i) {
      const Column &a = columns_[2 * i], &b = columns_[2 * i + 1];
      columns_[i] = {a.frames + b.frames, a.tokens + b.tokens, a.motion + b.motion,
                     a.coherence + b.coherence, a.cut || b.cut};
    }
    columns_.resize(kColumns / 2);
    merge_ *= 2;
  }
  if (columns_.empty() || columns_.back().frames == merge_) columns_.emplace_back();
  Column& column = columns_.back();
  ++column.frames;
  column.tokens += step.tokens;
  column.motion += step.motion.empty() ? 0 : mean(step.motion);
  column.coherence += step.coherence.value_or(1.0F);
  column.cut = column.cut || step.cut;
  ++frames_;
}

}  // namespace arrcoc::media
