#include "lab/fit/policies_fit.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "allocate/experts.h"
#include "arrcoc/error.h"
#include "base/json.h"
#include "lab/measure/evaluation.h"
#include "lab/measure/measure.h"
#include "lab/scenes/scenes.h"
#include "lab/train/dice.h"
#include "look/balance/policy.h"

namespace arrcoc::fitting {
namespace {

using at::Tensor;
using training::Dice;

constexpr std::array<const char*, 4> kKinds = {"documents", "charts", "objects", "scenes"};
static_assert(kKinds.size() == allocating::kExperts.size());  // text, chart, sparse, mixed
constexpr int kQuestionsEach = 4;                             // of a picture
constexpr int kBudgets[] = {100, 180};
constexpr int kFeatures = BalancePolicy::kFeatures;

// One question: what the scorers said and where its boxes are.
struct Case {
  Knowledge knowledge;
  Query query;
  std::vector<Box> boxes;
  Geometry geometry;
  size_t kind = 0, coupling = 0;
  bool held_out = false;
};

using Lookers = std::vector<std::shared_ptr<const Looker>>;

// One looker a coupling, with all three maps.
Lookers lookers_of(const std::vector<std::string>& couplings,
                   const std::shared_ptr<const Looker>& network) {
  Lookers out;
  for (const std::string& coupling : couplings) {
    LookOptions options;
    options.coupling = coupling == "realizer" ? kNetwork : coupling;
    options.every_map = true;
    out.push_back(make_looker(options, network));
  }
  return out;
}

void look(const scenes::Scene& scene, size_t kind, bool held_out, const Lookers& lookers,
          std::vector<Case>& cases) {
  const Picture picture = measuring::picture_of(scene.images[0], scene.layout);
  std::vector<Case> base;
  std::vector<Query> queries;
  for (const scenes::Question& question : scene.questions) {
    if (question.answer_boxes.empty() || question.picture != 0 || base.size() == kQuestionsEach)
      continue;
    Case& one = base.emplace_back();
    queries.push_back(one.query = parse_query(question.text));
    one.boxes = question.answer_boxes;
    one.boxes.insert(one.boxes.end(), question.evidence_boxes.begin(),
                     question.evidence_boxes.end());
    one.geometry = {picture.width(), picture.height(), 0};
    one.kind = kind;
    one.held_out = held_out;
  }
  std::vector<std::vector<Look>> looks;
  for (const auto& looker : lookers) looks.push_back(looker->look(*looker->see(picture), queries));
  for (size_t i = 0; i < base.size(); ++i)
    for (size_t c = 0; c < lookers.size(); ++c) {
      Case& one = cases.emplace_back(base[i]);
      one.coupling = c;
      one.knowledge = std::move(looks[c][i].knowledge);
    }
}

double recall(const Case& one, const Allocation& allocation) {
  double sum = 0;
  for (const Box& box : one.boxes) sum += measuring::covered(allocation, box, measuring::kFine);
  return sum / static_cast<double>(one.boxes.size());
}

// 1 in map cells that a box touches.
std::vector<float> wanted_cells(const Case& one) {
  const Map& map = one.knowledge.coupling;
  std::vector<float> out(map.size(), 0);
  for (const Box& box : one.boxes)
    for (int r = 0; r < map.rows; ++r)
      for (int c = 0; c < map.cols; ++c) {
        const float x = (c + 0.5F) * map.cell_width, y = (r + 0.5F) * map.cell_height;
        if (x > box.x0 - map.cell_width / 2 && x < box.x1 + map.cell_width / 2 &&
            y > box.y0 - map.cell_height / 2 && y < box.y1 + map.cell_height / 2)
          out[static_cast<size_t>(r) * map.cols + c] = 1;
      }
  return out;
}

// Adam on tensors with gradients; `loss` is called anew every step.
template <class Loss>
void descend(std::vector<Tensor> weights, int steps, double rate, const Loss& loss) {
  std::vector<Tensor> mean, square;
  for (Tensor& w : weights) {
    w.requires_grad_(true);
    mean.push_back(at::zeros_like(w));
    square.push_back(at::zeros_like(w));
  }
  for (int step = 1; step <= steps; ++step) {
    loss().backward();
    const at::NoGradGuard no_grad;
    const double now = rate * 0.5 * (1 + std::cos(M_PI * step / steps));
    for (size_t i = 0; i < weights.size(); ++i) {
      const Tensor g = weights[i].grad();
      mean[i].mul_(0.9).add_(g, 0.1);
      square[i].mul_(0.99).addcmul_(g, g, 0.01);
      Tensor scale = (square[i] / (1 - std::pow(0.99, step))).sqrt_().add_(1e-8);
      weights[i].detach().addcdiv_(mean[i], scale, -now / (1 - std::pow(0.9, step)));
      weights[i].mutable_grad() = Tensor();
    }
  }
  for (Tensor& w : weights) w.requires_grad_(false);
}

// Cross-entropy of a softmax over cells of the mixed map against the boxes' cells, by the weights
// of the maps. Cells are drawn, so that pictures of any size weigh alike.
BalancePolicy fit_balancer(const std::vector<Case>& cases, const PolicyOptions& options) {
  constexpr int kCells = 256;
  std::vector<float> maps, wanted, features;
  Dice dice(options.seed, 11);
  int64_t count = 0;
  for (const Case& one : cases) {
    if (one.held_out) continue;
    const std::vector<float> cells = wanted_cells(one);
    std::vector<int> inside, outside;
    for (size_t i = 0; i < cells.size(); ++i)
      (cells[i] > 0 ? inside : outside).push_back(static_cast<int>(i));
    if (inside.empty() || outside.empty()) continue;
    for (int k = 0; k < kCells; ++k) {
      const bool in = k < kCells / 8;
      const auto& from = in ? inside : outside;
      const int cell = from[static_cast<size_t>(dice.below(static_cast<int>(from.size())))];
      for (const Map* map :
           {&one.knowledge.information, &one.knowledge.salience, &one.knowledge.coupling})
        maps.push_back(map->values[static_cast<size_t>(cell)]);
      wanted.push_back(in ? 8.0F / kCells : 0.0F);
    }
    const auto f = balancing::describe(one.knowledge, one.query);
    features.insert(features.end(), f.begin(), f.end());
    ++count;
  }
  if (count == 0) throw Error(ErrorCode::bad_argument, "policies: no question to fit on");
  const Tensor m = at::tensor(maps).view({count, kCells, 3});
  const Tensor t = at::tensor(wanted).view({count, kCells});
  const Tensor f = at::tensor(features).view({count, kFeatures});
  Tensor rows = at::zeros({3, kFeatures}), bias = at::zeros({3});
  Tensor sharp = at::full({1}, 2.0);
  descend({rows, bias, sharp}, options.steps, 0.05, [&] {
    const Tensor w = at::softmax(at::linear(f, rows, bias), 1);
    const Tensor mixed = at::matmul(m, w.unsqueeze(2)).squeeze(2);
    return -(at::log_softmax(mixed * sharp.exp(), 1) * t).sum(1).mean() +
           1e-3 * rows.square().sum();
  });
  BalancePolicy out;
  for (int o = 0; o < 3; ++o) {
    out.bias[o] = bias[o].item<float>();
    for (int i = 0; i < kFeatures; ++i) out.rows[o][i] = rows[o][i].item<float>();
  }
  return out;
}

// learned: of balancer "learned" alone.
Relevance balanced(const Case& one, const std::string& balancer, const std::string& preset,
                   const std::shared_ptr<const BalancePolicy>& learned = nullptr) {
  BalanceOptions options;
  options.preset = preset;
  options.learned = learned;
  return balancing::balance(one.knowledge, one.query, balancer, options);
}

// Sum of recalls of an expert over the pictures of one kind that it may be fitted on.
double recall_of(const allocating::Expert& expert, size_t kind, const std::vector<Case>& cases,
                 const std::vector<Relevance>& maps) {
  double sum = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].held_out || cases[i].kind != kind) continue;
    for (int tokens : kBudgets)
      sum += recall(cases[i], allocating::allocate_by(expert, maps[i], cases[i].geometry,
                                                      {tokens, "", ""}, {}));
  }
  return sum;
}

// The gate learns to tell the kinds of pictures by their maps.
void fit_gate(const std::vector<Case>& cases, const std::vector<Relevance>& maps,
              const PolicyOptions& options, Experts& out) {
  std::vector<float> features;
  std::vector<int64_t> kinds;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].held_out) continue;
    const auto f = allocating::gate_features(maps[i].map);
    features.insert(features.end(), f.begin(), f.end());
    kinds.push_back(static_cast<int64_t>(cases[i].kind));
  }
  const int64_t n = static_cast<int64_t>(kinds.size()), d = allocating::kGateFeatures;
  const Tensor f = at::tensor(features).view({n, d}), t = at::tensor(kinds, at::kLong);
  Tensor rows = at::zeros({static_cast<int64_t>(kKinds.size()), d});
  Tensor bias = at::zeros({static_cast<int64_t>(kKinds.size())});
  descend({rows, bias}, options.steps, 0.1, [&] {
    return at::cross_entropy_loss(at::linear(f, rows, bias), t) + 1e-3 * rows.square().sum();
  });
  for (size_t e = 0; e < out.experts.size(); ++e) {
    const int64_t at = static_cast<int64_t>(e);
    out.bias[e] = bias[at].item<float>();
    for (int i = 0; i < allocating::kGateFeatures; ++i) out.rows[e][i] = rows[at][i].item<float>();
  }
}

// Each expert is the best of a grid on its own kind of pictures.
Experts fit_experts(const std::vector<Case>& cases, const std::vector<Relevance>& maps,
                    const PolicyOptions& options) {
  Experts out;
  for (size_t e = 0; e < out.experts.size(); ++e) {
    double best = -1;
    for (float power : {0.5F, 0.75F, 1.0F, 1.5F, 2.0F})
      for (float finest : {0.25F, 0.35F, 0.5F, 0.7F, 1.0F})
        for (float falloff : {0.0F, 24.0F}) {
          const allocating::Expert expert{power, finest, falloff};
          const double sum = recall_of(expert, e, cases, maps);
          if (sum > best) best = sum, out.experts[e] = expert;
        }
  }
  fit_gate(cases, maps, options, out);
  return out;
}

template <class MapOf>
PolicyRow measured(const std::vector<Case>& cases, size_t coupling, const std::string& allocator,
                   const AllocateOptions& allocate, const MapOf& map_of) {
  PolicyRow row;
  for (const Case& one : cases) {
    if (!one.held_out || one.coupling != coupling) continue;
    const Relevance relevance = map_of(one);
    const auto at = [&](int tokens) {
      return recall(one, allocating::allocate(relevance, one.geometry, {tokens, "", ""}, allocator,
                                              allocate));
    };
    row.at_100 += at(kBudgets[0]);
    row.at_180 += at(kBudgets[1]);
    ++row.questions;
  }
  const double n = std::max(1, row.questions);
  row.at_100 /= n;
  row.at_180 /= n;
  return row;
}

std::vector<Case> make_cases(const PolicyOptions& options, const Lookers& lookers,
                             const std::function<void(int, int)>& done) {
  const auto assets = scenes::Assets::load(scenes::find_assets());
  std::vector<Case> cases;
  const auto asked = [&] { return static_cast<int>(cases.size() / lookers.size()); };
  for (uint64_t i = 0; asked() < options.questions; ++i) {
    const size_t kind = i % kKinds.size();
    scenes::Options wanted;
    wanted.questions = kQuestionsEach;
    const uint64_t seed =
        training::mix(options.seed * 1000003 + i) >> 2;  // training seeds, never suites
    const bool held_out = i / kKinds.size() % 4 == 3;
    look(scenes::make(*assets, kKinds[kind], seed, wanted), kind, held_out, lookers, cases);
    if (done) done(std::min(asked(), options.questions), options.questions);
  }
  return cases;
}

// What each way of balancing and allocating covers, on questions that were held out.
std::vector<PolicyRow> rows_of(const std::vector<Case>& cases,
                               const std::vector<std::string>& couplings,
                               const std::shared_ptr<const BalancePolicy>& policy,
                               const std::shared_ptr<const Experts>& experts) {
  std::vector<PolicyRow> out;
  for (size_t c = 0; c < couplings.size(); ++c) {
    const auto add = [&](const char* what, const char* balancer, const char* preset,
                         const char* allocator = "quadtree") {
      AllocateOptions allocate;
      allocate.experts = experts;
      PolicyRow& row =
          out.emplace_back(measured(cases, c, allocator, allocate, [&](const Case& one) {
            return balanced(one, balancer, preset, policy);
          }));
      row.coupling = couplings[c];
      row.what = what;
    };
    add("additive, weights by hand", "fixed", "vervaeke");
    add("coupling alone", "fixed", "query");
    add("adaptive", "adaptive", "vervaeke");
    add("learned", "learned", "vervaeke");
    add("learned + experts", "learned", "vervaeke", "experts");
  }
  return out;
}

}  // namespace

PolicyReport fit_policies(const PolicyOptions& options, std::shared_ptr<const Looker> network,
                          const std::function<void(int, int)>& done) {
  if (options.questions < 72)
    throw Error(ErrorCode::bad_argument, "policies: at least 72 questions are needed");
  const std::vector<Case> cases = make_cases(options, lookers_of(options.couplings, network), done);
  const auto policy = std::make_shared<const BalancePolicy>(fit_balancer(cases, options));
  std::vector<Relevance> maps;
  for (const Case& one : cases) maps.push_back(balanced(one, "learned", "vervaeke", policy));
  const auto experts = std::make_shared<const Experts>(fit_experts(cases, maps, options));
  PolicyReport report;
  report.rows = rows_of(cases, options.couplings, policy, experts);
  json out{{"balancer", json::parse(to_json(*policy))},
           {"experts", json::parse(to_json(*experts))}};
  for (const PolicyRow& row : report.rows)
    out["measured"].push_back({{"coupling", row.coupling},
                               {"what", row.what},
                               {"questions", row.questions},
                               {"recall_100", row.at_100},
                               {"recall_180", row.at_180}});
  report.json = out.dump(1);
  return report;
}

}  // namespace arrcoc::fitting
