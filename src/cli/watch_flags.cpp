#include "arrcoc/error.h"
#include "cli/watch.h"

namespace arrcoc::cli {

// Longer side of a frame that is looked at closely: 512 covered no more on generated clips and on a
// real film, for half as much time again.
constexpr int kFilmFrame = 416;

struct WatchFlags::State {
  filming::Options timing = filming::defaults();
};

WatchFlags::WatchFlags(CLI::App& app)
    : options_(app, "realizer"), state_(std::make_shared<State>()) {
  filming::Tuning& t = state_->timing.tuning;
  const auto share = [&](const char* name, float& field, const char* help) {
    app.add_option(name, field, help)->check(between(0, 1))->group("Time");
  };
  share("--decay", t.decay, "share of the map before");
  share("--renew", t.renew, "how much of that share is left where a frame was looked at closely");
  share("--boost", t.boost, "added where things move");
  share("--mover", t.mover, "the same where the question asks for what moves");
  share("--steady", t.steady, "least cosine of consecutive maps within a shot");
  share("--keep", t.keep, "lead of cells that have fine leaves");
  share("--even", t.even, "pull of a cell to the mean of its superpixel");
  share("--unexplained", t.unexplained, "changed share that asks for a close look");
  app.add_option("--refresh", t.refresh, "frames between close looks where nothing asks for one")
      ->check(CLI::Range(1, 1000000))
      ->group("Time");
}

Options WatchFlags::pipeline() const {
  Options out = options_.options();
  const Options plain = policy(out.policy);
  if (out.frame == plain.frame) out.frame = kFilmFrame;
  if (out.canvas == 0) out.canvas = 1024;
  return out;
}

bool WatchFlags::canvas_given() const { return options_.options().canvas != 0; }

filming::Options WatchFlags::timing() const {
  const Options options = options_.options();
  filming::Options out = state_->timing;
  // Experts weigh native detail for pages; a film's leaves are judged by it, so the quadtree stays
  // unless somebody asks.
  if (options_.given().contains("allocator")) out.allocator = options.allocator;
  const float finest = out.allocate.finest_weight;
  out.allocate = options.allocate;
  if (options.allocate.finest_weight == AllocateOptions{}.finest_weight)
    out.allocate.finest_weight = finest;
  if (options.budget != Options{}.budget) {
    Relevance nothing;
    nothing.map = {1, 1, 1, 1, {0}};
    out.means.most = allocating::budget(nothing, parse_query("budget"), options.budget).tokens;
    out.means.rate = out.means.most;
  }
  return out;
}

}  // namespace arrcoc::cli
