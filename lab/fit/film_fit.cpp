// Which constants follow films best: one constant after the other, until none gets better.
#include <algorithm>
#include <map>

#include "film/films.h"

namespace arrcoc::filming {

namespace {

uint64_t mark_of(const Thumb& thumb, uint64_t mark = 0xCBF29CE484222325ULL) {
  for (uint8_t byte : thumb.rgb) mark = (mark ^ byte) * 0x100000001B3ULL;
  return mark;
}

// Flow and superpixels depend on the frames alone, and every setting asks for the same ones.
class KnownFlow : public FlowSource {
 public:
  explicit KnownFlow(FlowSource* source) : source_(source) {}
  Flow flow(const Thumb& current, const Thumb& previous) override {
    const uint64_t mark = mark_of(previous, mark_of(current));
    if (const auto found = known_.find(mark); found != known_.end()) return found->second;
    return known_[mark] = source_->flow(current, previous);
  }

 private:
  FlowSource* source_;
  std::map<uint64_t, Flow> known_;
};
class KnownSegments : public SegmentSource {
 public:
  explicit KnownSegments(SegmentSource* source) : source_(source) {}
  Segments segments(const Thumb& thumb) override {
    const uint64_t mark = mark_of(thumb);
    if (const auto found = known_.find(mark); found != known_.end()) return found->second;
    return known_[mark] = source_->segments(thumb);
  }

 private:
  SegmentSource* source_;
  std::map<uint64_t, Segments> known_;
};

struct Knob {
  const char* name;
  void (*set)(Options&, float);
  std::vector<float> values;
};
// Tuning::mover is not among them: generated clips ask for things by their names, which the network
// finds, and say nothing about questions for whoever moves.
const Knob kKnobs[] = {
    {"renew", [](Options& o, float v) { o.tuning.renew = v; }, {0, 0.15F, 0.3F, 0.5F, 0.75F, 1}},
    {"decay", [](Options& o, float v) { o.tuning.decay = v; }, {0.5F, 0.6F, 0.71F, 0.8F, 0.9F}},
    {"boost", [](Options& o, float v) { o.tuning.boost = v; }, {0.05F, 0.1F, 0.17F, 0.25F, 0.4F}},
    {"even", [](Options& o, float v) { o.tuning.even = v; }, {0, 0.25F, 0.5F, 0.75F}},
    {"keep", [](Options& o, float v) { o.tuning.keep = v; }, {0.02F, 0.04F, 0.08F}},
    {"steady", [](Options& o, float v) { o.tuning.steady = v; }, {0.81F, 0.83F, 0.85F, 0.9F}},
    {"novelty", [](Options& o, float v) { o.means.novelty = v; }, {0, 0.005F, 0.01F, 0.02F}},
    {"unexplained",
     [](Options& o, float v) { o.tuning.unexplained = v; },
     {0.005F, 0.01F, 0.015F, 0.03F}}};

}  // namespace

// Coverage, less what coherence lacks to a little more than its bar.
double worth(const Score& s) {
  return s.coverage() - 2 * std::max(0.0, 0.85 - s.mean_coherence()) -
         0.5 * static_cast<double>(s.low) / static_cast<double>(std::max<int64_t>(1, s.pairs));
}

Options fit(const std::vector<Film>& films, const Options& start, FlowSource* flow,
            SegmentSource* segments, const std::function<void(const std::string&)>& report) {
  KnownFlow known_flow(flow);
  KnownSegments known_segments(segments);
  const auto score_of = [&](const Options& options) {
    Score score;
    for (const Film& film : films)
      measure(film, options, &known_flow, &known_segments, false, score);
    return score;
  };
  // A value has to earn its place: less than this is chance.
  constexpr double kGain = 0.002;
  Options best = start;
  double most = worth(score_of(best));
  for (bool better = true; better;) {
    better = false;
    for (const Knob& knob : kKnobs)
      for (float value : knob.values) {
        Options tried = best;
        knob.set(tried, value);
        const Score s = score_of(tried);
        const double w = worth(s);
        char line[120];
        std::snprintf(line, sizeof line, "%s %g: coverage %.4f, coherence %.3f, worth %.4f",
                      knob.name, static_cast<double>(value), s.coverage(), s.mean_coherence(), w);
        if (report) report(line);
        if (w <= most + kGain) continue;
        most = w;
        best = tried;
        better = true;
      }
  }
  return best;
}

}  // namespace arrcoc::filming
