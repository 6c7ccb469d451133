// A bundle and a model with the pictures seen last.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>

#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "base/stopwatch.h"

namespace arrcoc {

namespace {

constexpr size_t kPictures = 4;               // remembered
constexpr int64_t kLargestKept = 16'000'000;  // pixels; larger pictures are not kept
constexpr size_t kLookers = 32;

constexpr int kMostEnlarged = 4;  // least_side: at most so many times

bool is_auto(const std::string& budget) {
  return budget == "auto" || budget == "learned" || budget.rfind("auto:", 0) == 0;
}

}  // namespace

int64_t SeenPicture::bytes() const {
  const int64_t pyramid = static_cast<int64_t>(this->pyramid->picture().rgb.nbytes()) * 4 / 3;
  const int64_t own = pyramid + static_cast<int64_t>(picture.rgb.nbytes());
  return own + (seen ? seen->bytes() : 0);
}

Geometry geometry_of(int width, int height, const AskOptions& options) {
  const int finest = options.enlarge ? kFinestEver : 0;
  const auto check = [](const char* what, int side) {
    if (side != 0 && (side < 16 || side > 16384))
      throw Error(ErrorCode::bad_argument, std::string(what) + " must be 0 or 16 to 16384 pixels");
  };
  check("canvas", options.canvas);
  check("least_side", options.least_side);
  check("most_side", options.most_side);
  const int longer = std::max(width, height);
  int canvas = options.canvas;
  if (canvas == 0) {
    const int least = std::min(options.least_side, kMostEnlarged * longer);
    const int most = options.most_side == 0 ? longer : std::max(options.most_side, longer / 2);
    canvas = std::max(std::min(longer, most), least);
  }
  if (canvas == longer) return {width, height, finest};
  const double scale = static_cast<double>(canvas) / longer;
  const auto side = [&](int n) { return std::max(1, static_cast<int>(std::lround(n * scale))); };
  return {side(width), side(height), finest};
}

Pyramid pyramid_of(const Picture& picture, const AskOptions& options) {
  const Geometry g = geometry_of(picture.width(), picture.height(), options);
  const bool closer = options.passes.passes > 1 && options.passes.enlarge;
  const int finest = closer ? kFinestEver : g.finest;
  if (g.width == picture.width() && g.height == picture.height()) return Pyramid(picture, finest);
  return Pyramid(resize(picture, g.width, g.height), finest);
}

std::shared_ptr<const SeenPicture> see(Picture picture, std::shared_ptr<const Looker> looker,
                                       const AskOptions& options) {
  Stopwatch watch;
  auto out = std::make_shared<SeenPicture>();
  out->pyramid = std::make_shared<const Pyramid>(pyramid_of(picture, options));
  try {
    out->seen = looker->see(picture);
  } catch (const Error& problem) {
    if (problem.code() == ErrorCode::bad_argument || problem.code() == ErrorCode::not_found) throw;
    out->problem = problem.what();  // questions get even detail and say so
  }
  out->picture = std::move(picture);
  out->looker = std::move(looker);
  out->milliseconds = watch.lap();
  return out;
}

struct Asker::State {
  std::shared_ptr<const Bundle> bundle;
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Looker> network;   // the bundle's, with a memory unless that is off
  std::shared_ptr<const Looker> coupling;  // who stands in for it; null: nobody

  struct KnownLooker {
    LookOptions options;
    bool need;
    std::shared_ptr<const Looker> looker;
  };
  struct KnownPicture {
    std::array<uint8_t, 32> digest;
    int canvas, least_side, most_side;
    int finest;
    std::shared_ptr<const SeenPicture> seen;
  };
  std::mutex mutex;
  std::list<KnownLooker> lookers;    // latest first
  std::list<KnownPicture> pictures;  // latest first
};

Asker::Asker(std::shared_ptr<const Bundle> bundle, std::shared_ptr<const Model> model,
             std::shared_ptr<const Looker> network, int64_t page_bytes)
    : state_(std::make_unique<State>()) {
  if (bundle)
    state_->network = page_bytes > 0 ? remembering(bundle->looker, page_bytes) : bundle->looker;
  state_->model = model ? std::move(model) : bundle ? bundle->model : nullptr;
  state_->bundle = std::move(bundle);
  state_->coupling = std::move(network);
}
Asker::~Asker() = default;

const std::shared_ptr<const Bundle>& Asker::bundle() const { return state_->bundle; }
const std::shared_ptr<const Model>& Asker::model() const { return state_->model; }

AskOptions Asker::fitted(AskOptions options) const {
  const Model* model = state_->model.get();
  if (model && model->capabilities().takes != TokenKind::patches)
    options.least_side = options.most_side = 0;
  if (!state_->bundle) return options;
  if (!options.allocate.experts) options.allocate.experts = state_->bundle->experts;
  if (!options.look.balance.learned) options.look.balance.learned = state_->bundle->balancer;
  return options;
}

std::shared_ptr<const Looker> Asker::looker(const AskOptions& given) const {
  const LookOptions options = fitted(given).look;
  const bool by_network = options.coupling == kNetwork && !state_->coupling;
  const std::string& rule = given.own_budget.empty() ? given.budget : given.own_budget;
  const bool need = !by_network && state_->network && is_auto(rule);
  const std::scoped_lock lock(state_->mutex);
  for (const auto& known : state_->lookers)
    if (known.options == options && known.need == need) return known.looker;
  auto made = make_looker(options, state_->coupling ? state_->coupling : state_->network);
  if (need) made = with_need_of(std::move(made), state_->network);
  state_->lookers.push_front({options, need, made});
  if (state_->lookers.size() > kLookers) state_->lookers.pop_back();
  return made;
}

std::shared_ptr<const SeenPicture> Asker::see(const Picture& picture,
                                              const AskOptions& given) const {
  const AskOptions options = fitted(given);
  const auto looker = this->looker(options);
  const bool closer = options.passes.passes > 1 && options.passes.enlarge;
  const int finest = options.enlarge || closer ? kFinestEver : 0;
  {
    const std::scoped_lock lock(state_->mutex);
    auto& known = state_->pictures;
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) {
      return one.digest == picture.digest && one.canvas == options.canvas &&
             one.least_side == options.least_side && one.most_side == options.most_side &&
             one.finest == finest && one.seen->looker == looker;
    });
    if (found != known.end()) {
      known.splice(known.begin(), known, found);
      return found->seen;
    }
  }
  auto seen = arrcoc::see(picture, looker, options);
  const Geometry& g = seen->pyramid->geometry();
  if (static_cast<int64_t>(g.width) * g.height > kLargestKept) return seen;
  const std::scoped_lock lock(state_->mutex);
  state_->pictures.push_front(
      {picture.digest, options.canvas, options.least_side, options.most_side, finest, seen});
  if (state_->pictures.size() > kPictures) state_->pictures.pop_back();
  return seen;
}

Answer Asker::ask(const Picture& picture, const std::string& question,
                  const AskOptions& options) const {
  return ask(std::vector<Picture>{picture}, question, options);
}

Answer Asker::ask(const std::vector<Picture>& pictures, const std::string& question,
                  const AskOptions& given) const {
  parse_query(question);  // refuses a bad question before anything is looked at
  const AskOptions options = fitted(given);
  Stopwatch watch;
  std::vector<std::shared_ptr<const SeenPicture>> seen;
  for (const Picture& picture : pictures) seen.push_back(see(picture, options));
  const double seeing = watch.lap();
  std::vector<Asking> one;
  one.emplace_back(std::move(seen), state_->model, question, options);
  one.front().spent("seeing", seeing);
  read_all(*state_->model, one);
  return one.front().finish();
}

std::vector<Answer> Asker::ask(const Picture& picture, const std::vector<Inquiry>& inquiries,
                               const AskOptions& given) const {
  if (inquiries.empty()) return {};
  AskOptions options = fitted(given);
  Stopwatch watch;
  std::vector<Query> queries;
  for (const Inquiry& inquiry : inquiries) queries.push_back(parse_query(inquiry.question));
  const auto seen = see(picture, options);
  const double share = 1.0 / static_cast<double>(inquiries.size());
  const double seeing = watch.lap() * share;
  std::vector<Look> looks;
  if (seen->seen) looks = seen->looker->look(*seen->seen, queries, {.gaze = options.gaze});
  const double looking = watch.lap() * share;
  std::vector<Asking> questions;
  for (size_t i = 0; i < inquiries.size(); ++i) {
    options.allocate.evidence = inquiries[i].evidence;
    std::vector<Look> known;
    if (!looks.empty()) known.push_back(std::move(looks[i]));
    Asking& asking = questions.emplace_back(std::vector{seen}, state_->model, inquiries[i].question,
                                            options, std::move(known));
    asking.spent("seeing", seeing);
    asking.spent("looking", looking);
  }
  read_all(*state_->model, questions);
  std::vector<Answer> out;
  for (Asking& asking : questions) out.push_back(asking.finish());
  return out;
}

Answer Asker::look(const Picture& picture, const std::string& question,
                   const AskOptions& given) const {
  parse_query(question);
  const AskOptions options = fitted(given);
  Stopwatch watch;
  auto seen = see(picture, options);
  Asking asking({std::move(seen)}, nullptr, question, options);
  asking.spent("seeing", watch.lap());
  asking.next();
  return asking.finish();
}

}  // namespace arrcoc
