#include <algorithm>
#include <cmath>
#include <numeric>

#include "arrcoc/error.h"
#include "film/squares.h"

namespace arrcoc::filming {

namespace {

constexpr size_t kRecent = 8;      // motion looks back so far
constexpr size_t kStrongest = 32;  // cells that say how relevant a frame is

// One cell for 16 pixels of the tokens' geometry; the cells share the frame evenly.
Map grid_of(const Geometry& geometry) {
  const Grid cells = geometry.grid(0);
  Map out;
  out.rows = cells.rows;
  out.cols = cells.cols;
  out.cell_width = static_cast<float>(geometry.width) / static_cast<float>(cells.cols);
  out.cell_height = static_cast<float>(geometry.height) / static_cast<float>(cells.rows);
  return like(out, 0);
}

Map fitted(const Map& map, const Map& shape) {
  require_finite(map, "film.look");
  Map out = like(shape, 0);
  out.values = resample(map, shape.rows, shape.cols).values;
  return out;
}

double strength_of(const Map& map) {
  std::vector<float> values = map.values;
  const size_t n = std::min(kStrongest, values.size());
  std::partial_sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n), values.end(),
                    std::greater<>());
  return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n), 0.0) /
         static_cast<double>(n);
}

// Share of the relevance that lies on what moved.
double touched(const Map& relevance, const Map& motion) {
  double on = 0, all = 0;
  for (size_t i = 0; i < relevance.size(); ++i) {
    on += relevance.values[i] * motion.values[i];
    all += relevance.values[i];
  }
  return all > 0 ? on / all : 0;
}

// Mixes the map before into the new one, as little as keeps their cosine at `least`.
void slow_down(const Map& before, float least, Map& map) {
  const Map wanted = map;
  // Below a tenth the share is halved: a strong map after a faint one outweighs it even then.
  for (float share = 0.9F; share > 1e-3F && coherence(before, map) < least;
       share = share > 0.15F ? share - 0.1F : share / 2)
    for (size_t i = 0; i < map.size(); ++i)
      map.values[i] = share * wanted.values[i] + (1 - share) * before.values[i];
}

}  // namespace

Follower::Follower(const Options& options, std::shared_ptr<FlowSource> flow,
                   std::shared_ptr<SegmentSource> segments)
    : options_(options),
      flow_(std::move(flow)),
      segments_(std::move(segments)),
      bucket_(options.allowance),
      look_credit_(options.tuning.close_looks) {}

Step Follower::missing(const std::string& why) {
  Step out;
  out.frame = frame_++;
  out.relevance = relevance_;
  out.motion = relevance_.empty() ? Map{} : like(relevance_, 0);
  if (!relevance_.empty()) out.coherence = 1.0F;
  out.allocation = allocation_;
  out.notes = {why};
  return out;
}

Step Follower::step(const Thumb& thumb, const Geometry& geometry,
                    const std::function<Map()>& look) {
  Step out;
  out.frame = frame_;
  const bool first = recent_.empty();
  bool fresh = first;
  if (!first && (!(geometry == geometry_) || recent_.front().width != thumb.width ||
                 recent_.front().height != thumb.height)) {
    out.notes.push_back("the frame's size changed from " + std::to_string(geometry_.width) + "x" +
                        std::to_string(geometry_.height) + " to " + std::to_string(geometry.width) +
                        "x" + std::to_string(geometry.height) + " token pixels: started afresh");
    fresh = true;
  }
  Flow flow;
  Map lost;
  std::vector<float> apart;  // from the frame before
  if (!fresh) {
    if (flow_) flow = flow_->flow(thumb, recent_.front());
    apart = squares(thumb, recent_.front());
    const std::vector<float> field = unexplained(thumb, recent_.front(), flow, apart);
    out.change = compare(thumb, recent_.front(), field, options_.tuning, apart);
    lost = pool(field, thumb.width, thumb.height, relevance_);
    fresh = out.change.cut;
  }
  out.cut = fresh && !first;
  if (fresh) {
    recent_.clear();
    geometry_ = geometry;
  }
  const Map shape = fresh ? grid_of(geometry) : relevance_;
  out.motion =
      pool(motion_of(thumb, recent_, options_.tuning, apart), thumb.width, thumb.height, shape);
  motion_ = out.motion;
  out.looked = wants_look(out.change, fresh);
  const Drift drift = drift_of(flow, shape);
  asked_ = out.looked ? fitted(look(), shape) : warp(asked_, drift);
  even_out(thumb, fresh || out.looked);
  const Map before = std::move(relevance_);
  blend(out, before, drift, lost, fresh);
  if (!first && before.rows == out.relevance.rows && before.cols == out.relevance.cols)
    out.coherence = coherence(before, out.relevance);
  allocate(out, fresh);
  recent_.push_front(thumb);
  if (recent_.size() > kRecent) recent_.pop_back();
  ++frame_;
  return out;
}

bool Follower::wants_look(const Change& change, bool fresh) {
  const Tuning& t = options_.tuning;
  look_credit_ = std::min<double>(t.close_looks, look_credit_ + 1.0 / std::max(1, t.refresh));
  const bool due = frame_ - last_look_ >= t.refresh;
  const bool lost = change.residual > t.unexplained && look_credit_ >= 1;
  if (!fresh && !due && !lost) return false;
  look_credit_ = std::max(0.0, look_credit_ - 1);
  last_look_ = frame_;
  ++looks_;
  return true;
}

// A map that was carried along, or that came from a coarse grid, has no edges of its own: half of
// every value becomes the mean of its superpixel. Done at close looks and every so many frames.
void Follower::even_out(const Thumb& thumb, bool looked) {
  if (!segments_) return;
  if (!looked && frame_ - last_segments_ < options_.tuning.refresh_segments) return;
  last_segments_ = frame_;
  const Segments found = segments_->segments(thumb);
  if (found.count < 1) return;
  std::vector<double> sum(static_cast<size_t>(found.count), 0);
  std::vector<int> count(static_cast<size_t>(found.count), 0);
  const auto cell = [&](int y, int x) -> float& {
    return asked_.at(y * asked_.rows / thumb.height, x * asked_.cols / thumb.width);
  };
  const auto label = [&](int y, int x) {
    return static_cast<size_t>(found.labels[static_cast<size_t>(y) * thumb.width + x]);
  };
  for (int y = 0; y < thumb.height; ++y)
    for (int x = 0; x < thumb.width; ++x) {
      sum[label(y, x)] += cell(y, x);
      ++count[label(y, x)];
    }
  std::vector<float> allowance(static_cast<size_t>(thumb.width) * thumb.height);
  for (int y = 0; y < thumb.height; ++y)
    for (int x = 0; x < thumb.width; ++x)
      allowance[static_cast<size_t>(y) * thumb.width + x] =
          static_cast<float>(sum[label(y, x)] / count[label(y, x)]);
  const Map even = pool(allowance, thumb.width, thumb.height, asked_);
  const float w = options_.tuning.even;
  for (size_t i = 0; i < even.size(); ++i)
    asked_.values[i] += w * (even.values[i] - asked_.values[i]);
}

// relevance = d*warp(previous) + (1-d)*current, d smaller where flow lost the thread; then boost
// where things move. The boost fills what is left up to 1, so that it never flattens the order.
void Follower::blend(Step& out, const Map& before, const Drift& drift, const Map& lost,
                     bool fresh) {
  const Tuning& t = options_.tuning;
  out.relevance = asked_;
  for (float& v : out.relevance.values) v *= options_.interest.rest;
  if (!fresh) {
    const Map carried = warp(before, drift);
    const Map moving = movers(out.motion, options_.interest);
    // Not a share of what decay leaves: how long a map lasts says nothing about what moves.
    const float boost = options_.interest.moving ? t.mover : t.boost;
    const float decay = out.looked ? t.renew * t.decay : t.decay;
    for (size_t i = 0; i < carried.size(); ++i) {
      const float d = decay * (1 - lost.values[i]);
      float& r = out.relevance.values[i];
      r = d * carried.values[i] + (1 - d) * r;
      r += boost * moving.values[i] * (1 - r);
      r = std::clamp(r, 0.0F, 1.0F);
      if (std::abs(r - before.values[i]) < t.stay) r = before.values[i];
    }
  }
  if (!fresh) slow_down(before, t.steady, out.relevance);
  relevance_ = out.relevance;
  out.strength = strength_of(relevance_);
  const Map past =
      fresh || history_.size() != relevance_.size() ? like(relevance_, 0) : warp(history_, drift);
  history_ = past;
  for (size_t i = 0; i < history_.size(); ++i)
    history_.values[i] = t.history * past.values[i] + (1 - t.history) * relevance_.values[i];
}

void Follower::allocate(Step& out, bool fresh) {
  out.novelty =
      touched(out.relevance, out.motion) + (out.coherence ? std::max(0.0F, 1 - *out.coherence) : 0);
  const int granted = bucket_.grant(out.novelty, fresh);
  if (granted > 0) {
    Relevance relevance;
    relevance.map = out.relevance;
    if (!fresh) favour(allocation_, options_.tuning.keep, relevance.map);
    Budget budget;
    budget.tokens = granted;
    budget.why = fresh ? "a new shot" : "enough has changed";
    allocation_ =
        allocating::allocate(relevance, geometry_, budget, options_.allocator, options_.allocate);
    out.tokens = allocation_.tokens();
    bucket_.unused(granted - out.tokens);
  } else if (fresh) {
    // Nothing is left for a new shot, and the old leaves say nothing about it.
    allocation_ = Allocation{geometry_, {}, {}, {}, options_.allocator, {}};
    out.notes.push_back("no tokens are left for this shot");
  }
  out.allocation = allocation_;
}

void favour(const Allocation& allocation, float lift, Map& map) {
  for (const Leaf& leaf : allocation.leaves) {
    if (leaf.level > 0) continue;
    const Box box = allocating::box_of(allocation.geometry, leaf);
    const int r = std::min(map.rows - 1, static_cast<int>((box.y0 + box.y1) / 2 / map.cell_height));
    const int c = std::min(map.cols - 1, static_cast<int>((box.x0 + box.x1) / 2 / map.cell_width));
    map.at(r, c) += lift;
  }
}

}  // namespace arrcoc::filming
