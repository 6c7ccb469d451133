#include "lab/fit/balance_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "arrcoc/error.h"
#include "lab/train/dice.h"
#include "look/balance/balancers.h"

namespace arrcoc::fitting {
namespace {

using measuring::Case;
using measuring::Group;
using N = BalanceNet;
using training::Dice;

constexpr int kKeptBack = 4;            // every so manieth picture
constexpr int kEach = 3;                // questions of a picture
constexpr int kMostPictures = 1000000;  // of one source: groups are numbered over all of them

// One question that was kept back.
struct Kept {
  std::shared_ptr<const SeenPicture> seen;
  Look look;
  measuring::Item item;
  Query query;
  std::string kind;
  int group = 0;
};

struct Graded {
  double right = 0, score = 0, reward = 0;
};

class Collector {
 public:
  Collector(const BalanceFitOptions& options, const Bundle& bundle)
      : options_(options), model_(bundle.model), ask_(policy("balanced")) {
    ask_.allocate.experts = bundle.experts;
    LookOptions look;
    look.every_map = true;
    look.balance.void_variance = 0;
    looker_ = make_looker(look, bundle.looker);
  }

  void take(const BalanceSource& source, int number, const std::function<void()>& done) {
    int asked = 0, pictures = 0;
    while (asked < options_.questions) {
      std::optional<Group> group = source.groups();
      if (!group) break;
      std::erase_if(group->cases, [](const Case& one) { return !one.item.answer; });
      if (group->cases.empty() || !group->frames.empty()) continue;
      const size_t most = std::min<size_t>(kEach, options_.questions - asked);
      if (group->cases.size() > most) group->cases.resize(most);
      const bool kept = pictures++ % kKeptBack == kKeptBack - 1;
      take(*group, source.name, kMostPictures * number + pictures, kept);
      asked += static_cast<int>(group->cases.size());
      for (size_t i = 0; done && i < group->cases.size(); ++i) done();
    }
  }

  // Answers of all of them under the same looks, graded.
  std::vector<Graded> answers(const std::vector<Kept>& questions,
                              const std::function<Relevance(const Kept&)>& balance) const {
    std::vector<Graded> out;
    constexpr size_t kTogether = 16;
    for (size_t i = 0; i < questions.size(); i += kTogether) {
      std::vector<Asking> asking;
      const size_t end = std::min(questions.size(), i + kTogether);
      for (size_t k = i; k < end; ++k) asking.push_back(asked(questions[k], balance(questions[k])));
      read_all(*model_, asking);
      for (size_t k = i; k < end; ++k)
        out.push_back(graded(questions[k].item, asking[k - i].finish()));
    }
    return out;
  }

  std::vector<BalanceTrial> trials;
  std::vector<Kept> kept;

 private:
  void take(const Group& group, const std::string& set, int number, bool keep) {
    const auto seen = arrcoc::see(group.picture, looker_, ask_);
    if (!seen->seen) return;
    std::vector<Query> queries;
    for (const Case& one : group.cases) queries.push_back(parse_query(one.item.question));
    std::vector<Look> looks = looker_->look(*seen->seen, queries);
    for (size_t i = 0; i < looks.size(); ++i) {
      Kept one{seen,
               std::move(looks[i]),
               group.cases[i].item,
               queries[i],
               set.empty() ? "generated " + group.suite : set,
               number};
      if (keep)
        kept.push_back(std::move(one));
      else
        trials.push_back(drawn(one));
    }
  }

  BalanceTrial drawn(const Kept& one) {
    BalanceTrial out{balancing::balance_features(one.look.knowledge, one.query), {}};
    Dice dice(options_.seed, 31, trials.size());
    std::vector<Asking> asking;
    for (int d = 0; d < options_.draws; ++d) {
      N::Outputs z{};
      for (float& v : z) v = d == 0 ? 0 : static_cast<float>(options_.spread) * normal(dice);
      out.drawn.emplace_back(z, 0);
      asking.push_back(asked(one, balancing::shaped(one.look.knowledge, balancing::stance(z))));
    }
    read_all(*model_, asking);
    for (size_t d = 0; d < asking.size(); ++d)
      out.drawn[d].second = graded(one.item, asking[d].finish()).reward;
    return out;
  }

  Asking asked(const Kept& one, Relevance relevance) const {
    Look look = one.look;
    look.relevance = std::move(relevance);
    std::vector<Look> looks;
    looks.push_back(std::move(look));
    return {{one.seen}, model_, one.item.question, ask_, std::move(looks)};
  }

  static Graded graded(const measuring::Item& item, const Answer& answer) {
    Graded out;
    double similar = 0;
    for (const std::string& right : measuring::right_answers(item)) {
      out.right = std::max(out.right, measuring::exact_match(answer.text, right) ? 1.0 : 0.0);
      similar = std::max(similar, measuring::anls(answer.text, right));
    }
    out.score = measuring::score(item, answer.text);
    out.reward = reward_of(std::max(out.score, similar), answer.likelihood);
    return out;
  }

  BalanceFitOptions options_;
  std::shared_ptr<const Model> model_;
  AskOptions ask_;
  std::shared_ptr<const Looker> looker_;
};

BalanceRow compared(const std::string& what, const std::vector<Graded>& got,
                    const std::vector<Graded>& alone, const std::vector<Kept>& kept) {
  BalanceRow row;
  row.what = what;
  row.questions = static_cast<int>(got.size());
  std::vector<double> right, reward;
  std::vector<int> groups;
  for (size_t i = 0; i < got.size(); ++i) {
    row.right += got[i].right / row.questions;
    row.score += got[i].score / row.questions;
    row.reward += got[i].reward / row.questions;
    right.push_back(100 * (got[i].right - alone[i].right));
    reward.push_back(got[i].reward - alone[i].reward);
    groups.push_back(kept[i].group);
  }
  row.points = measuring::bootstrap(right, groups);
  row.gain = measuring::bootstrap(reward, groups);
  return row;
}

std::vector<BalanceKind> kinds_of(const std::vector<Kept>& kept, const N& net) {
  std::map<std::string, std::pair<std::array<std::vector<double>, N::kOutputs>, std::vector<int>>>
      all;
  for (const Kept& one : kept) {
    const auto at = balancing::stance(
        balancing::run(net, balancing::balance_features(one.look.knowledge, one.query)));
    const std::array<float, N::kOutputs> values{at.weights.information, at.weights.salience,
                                                at.weights.coupling,    at.tensions.compress,
                                                at.tensions.exploit,    at.tensions.focus};
    auto& [lists, groups] = all[one.kind];
    for (size_t i = 0; i < values.size(); ++i) lists[i].push_back(static_cast<double>(values[i]));
    groups.push_back(one.group);
  }
  std::vector<BalanceKind> out;
  for (const auto& [kind, of] : all) {
    BalanceKind& row = out.emplace_back();
    row.kind = kind;
    row.questions = static_cast<int>(of.second.size());
    for (size_t i = 0; i < row.mean.size(); ++i)
      row.mean[i] = measuring::bootstrap(of.first[i], of.second);
  }
  return out;
}

class Table {
 public:
  Table(const Collector& from, BalanceReport& report) : from_(from), report_(report) {
    alone_ = from.answers(from.kept, [](const Kept& one) {
      return balancing::balance(one.look.knowledge, one.query, "fixed",
                                {.preset = "query", .void_variance = 0});
    });
    report.rows.push_back(compared("coupling alone (fixed)", alone_, alone_, from.kept));
  }
  void add(const std::string& what, const std::string& balancer, const BalanceOptions& options) {
    add(what, [&](const Kept& one) {
      return balancing::balance(one.look.knowledge, one.query, balancer, options);
    });
  }
  void add(const std::string& what, const N& net, const std::string& without = "") {
    const auto balancer = balancing::make_outcome(without);
    dynamic_cast<NetBalancer&>(*balancer).use(std::make_shared<const N>(net));
    add(what,
        [&](const Kept& one) { return balancer->balance(one.look.knowledge, one.query, {}); });
  }

 private:
  void add(const std::string& what, const std::function<Relevance(const Kept&)>& balance) {
    report_.rows.push_back(compared(what, from_.answers(from_.kept, balance), alone_, from_.kept));
  }
  const Collector& from_;
  BalanceReport& report_;
  std::vector<Graded> alone_;
};

}  // namespace

float normal(Dice& dice) {
  const float u = std::max(1e-7F, dice.uniform());
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * static_cast<float>(M_PI) * dice.uniform());
}

double reward_of(double score, double likelihood) {
  return score * (0.5 + 0.5 * likelihood) - (1 - score) * 0.5 * likelihood;
}

BalanceReport fit_balance(const BalanceFitOptions& options, const Bundle& bundle,
                          const std::vector<BalanceSource>& sources,
                          const std::function<void()>& done) {
  Collector all(options, bundle);
  for (size_t i = 0; i < sources.size(); ++i) all.take(sources[i], static_cast<int>(i), done);
  if (all.trials.size() < 8 || all.kept.empty())
    throw Error(ErrorCode::bad_argument, "balance: too few questions with known answers");
  BalanceReport report;
  report.net = fit_net(all.trials, options);
  report.fitted_on = static_cast<int>(all.trials.size());
  const auto expected = [&](const N& net) {
    return expected_reward(all.trials, net, options.spread);
  };
  BalanceFitOptions untrained = options;
  untrained.steps = 0;
  report.expected_before = expected(fit_net(all.trials, untrained));
  report.expected_after = expected(report.net);
  report.kinds = kinds_of(all.kept, report.net);
  Table table(all, report);
  table.add("a third each (fixed)", "fixed", {.preset = "thirds"});
  table.add("fixed, three tensions", "opponent", {});
  table.add("adaptive, by rule", "adaptive", {});
  table.add("learned on coverage", "learned", {.learned = bundle.balancer});
  table.add("outcome", report.net);
  for (const char* part : balancing::kParts)
    table.add(std::string("outcome without ") + part, report.net, part);
  table.add("outcome, one for all", fit_net(all.trials, options, {false, false}));
  table.add("outcome, by the question", fit_net(all.trials, options, {true, false}));
  table.add("outcome, by the maps", fit_net(all.trials, options, {false, true}));
  return report;
}

}  // namespace arrcoc::fitting
