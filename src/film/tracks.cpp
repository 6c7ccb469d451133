#include "film/tracks.h"

#include <algorithm>
#include <cmath>

#include "base/words.h"

namespace arrcoc::filming {

namespace {

constexpr double kStill = 0.03;  // shares of the frame: less is no movement
constexpr double kBeside = 0.2, kSlack = 0.12;
constexpr double kFast = 2, kSlow = 0.3;  // times the usual speed
constexpr double kSure = 0.9;             // one sighting is enough

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// How things usually move, from one sighting to the next.
struct Usual {
  bool upright = false;  // along y
  double sign = 0;       // 0: both ways
  double speed = 0;      // pixels a second along, 0: they stand
};

double along(const Usual& usual, const Sighting& a, const Sighting& b) {
  return usual.upright ? b.y - a.y : b.x - a.x;
}

Usual usual_of(const std::vector<Sighting>& s, double width, double height) {
  std::vector<double> xs, ys;
  for (size_t i = 1; i < s.size(); ++i) {
    const double span = s[i].seconds - s[i - 1].seconds;
    if (!(span > 0)) continue;
    xs.push_back((s[i].x - s[i - 1].x) / span);
    ys.push_back((s[i].y - s[i - 1].y) / span);
  }
  const auto size = [](std::vector<double> v) {
    for (double& x : v) x = std::abs(x);
    return median(v);
  };
  Usual out;
  const double x = size(xs), y = size(ys), typical = median([&] {
                                             std::vector<double> spans;
                                             for (size_t i = 1; i < s.size(); ++i)
                                               spans.push_back(s[i].seconds - s[i - 1].seconds);
                                             return spans;
                                           }());
  out.upright = y > x;
  out.speed = std::max(x, y);
  if (out.speed * typical < kStill * (out.upright ? height : width)) out.speed = 0;
  const std::vector<double>& main = out.upright ? ys : xs;
  const auto forward =
      static_cast<double>(std::count_if(main.begin(), main.end(), [](double v) { return v > 0; }));
  const double share = main.empty() ? 0.5 : forward / static_cast<double>(main.size());
  out.sign = share >= 0.65 ? 1 : share <= 0.35 ? -1 : 0;
  return out;
}

// How far from where the track would be; below 0: it cannot be the same thing.
double apart(const Track& track, const Sighting& seen, const Usual& usual, double width,
             double height) {
  const double main = usual.upright ? height : width, across = usual.upright ? width : height;
  const double dx = seen.x - track.last.x, dy = seen.y - track.last.y;
  const double forward = usual.upright ? dy : dx, aside = usual.upright ? dx : dy;
  if (usual.speed == 0) {
    const double far = std::hypot(dx, dy);
    return far <= kBeside * main ? far : -1;
  }
  if (std::abs(aside) > kBeside * across) return -1;
  double sign = usual.sign;
  if (sign == 0 && track.count > 1) sign = along(usual, track.first, track.last) > 0 ? 1 : -1;
  const double way = sign == 0 ? std::abs(forward) : forward * sign;
  const double expected = usual.speed * (seen.seconds - track.last.seconds);
  if (way < kSlow * expected - kSlack * main || way > kFast * expected + kSlack * main) return -1;
  return std::abs(way - expected) + std::abs(aside);
}

}  // namespace

std::vector<Track> tracks_of(const std::vector<Sighting>& sightings, double width, double height) {
  const Usual usual = usual_of(sightings, width, height);
  std::vector<Track> tracks;
  for (const Sighting& seen : sightings) {
    Track* best = nullptr;
    double least = 0;
    for (Track& track : tracks) {
      const double far = apart(track, seen, usual, width, height);
      if (far < 0 || (best && far >= least)) continue;
      best = &track;
      least = far;
    }
    if (!best) best = &tracks.emplace_back(Track{seen, seen, 0, 0});
    best->last = seen;
    ++best->count;
    best->confidence = std::max(best->confidence, seen.confidence);
  }
  std::erase_if(tracks, [](const Track& t) { return t.count < 2 && t.confidence < kSure; });
  return tracks;
}

namespace {

// data/words/moments.txt: pairs of words, many and one.
std::string one_of(const std::string& word) {
  static const WordFile file = word_file("moments");
  for (const WordLine& line : file.lines("plural"))
    if (line.words.at(0) == word) return std::string(line.words.at(1));
  const auto ends = [&](std::string_view tail) {
    return word.size() > tail.size() + 1 && word.ends_with(tail);
  };
  if (ends("ies")) return word.substr(0, word.size() - 3) + "y";
  for (const char* tail : {"ses", "xes", "shes", "ches", "oes"})
    if (ends(tail)) return word.substr(0, word.size() - 2);
  if (ends("s") && !ends("ss") && !ends("us")) return word.substr(0, word.size() - 1);
  return word;
}

}  // namespace

std::string singular(const std::string& names) {
  size_t end = names.size();
  for (const char* joint : {" of ", " with ", " on ", " and "})
    end = std::min(end, names.find(joint));
  const size_t begin = names.rfind(' ', end - 1);
  const size_t from = begin == std::string::npos ? 0 : begin + 1;
  return names.substr(0, from) + one_of(names.substr(from, end - from)) + names.substr(end);
}

}  // namespace arrcoc::filming
