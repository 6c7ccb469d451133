// Relevance over time: one map that follows a film, and one budget shared by its frames.
//
//   frame -> thumb -> motion, flow, cut? -> relevance = d*warp(previous) + (1-d)*current + boost
//                                        -> tokens for this frame: new leaves, and those that no
//                                           longer show what is there; the others stay for nothing
//
// Looking closely (the pipeline's map for the question) is dear, so it happens at the start, after
// cuts, when flow cannot explain what changed, and now and then; in between its map is carried
// along by optical flow. Everything else works on thumbs of 160 to 319 pixels. The state is a few
// maps and nine thumbs, however long the film. Nothing here is random.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrcoc/allocate.h"
#include "arrcoc/bundle.h"
#include "arrcoc/look.h"
#include "arrcoc/map.h"
#include "arrcoc/picture.h"
#include "arrcoc/renew.h"

namespace arrcoc::filming {

// A frame reduced to what time needs; rgb is interleaved [height][width][3].
struct Thumb {
  int width = 0, height = 0;
  std::vector<uint8_t> rgb;
  bool empty() const { return rgb.empty(); }
  bool operator==(const Thumb&) const = default;
};
// Pixels along a side that are averaged into one, so that the longer side becomes 160 to 319.
int thumb_factor(int width, int height);
Thumb thumb_of(const Picture& picture);
// A frame as decoders give it: three interleaved bytes a pixel, rows `stride` bytes apart.
struct Samples {
  const uint8_t* data = nullptr;
  int width = 0, height = 0;
  int64_t stride = 0;
  bool bgr = false;
};
Thumb thumb_of(const Samples& frame);

// Where the content of each pixel of a thumb was in the thumb before: (x + dx, y + dy).
struct Flow {
  int width = 0, height = 0;
  std::vector<float> dx, dy;  // [height][width]
  bool empty() const { return dx.empty(); }
};
class FlowSource {
 public:
  virtual ~FlowSource() = default;
  virtual Flow flow(const Thumb& current, const Thumb& previous) = 0;
};

// Superpixels of a thumb: one label a pixel, 0 .. count-1.
struct Segments {
  int count = 0;
  std::vector<int> labels;  // [height][width]
};
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  virtual Segments segments(const Thumb& thumb) = 0;
};

// The numbers that decide: those that are fitted (FilmConstants, from a Bundle) and facts about
// pictures.
struct Tuning : FilmConstants {
  float moving = 0.2F;         // RGB distance / sqrt 3 that counts as motion in full
  float noise = 0.03F;         // and below this as none at all
  float history = 0.9F;        // fixation history F <- 0.9 F + 0.1 R
  float stay = 0.02F;          // smaller changes of a cell are flicker and are left out
  float cut_motion = 0.5F;     // a pixel that changed this much ...
  float cut_share = 0.3F;      // ... and a share of pixels that makes a cut
  float cut_histogram = 0.3F;  // colours that must have been exchanged ...
  float cut_residual = 0.4F;   // ... and pixels that flow does not explain: also a cut
  float cut_colours = 0.2F;    // fewer will do ...
  float cut_light = 0.025F;    // ... where no change of light explains them
  int refresh = 120;           // frames between close looks where nothing asks for one
  int refresh_segments = 30;   // frames between superpixels
  int close_looks = 8;         // close looks in a row that may be asked for; one more per `refresh`
  float same = 0.06F;   // RGB distance / sqrt 3 up to which a leaf's pixel shows what is there
  int held = 4;         // leaves in force at once, of Allowance::most
  float hunger = 0.1F;  // share of `wanting` that counts as novelty
};

// What changed between two frames.
struct Change {
  double share = 0;      // pixels whose colour moved by more than Tuning::cut_motion
  double histogram = 0;  // half the L1 distance of the colour histograms, 0..1
  double light = 0;      // how far colours lie apart after evening out the light, 0..1; see compare
  double residual = 0;   // pixels that the flow does not explain
  bool cut = false;
};
// 1 where a pixel of the current thumb is neither as before nor as where the flow says it came
// from, else 0. Both thumbs must have one size; an empty flow explains nothing.
std::vector<float> unexplained(const Thumb& current, const Thumb& previous, const Flow& flow);
// lost: what `unexplained` gave for the two. `light` is the earth mover's distance of the channels'
// values, mean over channels, once the frame before has been made as bright as this one: things
// that move keep their colours and lamps change all channels alike, another shot does neither. It
// is only computed where colours were exchanged (Tuning::cut_colours).
Change compare(const Thumb& current, const Thumb& previous, const std::vector<float>& lost,
               const Tuning& tuning);

// Motion of every pixel, 0..1. recent: the frames before, latest first. A pixel moves when it
// differs from the frame l before and from the one 2l before (l = 1, 2, 4): the place that a thing
// has left differs from one of them only. The floor is three times the median: in a panning film
// all of the ground changes, and that is nothing special.
std::vector<float> motion_of(const Thumb& current, const std::deque<Thumb>& recent,
                             const Tuning& tuning);

// What a question wants from motion.
struct Interest {
  bool moving = false;  // people, vehicles or moving things are asked for: see Tuning::mover
  float rest = 1;       // weight of the question's map then: what rests is not what moves
  float upright = 0;    // 1: people, higher than wide; -1: vehicles; 0: any shape
  bool operator==(const Interest&) const = default;
};
Interest interest_in(const Query& query);
// Moving cells joined into things: 0 where nothing moves, and at most the fit of the thing's shape
// (0.25 to 1) elsewhere; the still parts inside a mover count almost as much as its edges.
Map movers(const Map& motion, const Interest& interest);

// A flow on the cells of a map, in cells: pooled once for all maps of one grid.
struct Drift {
  Map cols, rows;
  bool empty() const { return cols.empty(); }
};
Drift drift_of(const Flow& flow, const Map& shape);
// The values of a map moved along the flow, bilinear; what comes from outside takes the border.
Map warp(const Map& map, const Flow& flow);
Map warp(const Map& map, const Drift& drift);
// Mean of a thumb-sized field over each cell.
Map pool(const std::vector<float>& field, int width, int height, const Map& shape);
// 1 - cosine_distance.
float coherence(const Map& a, const Map& b);

// Tokens for a film: how many, when. A frame is granted tokens when enough has changed where it
// matters since the last frame that was; how much is enough grows as the bucket runs dry.
struct Allowance {
  int most = 64;          // tokens that one frame may get
  double rate = 64;       // tokens a frame on average; less than `most` makes frames share
  int64_t total = 0;      // of the whole film; 0: no limit but the rate
  double novelty = 0.02;  // enough when rate == most
  bool operator==(const Allowance&) const = default;
};
class TokenBucket {
 public:
  explicit TokenBucket(const Allowance& allowance);
  // The next frame. novelty >= 0: what changed where it matters; fresh: first frame or cut. Returns
  // the tokens it may use, 0 for "keep the leaves".
  int grant(double novelty, bool fresh);
  // Gives back what a frame did not use.
  void unused(int tokens);
  int64_t spent() const { return spent_; }

 private:
  Allowance allowance_;
  double credit_;
  double pending_ = 0;
  int64_t spent_ = 0;
};

// The question's map for one frame, stretched to [0,1]: the constants of films speak of such maps.
// motion: of the frame (Follower::motion), for scorers that read it.
Map look_at(const Looker& looker, const Picture& picture, const Query& question,
            const Map& motion = {});

struct Options {
  Tuning tuning;
  Interest interest;
  Allowance allowance;
  std::string allocator = "quadtree";
  AllocateOptions allocate;
};
// Options for films: native detail is worth as much as every other split.
Options defaults(const FilmConstants& constants = {});

struct Step {
  int64_t frame = 0;  // counted from 0
  Map relevance;
  Map motion;                      // of every cell, 0..1
  Change change;                   // zeros on the first frame
  std::optional<float> coherence;  // cosine with the map before; none on the first frame
  bool cut = false;                // started afresh (not set on the first frame)
  bool looked = false;             // the question's map was computed for this frame
  double novelty = 0;
  double wanting = 0;   // share of what is most relevant that no fine leaf shows as it is
  double strength = 0;  // mean of the 32 most relevant cells: which frame to answer from
  int tokens = 0;       // paid for this frame: leaves that are new, or were bought again
  // Leaves in force: at most Allowance::most x Tuning::held, of which a frame pays for `tokens`.
  Allocation allocation;
  std::vector<int64_t> since;  // [leaves] the frame that a leaf was paid for on, which it shows
  std::vector<std::string> notes;
};

// The leaves that this frame paid for: what a reader of the whole film takes from it.
Allocation bought(const Step& step);

class Follower {
 public:
  // Without a flow source nothing is warped; without segments nothing is evened out.
  Follower(const Options& options, std::shared_ptr<FlowSource> flow,
           std::shared_ptr<SegmentSource> segments = nullptr);
  // geometry: of the frame's tokens (native or canvas). look: the question's map for this very
  // frame, any grid over the whole frame; called only when a close look is due. A change of size
  // starts afresh and says so.
  Step step(const Thumb& thumb, const Geometry& geometry, const std::function<Map()>& look);
  // A frame that could not be read: the leaves stay in force and nothing is spent.
  Step missing(const std::string& why);

  const Map& history() const { return history_; }  // fixation history
  const Map& motion() const { return motion_; }  // of the last frame, or of the one being looked at
  int64_t spent() const { return bucket_.spent(); }
  int64_t close_looks() const { return looks_; }

 private:
  bool wants_look(const Change& change, bool fresh);
  void even_out(const Thumb& thumb, bool looked);
  void blend(Step& out, const Map& before, const Drift& drift, const Map& lost, bool fresh);
  allocating::Held held(const Thumb& thumb) const;
  double wanting(const allocating::Held& held) const;
  void allocate(Step& out, const Thumb& thumb, bool fresh);
  void renew(Step& out, const Thumb& thumb, const allocating::Held& held, const Budget& budget);

  Options options_;
  std::shared_ptr<FlowSource> flow_;
  std::shared_ptr<SegmentSource> segments_;
  TokenBucket bucket_;
  std::deque<Thumb> recent_;  // latest first, at most eight
  Geometry geometry_;
  Map asked_;      // the question's map, carried along
  Map relevance_;  // of the frame before
  Map history_;
  Map motion_;
  Allocation allocation_;
  std::vector<int64_t> since_;  // [leaves of allocation_]
  Thumb shown_;                 // what they show
  int64_t frame_ = 0;
  int64_t looks_ = 0;
  int64_t last_look_ = 0;
  int64_t last_segments_ = 0;
  double look_credit_;
};

}  // namespace arrcoc::filming
