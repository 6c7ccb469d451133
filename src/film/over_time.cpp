// Answers put together from what moments of a film were asked.
#include <algorithm>
#include <cmath>
#include <map>

#include "arrcoc/error.h"
#include "film/inquest.h"
#include "film/tracks.h"

namespace arrcoc::filming {

namespace {

constexpr size_t kCoarse = 8;       // moments that are asked about one thing before any closer ones
constexpr size_t kCoarseMany = 6;   // where there are several things
constexpr size_t kCounted = 24;     // where things are counted
constexpr double kSame = 7;         // mean difference of colours, of 255, that is no change
constexpr double kOther = 16;       // and one that surely is
constexpr double kApart = 0.12;     // share of the frame between two places
constexpr double kLeastSure = 0.5;  // of the surest sighting, for a thing to be there at all
constexpr double kFaint = 0.4;      // of the surest sighting: less is none
constexpr double kDoubtful = 0.05;  // that something came or went: less is nothing
constexpr double kPlain = 0.08;     // share of the frame that a thing has to go to have moved

// `count` of the moments from..to, evenly, the ends among them.
std::vector<size_t> spread(size_t from, size_t to, size_t count) {
  std::vector<size_t> out;
  const size_t all = to - from + 1, n = std::min(count, all);
  for (size_t k = 0; k < n; ++k)
    out.push_back(n == 1 ? from + (all - 1) / 2 : from + k * (all - 1) / (n - 1));
  return out;
}

bool seen(const MomentAnswer& answer) { return answer.text != "none" && !answer.text.empty(); }

// A thing from the moment when it comes to the last one that shows it.
struct Presence {
  bool found = false;
  size_t from = 0, to = 0;  // moments
  double confidence = 0;
  std::vector<std::pair<size_t, const MomentAnswer*>> sightings;
};

std::string in_seconds(double value) {
  const auto tenths = static_cast<int64_t>(std::lround(value * 10));
  std::string out = std::to_string(tenths / 10);
  if (tenths % 10 != 0) out += "." + std::to_string(tenths % 10);
  return out + " s";
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Composer {
 public:
  Composer(Inquest& inquest, const Plan& plan, int shots)
      : inquest_(inquest), plan_(plan), shots_(shots) {}

  TimeAnswer compose() {
    TimeAnswer out;
    out.plan = plan_;
    out.shots = shots_;
    out.text = "none";
    switch (plan_.asks) {
      case Asks::direction:
        direction(out);
        break;
      case Asks::first:
      case Asks::last:
      case Asks::before:
      case Asks::after:
        order(out);
        break;
      case Asks::comes:
      case Asks::goes:
        when(out);
        break;
      case Asks::appears:
      case Asks::disappears:
      case Asks::changed:
        change(out);
        break;
      case Asks::count:
        count(out);
        break;
      case Asks::part:
        part(out);
        break;
      case Asks::shot:
        which_shot(out);
        break;
      case Asks::shots:
      case Asks::cuts:
        out.text = std::to_string(plan_.asks == Asks::shots ? shots_ : shots_ - 1);
        out.confidence = 1;
        break;
    }
    out.moments = inquest_.all();
    out.tokens = inquest_.tokens();
    return out;
  }

 private:
  size_t end() const { return inquest_.size() - 1; }

  // ---- Where a thing is

  // Above 0: the thing is there.
  static double sign(const MomentAnswer& answer, double most) {
    return seen(answer) ? answer.confidence - 0.5 * most : -answer.confidence;
  }
  static std::string where(const std::string& thing) { return "Where is the " + thing + "?"; }

  // Asks `count` moments, then between those where the thing comes and goes, where that is wanted.
  Presence presence(const std::string& thing, size_t count, bool start, bool finish) {
    std::map<size_t, const MomentAnswer*> asked;
    const auto ask = [&](size_t i) {
      const MomentAnswer* answer = inquest_.ask(i, where(thing));
      if (answer) asked[i] = answer;
      return answer;
    };
    for (size_t i : spread(0, end(), count)) ask(i);
    double most = 0;
    for (const auto& [i, answer] : asked)
      if (seen(*answer)) most = std::max(most, answer->confidence);
    if (most < kLeastSure) return {};
    const auto of = [&](size_t i, const MomentAnswer& answer) {
      return mistaken(i, answer, asked) ? -0.5 : sign(answer, most);
    };
    Presence out = longest(asked, of);
    if (!out.found) return out;
    const auto there = [&](size_t i) {
      const MomentAnswer* answer = ask(i);
      return answer ? std::optional(of(i, *answer) > 0) : std::nullopt;
    };
    if (start) {
      const auto first = asked.find(out.from);
      size_t without = first == asked.begin() ? out.from : std::prev(first)->first;
      while (out.from > without + 1) {
        const size_t middle = (out.from + without) / 2;
        const auto shown = there(middle);
        if (!shown) break;
        (*shown ? out.from : without) = middle;
      }
    }
    if (finish) {
      const auto last = std::next(asked.find(out.to));
      size_t without = last == asked.end() ? out.to : last->first;
      while (without > out.to + 1) {
        const size_t middle = (out.to + without) / 2;
        const auto shown = there(middle);
        if (!shown) break;
        (*shown ? out.to : without) = middle;
      }
    }
    for (const auto& [i, answer] : asked)
      if (i >= out.from && i <= out.to && seen(*answer) && !mistaken(i, *answer, asked))
        out.sightings.emplace_back(i, answer);
    for (const auto& [k, answer] : out.sightings)
      out.confidence += answer->confidence / static_cast<double>(out.sightings.size());
    return out;
  }

  // What was pointed at stands there, too, while the thing is seen somewhere else, and that other
  // place looks different now: it is another thing.
  bool mistaken(size_t i, const MomentAnswer& answer,
                const std::map<size_t, const MomentAnswer*>& asked) {
    if (!seen(answer) || !answer.box) return false;
    int stays = 0, goes = 0;
    for (const auto& [k, other] : asked) {
      if (k == i || !seen(*other) || !other->box || other->shot != answer.shot) continue;
      const Box &a = *answer.box, &b = *other->box;
      const double far = std::hypot(a.x0 + a.x1 - b.x0 - b.x1, a.y0 + a.y1 - b.y0 - b.y1) / 2;
      if (far < kApart * inquest_.width(i)) continue;
      const double here = inquest_.apart(i, k, a), there = inquest_.apart(k, i, b);
      stays += here < kSame && there > kOther;
      goes += here > kOther;
    }
    return stays > goes;
  }

  // The stretch of moments with the largest sum of signs: one wrong answer breaks nothing.
  template <class Sign>
  static Presence longest(const std::map<size_t, const MomentAnswer*>& asked, const Sign& sign) {
    Presence out;
    double sum = 0, best = 0;
    size_t from = 0;
    for (const auto& [i, answer] : asked) {
      if (sum <= 0) sum = 0, from = i;
      sum += sign(i, *answer);
      if (sum > best) {
        best = sum;
        out.found = true;
        out.from = from;
        out.to = i;
      }
    }
    return out;
  }

  // ---- The answers

  void direction(TimeAnswer& out) {
    const Presence p = presence(plan_.things[0], kCoarse, false, false);
    out.confidence = p.confidence;
    std::vector<double> xs, ys;  // pixels a second, of every two sightings (Theil and Sen)
    for (size_t a = 0; a < p.sightings.size(); ++a)
      for (size_t b = a + 1; b < p.sightings.size(); ++b) {
        const MomentAnswer &early = *p.sightings[a].second, &late = *p.sightings[b].second;
        if (!early.box || !late.box || !(late.seconds > early.seconds)) continue;
        const double span = late.seconds - early.seconds;
        xs.push_back((late.box->x0 + late.box->x1 - early.box->x0 - early.box->x1) / 2 / span);
        ys.push_back((late.box->y0 + late.box->y1 - early.box->y0 - early.box->y1) / 2 / span);
      }
    if (xs.empty()) return;
    const double span = p.sightings.back().second->seconds - p.sightings.front().second->seconds;
    const double dx = median(xs) * span, dy = median(ys) * span;
    const Picture& frame = inquest_.picture(p.from);
    if (std::max(std::abs(dx) / frame.width(), std::abs(dy) / frame.height()) < kPlain) return;
    if (std::abs(dx) >= std::abs(dy))
      out.text = dx > 0 ? "right" : "left";
    else
      out.text = dy > 0 ? "down" : "up";
  }

  void order(TimeAnswer& out) {
    std::vector<std::pair<std::string, Presence>> found;
    for (const std::string& thing : plan_.things) {
      Presence p = presence(thing, plan_.things.size() > 1 ? kCoarseMany : kCoarse, true, false);
      if (p.found) found.emplace_back(thing, std::move(p));
    }
    const bool compares = plan_.asks == Asks::before || plan_.asks == Asks::after;
    if (found.empty() || (compares && found.size() < 2)) return;
    if (compares) {
      const size_t a = found[0].second.from, b = found[1].second.from;
      out.text = (plan_.asks == Asks::before ? a < b : a > b) ? "yes" : "no";
      out.confidence = std::min(found[0].second.confidence, found[1].second.confidence);
      return;
    }
    const bool last = plan_.asks == Asks::last;
    const auto best =
        std::min_element(found.begin(), found.end(), [&](const auto& a, const auto& b) {
          const auto at = [&](const Presence& p) {
            const auto from = static_cast<double>(p.from);
            return std::pair(last ? -from : from, -p.confidence);
          };
          return at(a.second) < at(b.second);
        });
    out.text = best->first;
    out.confidence = best->second.confidence;
  }

  void when(TimeAnswer& out) {
    const bool comes = plan_.asks == Asks::comes;
    const Presence p = presence(plan_.things[0], kCoarse, comes, !comes);
    out.confidence = p.confidence;
    if (!p.found || (!comes && p.to == end())) return;
    out.text = in_seconds(inquest_.moment(comes ? p.from : p.to + 1).seconds);
  }

  // Candidates are what one of two moments shows and the other does not; the first that is really
  // there before and not after (or the other way round) is it: what moved is there at both ends.
  void change(TimeAnswer& out) {
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t i = 1; i <= end(); ++i)
      if (inquest_.moment(i).frame == inquest_.moment(i - 1).frame + 1)
        pairs.emplace_back(i - 1, i);
    std::sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
      return inquest_.moment(a.second).jump > inquest_.moment(b.second).jump;
    });
    pairs.resize(std::min<size_t>(pairs.size(), 2));
    pairs.emplace_back(0, end());
    pairs.emplace_back(0, end() / 2);
    pairs.emplace_back(end() / 2, end());
    double best = kDoubtful;
    for (const auto& [early, late] : pairs) {
      if (early == late) continue;
      for (const bool came : {true, false}) {
        if (plan_.asks == (came ? Asks::disappears : Asks::appears)) continue;
        const MomentAnswer* shown =
            came ? inquest_.difference(late, early) : inquest_.difference(early, late);
        if (!shown || !seen(*shown)) continue;
        const double sure = shown->confidence * changes(shown->text, came);
        if (sure <= best) continue;
        best = sure;
        out.text = shown->text;
        out.confidence = sure;
      }
      if (best > 0.5) return;
    }
  }

  // How sure it is that the thing is there at one end of the film and not at the other.
  double changes(const std::string& thing, bool came) {
    const MomentAnswer* first = inquest_.ask(0, where(thing));
    const MomentAnswer* last = inquest_.ask(end(), where(thing));
    if (!first || !last) return 0;
    const auto there = [](const MomentAnswer& a) {
      return seen(a) ? a.confidence : 1 - a.confidence;
    };
    const double before = there(*first), after = there(*last);
    return came ? after * (1 - before) : before * (1 - after);
  }

  void count(TimeAnswer& out) {
    const std::string thing = singular(plan_.things[0]);
    std::vector<Sighting> sightings;
    double most = 0;
    for (size_t i : spread(0, end(), kCounted)) {
      const MomentAnswer* answer = inquest_.ask(i, where(thing));
      if (!answer) break;
      if (!seen(*answer) || !answer->box) continue;
      const Box& b = *answer->box;
      sightings.push_back(
          {answer->seconds, (b.x0 + b.x1) / 2.0, (b.y0 + b.y1) / 2.0, answer->confidence});
      most = std::max(most, answer->confidence);
    }
    std::erase_if(sightings, [&](const Sighting& s) { return s.confidence < kFaint * most; });
    const Picture& frame = inquest_.picture(0);
    const std::vector<Track> tracks = tracks_of(sightings, frame.width(), frame.height());
    out.text = std::to_string(tracks.size());
    for (const Track& track : tracks)
      out.confidence += track.confidence / static_cast<double>(tracks.size());
  }

  // The moments of one shot.
  std::vector<size_t> moments_of(int shot) const {
    std::vector<size_t> out;
    for (size_t i = 0; i < inquest_.size(); ++i)
      if (inquest_.moment(i).shot == shot) out.push_back(i);
    return out;
  }

  void part(TimeAnswer& out) {
    std::vector<size_t> where = {plan_.end ? end() : 0};
    if (plan_.shot) {
      where = moments_of(*plan_.shot < 0 ? shots_ + *plan_.shot : *plan_.shot);
      if (where.empty()) return;
      const std::vector<size_t> some = spread(0, where.size() - 1, 5);
      // Not at its edges, where there may be a moment between them.
      std::vector<size_t> inner;
      for (size_t k : some)
        if (some.size() < 4 || (k > 0 && k + 1 < where.size())) inner.push_back(where[k]);
      where = inner;
    }
    std::map<std::string, double> said;  // moments that agree
    for (size_t i : where)
      if (const MomentAnswer* answer = inquest_.ask(i, plan_.each)) {
        double& sum = said[answer->text];
        sum += answer->confidence;
        if (sum <= out.confidence) continue;
        out.confidence = sum;
        out.text = answer->text;
      }
    out.confidence /= static_cast<double>(where.size());
  }

  void which_shot(TimeAnswer& out) {
    std::map<int, double> sums;
    for (int shot = 0; shot < shots_; ++shot) {
      const std::vector<size_t> kept = moments_of(shot);
      if (kept.empty()) continue;
      const std::vector<size_t> some = spread(0, kept.size() - 1, 4);
      for (size_t k = some.size() > 2 ? 1 : 0; k < some.size() && k < 3; ++k)
        if (const auto* answer = inquest_.ask(kept[some[k]], where(plan_.things[0])))
          sums[shot] += sign(*answer, 0);
    }
    const auto best = std::max_element(
        sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == sums.end() || best->second <= 0) return;
    out.text = name_of_shot(best->first);
    out.confidence = std::min(1.0, best->second);
  }
  static std::string name_of_shot(int shot) {
    static constexpr const char* kNames[] = {"first",  "second", "third",
                                             "fourth", "fifth",  "sixth"};
    return shot < 6 ? std::string(kNames[shot]) + " shot" : "shot " + std::to_string(shot + 1);
  }

  Inquest& inquest_;
  const Plan& plan_;
  int shots_;
};

// Questions that a plan is likely to ask.
int expected(const Plan& plan) {
  switch (plan.asks) {
    case Asks::part:
      return 5;
    case Asks::count:
      return static_cast<int>(kCounted);
    default:
      return static_cast<int>(plan.things.size() > 1 ? plan.things.size() * (kCoarseMany + 3)
                                                     : kCoarse + 4);
  }
}

}  // namespace

TimeAnswer answer(const Asker& asker, const Plan& plan, const Moments& moments,
                  const TimeOptions& options) {
  if (moments.empty()) throw Error(ErrorCode::bad_argument, "there is no moment to ask about");
  if (options.tokens < kLeastTokens)
    throw Error(ErrorCode::bad_argument, "moments need " + std::to_string(kLeastTokens) +
                                             " tokens or more, not " +
                                             std::to_string(options.tokens));
  Inquest inquest(asker, moments, options, options.tokens / expected(plan));
  return Composer(inquest, plan, moments.shots()).compose();
}

}  // namespace arrcoc::filming
