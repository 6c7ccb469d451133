// One constant after the other, until none gets better.
#include "lab/fit/film_fit.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace arrcoc::fitting {

namespace {

using filming::Flow;
using filming::Segments;
using filming::Thumb;
using measuring::FilmScore;

uint64_t mark_of(const Thumb& thumb, uint64_t mark = 0xCBF29CE484222325ULL) {
  for (uint8_t byte : thumb.rgb) mark = (mark ^ byte) * 0x100000001B3ULL;
  return mark;
}

// Made once for a key.
template <class Value, class Make>
Value known(std::map<uint64_t, Value>& values, uint64_t mark, const Make& make) {
  if (const auto found = values.find(mark); found != values.end()) return found->second;
  return values[mark] = make();
}

// Flow and superpixels depend on the frames alone, and every setting asks for the same ones.
class KnownFlow : public filming::FlowSource {
 public:
  explicit KnownFlow(std::shared_ptr<FlowSource> source) : source_(std::move(source)) {}
  Flow flow(const Thumb& current, const Thumb& previous) override {
    return known(known_, mark_of(previous, mark_of(current)),
                 [&] { return source_->flow(current, previous); });
  }

 private:
  std::shared_ptr<FlowSource> source_;
  std::map<uint64_t, Flow> known_;
};
class KnownSegments : public filming::SegmentSource {
 public:
  explicit KnownSegments(std::shared_ptr<SegmentSource> source) : source_(std::move(source)) {}
  Segments segments(const Thumb& thumb) override {
    return known(known_, mark_of(thumb), [&] { return source_->segments(thumb); });
  }

 private:
  std::shared_ptr<SegmentSource> source_;
  std::map<uint64_t, Segments> known_;
};

struct Knob {
  const char* name;
  void (*set)(FilmConstants&, float);
  std::vector<float> values;
};
// FilmConstants::mover is not among them: generated clips ask for things by their names, which the
// network finds, and say nothing about questions for whoever moves.
const Knob kKnobs[] = {
    {"renew", [](FilmConstants& c, float v) { c.renew = v; }, {0, 0.15F, 0.3F, 0.5F, 0.75F, 1}},
    {"decay", [](FilmConstants& c, float v) { c.decay = v; }, {0.5F, 0.6F, 0.71F, 0.8F, 0.9F}},
    {"boost", [](FilmConstants& c, float v) { c.boost = v; }, {0.05F, 0.1F, 0.17F, 0.25F, 0.4F}},
    {"even", [](FilmConstants& c, float v) { c.even = v; }, {0, 0.25F, 0.5F, 0.75F}},
    {"keep", [](FilmConstants& c, float v) { c.keep = v; }, {0.02F, 0.04F, 0.08F}},
    {"steady", [](FilmConstants& c, float v) { c.steady = v; }, {0.81F, 0.83F, 0.85F, 0.9F}},
    {"novelty",
     [](FilmConstants& c, float v) { c.novelty = static_cast<double>(v); },
     {0, 0.005F, 0.01F, 0.02F}},
    {"unexplained",
     [](FilmConstants& c, float v) { c.unexplained = v; },
     {0.005F, 0.01F, 0.015F, 0.03F}}};

}  // namespace

// Coverage, less what coherence lacks to a little more than its bar.
double worth(const FilmScore& s) {
  return s.coverage() - 2 * std::max(0.0, 0.85 - s.mean_coherence()) -
         0.5 * static_cast<double>(s.low) / static_cast<double>(std::max<int64_t>(1, s.pairs));
}

filming::Options with_constants(filming::Options options, const FilmConstants& constants) {
  static_cast<FilmConstants&>(options.tuning) = constants;
  options.allowance.novelty = constants.novelty;
  return options;
}

FilmConstants fit_film(const std::vector<measuring::Film>& films, const filming::Options& start,
                       const measuring::FilmSources& sources,
                       const std::function<void(const std::string&)>& report) {
  const measuring::FilmSources known_sources{std::make_shared<KnownFlow>(sources.flow),
                                             std::make_shared<KnownSegments>(sources.segments)};
  const auto score_of = [&](const FilmConstants& constants) {
    return measuring::follow(films, with_constants(start, constants), known_sources,
                             measuring::FilmBaselines::none);
  };
  // A value has to earn its place: less than this is chance.
  constexpr double kGain = 0.002;
  FilmConstants best = start.tuning;
  best.novelty = start.allowance.novelty;
  double most = worth(score_of(best));
  for (bool better = true; better;) {
    better = false;
    for (const Knob& knob : kKnobs)
      for (float value : knob.values) {
        FilmConstants tried = best;
        knob.set(tried, value);
        const FilmScore s = score_of(tried);
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

}  // namespace arrcoc::fitting
