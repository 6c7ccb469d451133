// The cross-entropy method over all constants at once; see film_fit.h.
#include "lab/fit/film_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

#include "lab/scenes/random.h"

namespace arrcoc::fitting {

namespace {

using filming::Flow;
using filming::Segments;
using filming::Thumb;
using measuring::Film;
using measuring::FilmScore;

// Eight bytes at a time: it is taken of every frame by every setting.
uint64_t mark_of(const Thumb& thumb, uint64_t mark = 0xCBF29CE484222325ULL) {
  for (size_t i = 0; i < thumb.rgb.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, &thumb.rgb[i], std::min<size_t>(8, thumb.rgb.size() - i));
    mark = (mark ^ word) * 0x9E3779B97F4A7C15ULL;
    mark ^= mark >> 29;
  }
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
  float (*get)(const FilmConstants&);
  void (*set)(FilmConstants&, float);
  float low, high;
};
template <auto field>
constexpr Knob knob(const char* name, float low, float high) {
  return {name, [](const FilmConstants& c) { return static_cast<float>(c.*field); },
          [](FilmConstants& c, float v) { c.*field = v; }, low, high};
}
// `unexplained` is what close looks cost, and `steady` how far maps may jump: neither goes below
// what a film can afford.
constexpr Knob kKnobs[] = {knob<&FilmConstants::renew>("renew", 0, 1),
                           knob<&FilmConstants::decay>("decay", 0, 0.95F),
                           knob<&FilmConstants::boost>("boost", 0, 0.4F),
                           knob<&FilmConstants::mover>("mover", 0.1F, 0.9F),
                           knob<&FilmConstants::even>("even", 0, 1),
                           knob<&FilmConstants::keep>("keep", 0, 0.2F),
                           knob<&FilmConstants::stale>("stale", 0.02F, 0.6F),
                           knob<&FilmConstants::enough>("enough", 0.1F, 0.9F),
                           knob<&FilmConstants::steady>("steady", 0.81F, 0.95F),
                           knob<&FilmConstants::novelty>("novelty", 0, 0.04F),
                           knob<&FilmConstants::unexplained>("unexplained", 0.01F, 0.03F)};

}  // namespace

constexpr double kPrice = 0.003;  // a token a frame has to show three boxes more in a thousand

measuring::FilmSources remembered(const measuring::FilmSources& sources) {
  measuring::FilmSources out;
  if (sources.flow) out.flow = std::make_shared<KnownFlow>(sources.flow);
  if (sources.segments) out.segments = std::make_shared<KnownSegments>(sources.segments);
  return out;
}

// What is shown, less its tokens and what coherence lacks to a little more than its bar.
double worth(const FilmScore& s) {
  return s.mean(&measuring::FilmBox::shown) - kPrice * s.per_frame(s.tokens) -
         2 * std::max(0.0, 0.85 - s.mean_coherence()) -
         0.5 * static_cast<double>(s.low) / static_cast<double>(std::max<int64_t>(1, s.pairs));
}

filming::Options with_constants(filming::Options options, const FilmConstants& constants) {
  static_cast<FilmConstants&>(options.tuning) = constants;
  options.allowance.novelty = constants.novelty;
  return options;
}

namespace {

constexpr int kRounds = 8, kTried = 16, kElite = 4;
constexpr double kMovers = 1.0 / 3;  // share of the films of movers in what a setting is worth
constexpr float kSpread = 0.12F;     // of a knob's range, at first
constexpr float kLeast = 0.02F;      // and at last

using Point = std::array<float, std::size(kKnobs)>;  // every knob from 0 to 1

Point point_of(const FilmConstants& constants) {
  Point out;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = std::clamp(
        (kKnobs[i].get(constants) - kKnobs[i].low) / (kKnobs[i].high - kKnobs[i].low), 0.0F, 1.0F);
  return out;
}
FilmConstants constants_of(const Point& point, FilmConstants from) {
  for (size_t i = 0; i < point.size(); ++i)
    kKnobs[i].set(from, kKnobs[i].low + point[i] * (kKnobs[i].high - kKnobs[i].low));
  return from;
}

float normal(scenes::Random& random) {
  const float u = 1 - random.unit();
  return std::sqrt(-2 * std::log(u)) * std::cos(6.2831853F * random.unit());
}

struct Tried {
  Point point;
  double worth;
};

// Mean and spread of the best points, drawn half-way.
void follow_elite(std::vector<Tried>& tried, Point& mean, Point& spread) {
  std::stable_sort(tried.begin(), tried.end(),
                   [](const Tried& a, const Tried& b) { return a.worth > b.worth; });
  for (size_t i = 0; i < mean.size(); ++i) {
    float sum = 0, square = 0;
    for (size_t k = 0; k < kElite; ++k) sum += tried[k].point[i];
    const float middle = sum / kElite;
    for (size_t k = 0; k < kElite; ++k)
      square += (tried[k].point[i] - middle) * (tried[k].point[i] - middle);
    mean[i] += 0.7F * (middle - mean[i]);
    spread[i] += 0.7F * (std::max(kLeast, std::sqrt(square / kElite)) - spread[i]);
  }
}

std::vector<Film> part(const std::vector<Film>& films, bool aside) {
  std::vector<Film> out;
  for (const Film& film : films)
    if ((film.clip % kAside == kAside - 1) == aside) out.push_back(film);
  return out;
}

}  // namespace

FilmFit fit_film(const FilmRows& rows, const filming::Options& start,
                 const measuring::FilmSources& sources,
                 const std::function<void(const std::string&)>& report) {
  const std::vector<Film> clips = part(rows.clips, false), movers = part(rows.movers, false);
  const auto score = [&](const std::vector<Film>& films, const FilmConstants& constants) {
    return measuring::follow(films, with_constants(start, constants), sources,
                             measuring::FilmBaselines::none);
  };
  FilmConstants before = start.tuning;
  before.novelty = start.allowance.novelty;
  scenes::Random random(1);
  Point mean = point_of(before), spread;
  spread.fill(kSpread);
  double best = -1;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Tried> tried = {{mean, 0}};
    while (tried.size() < kTried) {
      Point& point = tried.emplace_back(Tried{mean, 0}).point;
      for (size_t i = 0; i < point.size(); ++i)
        point[i] = std::clamp(mean[i] + spread[i] * normal(random), 0.0F, 1.0F);
    }
    for (Tried& one : tried) {
      const FilmConstants constants = constants_of(one.point, before);
      one.worth = worth(score(clips, constants));
      if (!movers.empty()) one.worth += kMovers * (worth(score(movers, constants)) - one.worth);
      best = std::max(best, one.worth);
    }
    char line[80];
    std::snprintf(line, sizeof line, "round %d: middle %.4f, best so far %.4f", round + 1,
                  tried.front().worth, best);
    if (report) report(line);
    follow_elite(tried, mean, spread);
  }
  // Where the elite settled, not the luckiest point: that one fits these films alone.
  FilmFit out{constants_of(mean, before), {}, {}, false};
  const auto gain = [&](const std::vector<Film>& films) {
    const std::vector<Film> aside = part(films, true);
    return measuring::gain(score(aside, out.constants), score(aside, before),
                           [](const measuring::FilmBox& b) { return b.shown - kPrice * b.paid; });
  };
  out.clips = gain(rows.clips);
  out.movers = gain(rows.movers);
  out.better = out.clips.low > 0 && out.movers.mean >= 0;
  return out;
}

}  // namespace arrcoc::fitting
