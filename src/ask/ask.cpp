// The road: look, allocate, cut, read, again?
#include "arrcoc/ask.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "ask/passes.h"
#include "ask/road.h"
#include "base/stopwatch.h"

namespace arrcoc {

using asking::Road;

struct Asking::State : Road {
  using Road::Road;
};

Asking::Asking(std::vector<std::shared_ptr<const SeenPicture>> pictures,
               std::shared_ptr<const Model> model, const std::string& question, AskOptions options,
               std::vector<Look> looks)
    : state_(std::make_unique<State>(std::move(pictures), std::move(model), question,
                                     std::move(options), std::move(looks))) {}
Asking::Asking(Asking&&) noexcept = default;
Asking::~Asking() = default;

std::vector<Reading> Asking::next() {
  Road& road = *state_;
  if (road.stop != Stop::open) return {};
  Stopwatch watch;
  if (!road.looked()) {
    road.look();
    road.spent("looking", watch.lap());
  }
  const bool worth_it = road.allocate();
  road.spent("allocating", watch.lap());
  if (!worth_it) return {};
  std::vector<Reading> readings = road.cut();
  road.spent("cutting", watch.lap());
  return readings;
}

void Asking::hear(std::vector<Reply> replies) {
  state_->take(std::move(replies));
  state_->decide();
}

void Asking::stop() {
  if (state_->stop == Stop::open) state_->stop = Stop::passes;
}

void Asking::spent(const std::string& stage, double milliseconds) {
  state_->spent(stage, milliseconds);
}

Answer Asking::finish() { return state_->finish(); }

namespace {

// Replies in the order of their readings.
class Collected : public Sink {
 public:
  explicit Collected(size_t count) : replies(count) {}
  bool text(size_t, std::string_view) override { return true; }
  void done(size_t i, Reply reply) override { replies[i] = std::move(reply); }
  std::vector<Reply> replies;
};

}  // namespace

std::vector<int64_t> Model::tokenize(std::string_view, bool) const {
  throw Error(ErrorCode::unsupported, name() + " has no tokenizer here");
}

Reply read_one(const Model& model, const Reading& reading) {
  Collected collected(1);
  model.read({&reading, 1}, collected);
  return std::move(collected.replies.front());
}

void read_all(const Model& model, std::vector<Asking>& questions) {
  for (;;) {
    std::vector<Reading> readings;
    std::vector<std::pair<Asking*, size_t>> open;  // and how many readings are its own
    for (Asking& question : questions) {
      std::vector<Reading> own = question.next();
      if (own.empty()) continue;
      open.emplace_back(&question, own.size());
      std::move(own.begin(), own.end(), std::back_inserter(readings));
    }
    if (open.empty()) return;
    Collected collected(readings.size());
    Stopwatch watch;
    model.read(readings, collected);
    const double each = watch.lap() / static_cast<double>(readings.size());
    auto reply = collected.replies.begin();
    for (const auto& [question, count] : open) {
      question->spent("reading", each * static_cast<double>(count));
      const auto last = reply + static_cast<std::ptrdiff_t>(count);
      question->hear({std::make_move_iterator(reply), std::make_move_iterator(last)});
      reply = last;
    }
  }
}

double Answer::milliseconds() const {
  double sum = 0;
  for (const Stage& stage : stages) sum += stage.milliseconds;
  return sum;
}

}  // namespace arrcoc
