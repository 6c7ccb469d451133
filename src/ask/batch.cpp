#include "ask/batch.h"

#include <ATen/ATen.h>

#include <chrono>
#include <numeric>

#include "arrcoc/error.h"
#include "ask/cuttings.h"
#include "ask/plan.h"
#include "models/tiny/reducer.h"

namespace arrcoc::answering {

double now_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

namespace {

constexpr int64_t kTokensTogether = 2048;  // tokens of one batch, after padding

Box scaled(const Box& b, double sx, double sy) {
  return Box{static_cast<float>(b.x0 * sx), static_cast<float>(b.y0 * sy),
             static_cast<float>(b.x1 * sx), static_cast<float>(b.y1 * sy)};
}

// One batch on its way through the stages.
class Batch {
 public:
  Batch(const tiny::TinyModel& model, const Calibration& calibration, const Picture& picture,
        const PageView& page, const std::vector<Inquiry>& inquiries, const AskOptions& options)
      : model_(model),
        calibration_(calibration),
        picture_(picture),
        page_(page),
        inquiries_(inquiries),
        options_(options),
        source_(source_of(options.policy)),
        replies_(inquiries.size()),
        seen_(inquiries.size()) {
    for (size_t i = 0; i < inquiries.size(); ++i)
      replies_[i].query = parse_query(inquiries[i].question);
  }

  std::vector<Reply> run(double begun) {
    last_ = begun;
    lap("opening");
    if (learned_budget() || source_ == Source::network) look();
    if (options_.policy == "passes") {
      pass();
      return std::move(replies_);
    }
    for (size_t i = 0; i < replies_.size(); ++i) attend(i);
    answer();
    return std::move(replies_);
  }

 private:
  // The rule that decides how many tokens: the policy's own, or what was asked for.
  std::string rule() const {
    const std::string own = own_budget(options_.policy);
    return own.empty() ? options_.look.budget : own;
  }
  bool learned_budget() const {
    const std::string b = rule();
    return source_ != Source::native && auto_range(b);
  }

  // The time since the last lap, shared evenly.
  void lap(const char* name) {
    const double now = now_ms();
    for (Reply& reply : replies_) add(reply, name, (now - last_) / replies_.size());
    last_ = now;
  }
  static void add(Reply& reply, const char* name, double milliseconds) {
    for (Stage& stage : reply.stages)
      if (stage.name == name) {
        stage.milliseconds += milliseconds;
        return;
      }
    reply.stages.push_back({name, milliseconds});
  }

  // Asks the network about the questions whose opinion is not known yet.
  void look() {
    std::vector<size_t> open;
    std::vector<std::string> questions;
    for (size_t i = 0; i < replies_.size(); ++i) {
      replies_[i].opinion = inquiries_[i].opinion;
      if (replies_[i].opinion) continue;
      open.push_back(i);
      questions.push_back(replies_[i].query.text);
    }
    if (open.empty()) return;
    const auto channels = channel_set(options_.look.channels) == ChannelSet::colour
                              ? tiny::PageChannels::colour
                              : tiny::PageChannels::texture;
    if (model_.read(picture_, page_.frame, channels)) lap("page");
    std::vector<tiny::Opinion> opinions = model_.look(picture_, page_.frame, questions, channels);
    for (size_t k = 0; k < open.size(); ++k)
      replies_[open[k]].opinion = std::make_shared<tiny::Opinion>(std::move(opinions[k]));
    lap("looking");
  }

  Budget budget(size_t i, const Relevance& relevance) const {
    if (learned_budget())
      return auto_budget(calibration_, *replies_[i].opinion, replies_[i].query,
                         *auto_range(rule()));
    return allocating::budget(relevance, replies_[i].query, rule());
  }

  void attend(size_t i) {
    Seen& seen = seen_[i];
    const Pyramid& pyramid = *page_.pyramid;
    const Geometry& g = pyramid.geometry();
    const double sx = static_cast<double>(g.width) / picture_.width();
    const double sy = static_cast<double>(g.height) / picture_.height();
    AllocateOptions allocate = options_.look.allocate;
    allocate.evidence.clear();
    switch (source_) {
      case Source::native:
        seen = take_all(pyramid);
        break;
      case Source::resize:
        seen = shrink_to(pyramid, budget(i, flat()));
        break;
      case Source::slices:
        seen = take_slices(pyramid, budget(i, flat()));
        break;
      case Source::reducer: {
        const Budget left = budget(i, flat());
        seen = take_all(pyramid);
        seen.allocation.allocator = options_.policy;
        seen.allocation.budget = left;
        break;
      }
      case Source::queries:  // the same for every question
        if (i == 0) {
          model_.need_queries();
          seen = take_all(pyramid);
          seen.allocation.allocator = options_.policy;
          seen.allocation.budget = budget(i, flat());
        } else {
          seen.allocation = seen_[0].allocation;
        }
        return;
      case Source::pipeline: {
        Options look = options_.look;
        look.allocate = allocate;
        if (learned_budget()) look.budget = std::to_string(budget(i, {}).tokens);
        Realization r = realize(picture_, pyramid, replies_[i].query.text, look);
        seen = {std::move(r.relevance), std::move(r.allocation), std::move(r.tokens),
                std::move(r.fallbacks)};
        break;
      }
      case Source::evidence:
        for (const Box& box : inquiries_[i].evidence)
          allocate.evidence.push_back(scaled(box, sx, sy));
        spread(i, flat(), allocate);
        seen.relevance = {};
        break;
      case Source::nothing:
        spread(i, flat(), allocate);
        seen.relevance = {};
        break;
      case Source::network:
        spread(i, network_map(i), allocate);
        break;
    }
    if (seen.tokens.size() == 0)
      throw Error(ErrorCode::unsupported, "the bundled model reads leaves, allocator '" +
                                              options_.look.allocator + "' gives none");
  }

  // What the network made of question i, in pixels of the pyramid.
  Relevance network_map(size_t i) const {
    const Geometry& g = page_.pyramid->geometry();
    Relevance out = relevance_of(*replies_[i].opinion);
    out.map.cell_width *= static_cast<float>(g.width) / static_cast<float>(picture_.width());
    out.map.cell_height *= static_cast<float>(g.height) / static_cast<float>(picture_.height());
    return out;
  }

  // A map without any relevance, for rules that ask for one.
  Relevance flat() const {
    const Geometry& g = page_.pyramid->geometry();
    Relevance out;
    out.map = {1, 1, static_cast<float>(g.width), static_cast<float>(g.height), {0.0F}};
    return out;
  }

  void spread(size_t i, const Relevance& relevance, const AllocateOptions& allocate) {
    Seen& seen = seen_[i];
    const Geometry& g = page_.pyramid->geometry();
    const Budget tokens = budget(i, relevance);
    seen.allocation = allocating::allocate(relevance, g, tokens, options_.look.allocator, allocate);
    lap("attending");
    seen.tokens = cutting::realize(*page_.pyramid, seen.allocation);
    lap("realizing");
    seen.relevance = relevance;
    seen.fallbacks = seen.allocation.fallbacks;
  }

  // Reads the tokens of some questions together and hands each answer over.
  template <class Take>
  void read(const std::vector<size_t>& which, const Take& take) {
    std::vector<int64_t> lengths;
    const bool queries = source_ == Source::queries;
    for (size_t i : which) lengths.push_back(queries ? tiny::kQueries : seen_[i].tokens.size());
    lap("realizing");
    const std::unique_ptr<Reducer> reducer =
        source_ == Source::reducer ? registry<Reducer>().make(options_.policy) : nullptr;
    for (std::vector<size_t>& group : cutting::bucket(lengths, kTokensTogether)) {
      std::vector<tiny::Reading> readings;
      for (size_t& i : group) {
        i = which[i];
        readings.push_back({&seen_[queries ? 0 : i].tokens, page_.pyramid->geometry(),
                            replies_[i].query.text, reducer.get(),
                            seen_[i].allocation.budget.tokens, queries});
      }
      std::vector<tiny::Answer> answers = model_.answer(readings);
      for (size_t k = 0; k < group.size(); ++k) take(group[k], answers[k]);
      const double now = now_ms();
      for (size_t i : group)
        add(replies_[i], "answering", (now - last_) / static_cast<double>(group.size()));
      last_ = now;
    }
  }

  void answer() {
    std::vector<size_t> all(replies_.size());
    std::iota(all.begin(), all.end(), 0);
    read(all, [this](size_t i, const tiny::Answer& answer) { finish(i, answer); });
  }

  // Looks again while unsure; questions that go on are read together.
  void pass() {
    esper::Options settings;
    settings.look = options_.look;
    settings.rules = options_.rules;
    settings.total_budget = options_.total_budget;
    settings.seed = options_.look.allocate.seed;
    settings.gaze = options_.gaze;
    settings.confident = options_.confident;
    settings.learned = options_.learned;
    settings.confidence = [this](const esper::Pass& pass) {
      return calibrated(calibration_, esper::likelihood(pass.probabilities));
    };
    Geometry geometry = page_.pyramid->geometry();
    geometry.finest = options_.look.enlarge ? kFinestEver : 0;
    std::vector<esper::Loop> loops;
    std::vector<std::vector<tiny::Answer>> answers(replies_.size());
    std::vector<esper::Cuttings> cuttings(replies_.size(), esper::Cuttings(*page_.pyramid));
    for (size_t i = 0; i < replies_.size(); ++i) {
      const Relevance relevance = network_map(i);
      loops.emplace_back(relevance, Map{}, geometry, budget(i, relevance), settings);
    }
    for (;;) {
      std::vector<size_t> open;
      std::vector<int> reused(replies_.size(), 0);
      for (size_t i = 0; i < loops.size(); ++i) {
        const auto where = loops[i].next();
        if (!where) continue;
        lap("attending");
        open.push_back(i);
        seen_[i].tokens = cuttings[i].cut(*where, reused[i]);
        lap("realizing");
      }
      if (open.empty()) break;
      read(open, [&](size_t i, const tiny::Answer& answer) {
        loops[i].hear({answer.text, answer.probabilities, answer.focus, {}}, reused[i]);
        answers[i].push_back(answer);
      });
    }
    for (size_t i = 0; i < loops.size(); ++i) {
      auto history = std::make_shared<esper::Result>(loops[i].finish());
      history->query = replies_[i].query;
      seen_[i].allocation = history->answer().allocation;
      seen_[i].fallbacks = seen_[i].allocation.fallbacks;
      seen_[i].relevance = network_map(i);
      finish(i, answers[i][history->best]);
      replies_[i].tokens = history->tokens;
      replies_[i].passes = std::move(history);
    }
  }

  void finish(size_t i, const tiny::Answer& answer) {
    Reply& reply = replies_[i];
    Seen& seen = seen_[i];
    if (source_ == Source::reducer) {  // a merged token stands where it began
      std::vector<Leaf> left;
      for (int64_t k : answer.kept) left.push_back(seen.allocation.leaves[static_cast<size_t>(k)]);
      seen.allocation.leaves = std::move(left);
    }
    if (source_ == Source::queries) seen.allocation.leaves.clear();  // a query lies nowhere
    reply.answer = answer.text;
    reply.probabilities = answer.probabilities;
    reply.likelihood = answer.confidence;
    reply.confidence = calibrated(calibration_, reply.likelihood);
    reply.unsure = reply.confidence < options_.threshold.value_or(calibration_.threshold);
    if (!answer.text.empty() && answer.text != "none" && source_ != Source::queries)
      reply.box = answer_box(seen.allocation, answer.focus);
    const Geometry& g = seen.allocation.geometry;
    if (reply.box)
      reply.box = scaled(*reply.box, static_cast<double>(picture_.width()) / g.width,
                         static_cast<double>(picture_.height()) / g.height);
    reply.tokens = source_ == Source::queries ? tiny::kQueries : seen.allocation.tokens();
    reply.native_tokens = page_.pyramid->geometry().native_tokens();
    reply.fallbacks = std::move(seen.fallbacks);
    if (answer.shortened) reply.fallbacks.emplace_back(kShortened);
    reply.relevance = std::move(seen.relevance);
    reply.allocation = std::move(seen.allocation);
  }

  const tiny::TinyModel& model_;
  const Calibration& calibration_;
  const Picture& picture_;
  const PageView& page_;
  const std::vector<Inquiry>& inquiries_;
  const AskOptions& options_;
  Source source_;
  std::vector<Reply> replies_;
  std::vector<Seen> seen_;
  double last_ = 0;
};

}  // namespace

std::vector<Reply> run_batch(const tiny::TinyModel& model, const Calibration& calibration,
                             const Picture& picture, const PageView& page,
                             const std::vector<Inquiry>& inquiries, const AskOptions& options,
                             double begun) {
  return Batch(model, calibration, picture, page, inquiries, options).run(begun);
}

}  // namespace arrcoc::answering
