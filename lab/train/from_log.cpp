// Fine-tuning the tier head on feedback.
//
// An answer that people liked at t tokens says that the tiers up to the first of at least t are
// enough; one that they did not like says that a tier above t is needed. With p the head's softmax
// and S the tiers that agree: loss = -log sum_{k in S} p_k + anchor KL(p0 | p), whose gradient by
// the logits is p - p restricted to S and scaled to sum 1, + anchor (p - p0).
#include "lab/train/feedback.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "arrcoc/error.h"
#include "lab/measure/measure.h"
#include "models/tiny/files.h"
#include "models/tiny/page.h"
#include "models/tiny/signs.h"
#include "models/tiny/state.h"

namespace arrcoc::training {

namespace {

namespace fs = std::filesystem;
using at::Tensor;

constexpr int kHeldOut = 5;  // every fifth

struct Lesson {
  size_t example;
  std::array<float, tiny::kTiers> agrees;  // 1 or 0
};

// Only what tells tiers apart.
std::vector<Lesson> lessons_of(const std::vector<Feedback>& examples) {
  std::vector<Lesson> out;
  for (size_t i = 0; i < examples.size(); ++i) {
    const Feedback& e = examples[i];
    if (!e.good && e.tokens >= e.native) continue;
    Lesson lesson{i, {}};
    int count = 0;
    for (int k = 0; k < tiny::kTiers; ++k) {
      const bool below = k == 0 || tiny::kTierTokens[k - 1] < e.tokens;
      const bool above = tiny::kTierTokens[k] > e.tokens;
      lesson.agrees[static_cast<size_t>(k)] = (e.good ? below : above) ? 1.0F : 0.0F;
      count += e.good ? below : above;
    }
    if (count > 0 && count < tiny::kTiers) out.push_back(lesson);
  }
  return out;
}

struct Head {
  size_t weight = 0, bias = 0;  // in the realizer's tensors
};

Head head_of(const tiny::RealizerNet& net) {
  Head out;
  const auto& specs = net.layout().specs();
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name == "tier.weight") out.weight = i;
    if (specs[i].name == "tier.bias") out.bias = i;
  }
  return out;
}

// What the head gets to see, [N,F]: with the unit matrix in its place the network hands it out.
Tensor features_of(const tiny::NetworkWeights& bundle, const std::vector<Feedback>& examples,
                   const std::vector<Lesson>& lessons) {
  const tiny::RealizerNet net(bundle.shape);
  const Head head = head_of(net);
  tiny::Tensors w = bundle.realizer;
  const int64_t width = w[head.weight].size(1);
  w[head.weight] = at::eye(width);
  w[head.bias] = at::zeros({width});
  std::vector<Tensor> rows;
  for (const Lesson& lesson : lessons) {
    const Feedback& e = examples[lesson.example];
    const tiny::PageFeatures page =
        net.read(w, tiny::page_of_frame(frame_of(e.picture)), at::kFloat);
    const Tensor asked = tiny::symbols_tensor({parse_query(e.question).text});
    rows.push_back(net.judge(w, page, asked, Tensor(), 1).tier);
  }
  return at::cat(rows, 0);
}

struct Lot {
  Tensor features;  // [N,F]
  Tensor agrees;    // [N,kTiers]
};

Lot lot_of(const Tensor& features, const std::vector<Lesson>& lessons, bool held_out) {
  std::vector<int64_t> which;
  std::vector<float> agrees;
  for (size_t i = 0; i < lessons.size(); ++i) {
    if ((i % kHeldOut == kHeldOut - 1) != held_out) continue;
    which.push_back(static_cast<int64_t>(i));
    agrees.insert(agrees.end(), lessons[i].agrees.begin(), lessons[i].agrees.end());
  }
  const auto n = static_cast<int64_t>(which.size());
  return {features.index_select(0, at::tensor(which)),
          at::tensor(agrees).view({n, int64_t{tiny::kTiers}})};
}

double loss_of(const Lot& lot, const Tensor& weight, const Tensor& bias) {
  const Tensor p = at::softmax(at::linear(lot.features, weight, bias), 1);
  return -(p * lot.agrees).sum(1).clamp_min(1e-9).log().mean().item<double>();
}

double mean_tokens(const Lot& lot, const Tensor& weight, const Tensor& bias) {
  const Tensor p = at::softmax(at::linear(lot.features, weight, bias), 1);
  std::vector<float> tokens(std::begin(tiny::kTierTokens), std::end(tiny::kTierTokens));
  return at::matmul(p, at::tensor(tokens)).mean().item<double>();
}

// Adam over all examples at once.
class Adam {
 public:
  explicit Adam(const Tensor& like) : mean_(at::zeros_like(like)), square_(at::zeros_like(like)) {}
  void step(Tensor& weight, const Tensor& gradient, double rate) {
    ++steps_;
    mean_ = 0.9 * mean_ + 0.1 * gradient;
    square_ = 0.999 * square_ + 0.001 * gradient.square();
    const Tensor up = mean_ / (1 - std::pow(0.9, steps_));
    weight = weight - rate * up / ((square_ / (1 - std::pow(0.999, steps_))).sqrt() + 1e-8);
  }

 private:
  Tensor mean_, square_;
  int steps_ = 0;
};

void learn(const Lot& lot, const FeedbackOptions& options, Tensor& weight, Tensor& bias) {
  const Tensor before = at::softmax(at::linear(lot.features, weight, bias), 1);
  Adam for_weight(weight), for_bias(bias);
  const auto n = static_cast<double>(lot.features.size(0));
  for (int step = 0; step < options.steps; ++step) {
    const Tensor p = at::softmax(at::linear(lot.features, weight, bias), 1);
    const Tensor agreed = p * lot.agrees;
    const Tensor pull = p - agreed / agreed.sum(1, true).clamp_min(1e-9);
    const Tensor logits = (pull + options.anchor * (p - before)) / n;
    for_weight.step(weight, at::matmul(logits.t(), lot.features), options.rate);
    for_bias.step(bias, logits.sum(0), options.rate);
  }
}

GuardScore guard_on_suites(const std::string& folder, const FeedbackOptions& options) {
  const Asker asker(load_bundle(folder));
  GuardScore out;
  const auto next = measuring::suite_groups(options.suites, options.guard_questions);
  while (const auto group = next()) {
    for (const measuring::Record& record : measuring::measure(asker, *group, {})) {
      ++out.questions;
      out.right += record.right;
      out.mean_tokens += record.tokens;
    }
  }
  out.mean_tokens /= std::max(1, out.questions);
  return out;
}

bool is_int8(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().rfind("model-int8", 0) == 0) return true;
  return false;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A folder beside the target that is gone again unless it took the target's place.
class Draft {
 public:
  explicit Draft(const std::string& target)
      : target_(fs::weakly_canonical(target)),
        path_(target_.string() + ".new-" + std::to_string(::getpid())) {
    std::error_code failed;
    fs::create_directories(path_, failed);
    if (failed)
      throw Error(ErrorCode::io, "cannot write beside " + target + ": " + failed.message());
  }
  ~Draft() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  std::string path() const { return path_.string(); }
  // In one step: readers find the old folder or the new one. What was there is deleted.
  void take_place() {
    const bool there = fs::exists(target_);
    const unsigned how = there ? RENAME_EXCHANGE : 0U;
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), how) != 0)
      throw Error(ErrorCode::io, "cannot replace " + target_.string() + ": " +
                                     std::error_code(errno, std::generic_category()).message());
  }

 private:
  fs::path target_, path_;
};

// Weights with the new head and what belongs to them.
void write(const tiny::NetworkWeights& bundle, const FeedbackOptions& options,
           const std::string& folder) {
  if (is_int8(options.weights)) {
    tiny::save_networks_int8(folder, bundle);
  } else {
    tiny::save_networks(folder, bundle, "feedback");
  }
  const fs::path calibration = fs::path(options.weights) / "calibration.json";
  if (fs::exists(calibration)) {
    const std::string text = text_of(calibration);
    tiny::SignWeights known = tiny::sign_weights_from_json(text);
    known.calibration.weights = tiny::TinyModel::load(folder)->fingerprint();
    std::ofstream(fs::path(folder) / "calibration.json") << tiny::to_json(known) << "\n";
  }
  for (const char* name : {"policies.json", "film.json", "kinds.json", "README.md"})
    if (const fs::path from = fs::path(options.weights) / name; fs::exists(from))
      fs::copy_file(from, fs::path(folder) / name);
}

// "" when the new head may stay.
std::string objection(const FeedbackReport& r) {
  const auto number = [](double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", v);
    return std::string(text);
  };
  if (!(r.loss_after < r.loss_before))
    return "it does not explain the held-out feedback better (loss " + number(r.loss_before) +
           " before, " + number(r.loss_after) + " after)";
  if (r.guard_after.right < r.guard_before.right)
    return "the guard's answers got worse (" + std::to_string(r.guard_before.right) + " of " +
           std::to_string(r.guard_before.questions) + " right before, " +
           std::to_string(r.guard_after.right) + " after)";
  if (r.guard_after.mean_tokens > std::max(kGuardTokens, r.guard_before.mean_tokens))
    return "the guard's answers cost more (" + number(r.guard_before.mean_tokens) +
           " tokens before, " + number(r.guard_after.mean_tokens) + " after)";
  return "";
}

}  // namespace

FeedbackReport learn_from(const std::vector<Feedback>& examples, const FeedbackOptions& options) {
  at::NoGradGuard no_grad;
  if (options.out.empty() || options.steps < 1 || !(options.rate > 0) || options.anchor < 0)
    throw Error(
        ErrorCode::bad_argument,
        "learning from feedback wants a folder to write, steps >= 1, rate > 0, anchor >= 0");
  const std::vector<Lesson> lessons = lessons_of(examples);
  if (lessons.size() < static_cast<size_t>(kLeastFeedback))
    throw Error(ErrorCode::bad_argument,
                "only " + std::to_string(lessons.size()) + " of " +
                    std::to_string(examples.size()) +
                    " rated examples say whether their tokens were enough; " +
                    std::to_string(kLeastFeedback) + " are needed");
  FeedbackReport report;
  for (const Lesson& lesson : lessons) ++(examples[lesson.example].good ? report.good : report.bad);

  tiny::NetworkWeights bundle = tiny::load_networks(options.weights);
  const Head head = head_of(tiny::RealizerNet(bundle.shape));
  const Tensor features = features_of(bundle, examples, lessons);
  const Lot taught = lot_of(features, lessons, false), held = lot_of(features, lessons, true);
  Tensor weight = bundle.realizer[head.weight], bias = bundle.realizer[head.bias];
  report.held_out = static_cast<int>(held.features.size(0));
  report.loss_before = loss_of(held, weight, bias);
  report.tokens_before = mean_tokens(held, weight, bias);
  learn(taught, options, weight, bias);
  bundle.realizer[head.weight] = weight;
  bundle.realizer[head.bias] = bias;

  Draft draft(options.out);
  write(bundle, options, draft.path());
  // As everybody will read it: rounding included.
  const tiny::NetworkWeights written = tiny::load_networks(draft.path());
  report.loss_after = loss_of(held, written.realizer[head.weight], written.realizer[head.bias]);
  report.tokens_after =
      mean_tokens(held, written.realizer[head.weight], written.realizer[head.bias]);
  if (report.loss_after < report.loss_before) {
    const auto guard = options.guard ? options.guard : [&](const std::string& folder) {
      return guard_on_suites(folder, options);
    };
    report.guard_before = guard(options.weights);
    report.guard_after = guard(draft.path());
  }
  const std::string against = objection(report);
  report.kept = against.empty();
  report.why = report.kept ? "kept: better on held-out feedback, no worse on the guard"
                           : "not kept: " + against;
  if (report.kept) draft.take_place();
  return report;
}

}  // namespace arrcoc::training
