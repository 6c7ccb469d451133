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

// Every cell of the map under a box: those whose middle lies in it, and at least one.
template <class Visit>
void each_cell(const Map& map, const Box& box, const Visit& visit) {
  const auto span = [](float from, float to, float cell, int cells) {
    const int first = std::min(static_cast<int>(from / cell + 0.5F), cells - 1);
    return std::pair(first, std::clamp(static_cast<int>(to / cell + 0.5F), first + 1, cells));
  };
  const auto [r0, r1] = span(box.y0, box.y1, map.cell_height, map.rows);
  const auto [c0, c1] = span(box.x0, box.x1, map.cell_width, map.cols);
  for (int r = r0; r < r1; ++r)
    for (int c = c0; c < c1; ++c) visit(static_cast<size_t>(r) * map.cols + c);
}

// Share of the pixels under a cell that are further apart than `same`.
float changed(const Thumb& a, const Thumb& b, const Map& shape, int row, int col, float same) {
  const int y0 = std::min(a.height - 1, row * a.height / shape.rows);
  const int x0 = std::min(a.width - 1, col * a.width / shape.cols);
  const int y1 = std::max(y0 + 1, (row + 1) * a.height / shape.rows);
  const int x1 = std::max(x0 + 1, (col + 1) * a.width / shape.cols);
  const int far = static_cast<int>(3 * 255 * 255 * same * same);
  int count = 0;
  for (int y = y0; y < y1; ++y) {
    const size_t at = 3 * (static_cast<size_t>(y) * a.width + x0);
    const uint8_t *p = &a.rgb[at], *q = &b.rgb[at];
    for (int x = x0; x < x1; ++x, p += 3, q += 3) {
      const int u = p[0] - q[0], v = p[1] - q[1], w = p[2] - q[2];
      count += u * u + v * v + w * w > far;
    }
  }
  return static_cast<float>(count) / static_cast<float>((y1 - y0) * (x1 - x0));
}

// The pixels of a thumb under a box of the geometry.
void copy(const Thumb& from, const Box& box, const Geometry& geometry, Thumb& to) {
  const float sx = static_cast<float>(from.width) / static_cast<float>(geometry.width);
  const float sy = static_cast<float>(from.height) / static_cast<float>(geometry.height);
  const int x0 = static_cast<int>(box.x0 * sx), y0 = static_cast<int>(box.y0 * sy);
  const int x1 = std::min(from.width, static_cast<int>(std::ceil(box.x1 * sx)));
  const int y1 = std::min(from.height, static_cast<int>(std::ceil(box.y1 * sy)));
  for (int y = y0; y < y1; ++y) {
    const size_t row = static_cast<size_t>(y) * from.width;
    std::copy(from.rgb.begin() + static_cast<std::ptrdiff_t>(3 * (row + x0)),
              from.rgb.begin() + static_cast<std::ptrdiff_t>(3 * (row + x1)),
              to.rgb.begin() + static_cast<std::ptrdiff_t>(3 * (row + x0)));
  }
}

// Only the plain quadtree grows from the leaves before; others buy all their tokens anew.
bool keeps_leaves(const Options& options) {
  return options.allocator == "quadtree" && !options.allocate.balanced &&
         options.allocate.gain == SplitGain::peak && options.allocate.falloff == 0;
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

Allocation bought(const Step& step) {
  Allocation out = step.allocation;
  out.leaves.clear();
  for (size_t i = 0; i < step.since.size(); ++i)
    if (step.since[i] == step.frame) out.leaves.push_back(step.allocation.leaves[i]);
  out.budget.tokens = step.tokens;
  return out;
}

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
  out.since = since_;
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
  allocate(out, thumb, fresh);
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

// What the leaves in force show, against what is there: a leaf whose content changed where it
// matters has to be bought again. Only cells that are relevant enough are looked at.
allocating::Held Follower::held(const Thumb& thumb) const {
  allocating::Held out{allocation_, std::vector<bool>(allocation_.leaves.size(), true)};
  const Tuning& t = options_.tuning;
  const float enough = t.stale * maximum(relevance_);
  Map stale = like(relevance_, 0);
  for (int r = 0; r < stale.rows; ++r)
    for (int c = 0; c < stale.cols; ++c) {
      const float matters = relevance_.at(r, c);
      if (matters > enough && changed(thumb, shown_, stale, r, c, t.same) * matters > enough)
        stale.at(r, c) = 1;
    }
  for (size_t i = 0; i < out.current.size(); ++i)
    each_cell(stale, allocating::box_of(geometry_, allocation_.leaves[i]), [&](size_t cell) {
      if (stale.values[cell] > 0) out.current[i] = false;
    });
  return out;
}

double Follower::wanting(const allocating::Held& held) const {
  const float enough = options_.tuning.enough * maximum(relevance_);
  double all = 0, fine = 0;
  for (float v : relevance_.values) all += v >= enough ? v : 0;
  for (size_t i = 0; i < held.current.size(); ++i) {
    const Leaf& leaf = allocation_.leaves[i];
    if (leaf.level > 0 || !held.current[i]) continue;
    each_cell(relevance_, allocating::box_of(geometry_, leaf), [&](size_t cell) {
      const float v = relevance_.values[cell];
      fine += v >= enough ? v : 0;
    });
  }
  return all > 0 ? std::clamp(1 - fine / all, 0.0, 1.0) : 0;
}

void Follower::allocate(Step& out, const Thumb& thumb, bool fresh) {
  out.novelty =
      touched(out.relevance, out.motion) + (out.coherence ? std::max(0.0F, 1 - *out.coherence) : 0);
  const bool grows = !fresh && !allocation_.leaves.empty() && keeps_leaves(options_);
  allocating::Held held;
  if (grows) {
    held = this->held(thumb);
    out.wanting = wanting(held);
    out.novelty += static_cast<double>(options_.tuning.hunger) * out.wanting;
  }
  const int granted = bucket_.grant(out.novelty, fresh);
  if (granted > 0) {
    Budget budget;
    budget.tokens = granted;
    budget.why = fresh ? "a new shot" : "enough has changed";
    renew(out, thumb, grows ? held : allocating::Held{}, budget);
    bucket_.unused(granted - out.tokens);
  } else if (fresh) {
    // Nothing is left for a new shot, and the old leaves say nothing about it.
    allocation_ = Allocation{geometry_, {}, {}, {}, options_.allocator, {}};
    since_.clear();
    out.notes.push_back("no tokens are left for this shot");
  }
  out.allocation = allocation_;
  out.since = since_;
}

// held: no leaves where the whole tree is to be bought.
void Follower::renew(Step& out, const Thumb& thumb, const allocating::Held& held,
                     const Budget& budget) {
  Relevance relevance;
  relevance.map = out.relevance;
  if (held.current.empty()) {
    allocation_ =
        allocating::allocate(relevance, geometry_, budget, options_.allocator, options_.allocate);
    out.tokens = allocation_.tokens();
    since_.assign(allocation_.leaves.size(), frame_);
    shown_ = thumb;
    return;
  }
  allocating::RenewOptions options;
  options.plain = options_.allowance.most;
  options.most = options.plain * std::max(1, options_.tuning.held);
  options.enough = options_.tuning.enough;
  options.keep = options_.tuning.keep;
  allocating::Renewal renewal =
      allocating::renew(relevance, geometry_, budget, held, options, options_.allocate);
  std::vector<int64_t> since;
  for (size_t i = 0; i < renewal.held.size(); ++i) {
    const int old = renewal.held[i];
    since.push_back(old < 0 ? frame_ : since_[static_cast<size_t>(old)]);
    if (old < 0)
      copy(thumb, allocating::box_of(geometry_, renewal.allocation.leaves[i]), geometry_, shown_);
  }
  allocation_ = std::move(renewal.allocation);
  since_ = std::move(since);
  out.tokens = renewal.bought;
}

}  // namespace arrcoc::filming
