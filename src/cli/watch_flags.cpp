#include "arrcoc/error.h"
#include "cli/watch.h"

namespace arrcoc::cli {

namespace {

// Longer side of a frame that is looked at closely: 512 covered no more on generated clips and on a
// real film, for half as much time again.
constexpr int kFilmFrame = 416;
constexpr int kFilmCanvas = 1024;

}  // namespace

struct WatchFlags::State {
  std::vector<std::function<void(filming::Tuning&)>> set;  // what was given
};

WatchFlags::WatchFlags(CLI::App& app) : options_(app), state_(std::make_shared<State>()) {
  const auto add = [&](const char* name, auto field, const CLI::Validator& check,
                       const char* help) {
    using T = std::decay_t<decltype(std::declval<filming::Tuning>().*field)>;
    app.add_option_function<T>(
           name,
           [state = state_, field](const T& value) {
             state->set.push_back([=](filming::Tuning& tuning) { tuning.*field = value; });
           },
           help)
        ->check(check)
        ->group("Time");
  };
  const CLI::Validator share = between(0, 1);
  using F = FilmConstants;
  add("--decay", &F::decay, share, "share of the map before");
  add("--renew", &F::renew, share,
      "how much of that share is left where a frame was looked at closely");
  add("--boost", &F::boost, share, "added where things move");
  add("--mover", &F::mover, share, "the same where the question asks for what moves");
  add("--steady", &F::steady, share, "least cosine of consecutive maps within a shot (a clamp)");
  add("--keep", &F::keep, share, "lead of leaves that are held and show what is there");
  add("--stale", &F::stale, share, "change x relevance from which a leaf is bought again");
  add("--enough", &F::enough, share,
      "share of the largest relevance from which leaves become finer frame by frame");
  add("--even", &F::even, share, "pull of a cell to the mean of its superpixel");
  add("--unexplained", &F::unexplained, share, "changed share that asks for a close look");
  add("--refresh", &filming::Tuning::refresh, CLI::Range(1, 1000000),
      "frames between close looks where nothing asks for one");
}

AskOptions WatchFlags::pipeline() const {
  AskOptions out = options_.options();
  if (!options_.given("frame")) out.look.frame = kFilmFrame;
  if (!canvas_given()) out.canvas = kFilmCanvas;
  return out;
}

AskOptions WatchFlags::reading() const { return options_.options(); }

bool WatchFlags::canvas_given() const { return options_.options().canvas != 0; }

filming::Options WatchFlags::timing(const FilmConstants& constants) const {
  const AskOptions options = options_.options();
  filming::Options out = filming::defaults(constants);
  for (const auto& set : state_->set) set(out.tuning);
  // Experts weigh native detail for pages; a film's leaves are judged by it, so the quadtree stays
  // unless somebody asks.
  if (options_.given("allocator")) out.allocator = options.allocator;
  const float finest = out.allocate.finest_weight;
  out.allocate = options.allocate;
  if (!options_.given("finest_weight")) out.allocate.finest_weight = finest;
  if (options_.given("budget")) {
    Look nothing;
    nothing.relevance.map = {1, 1, 1, 1, {0}};
    out.allowance.most = allocating::budget(nothing, parse_query("budget"), options.budget).tokens;
    out.allowance.rate = out.allowance.most;
  }
  return out;
}

}  // namespace arrcoc::cli
