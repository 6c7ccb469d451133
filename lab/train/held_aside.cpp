#include "lab/train/held_aside.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "lab/train/meters.h"
#include "lab/train/real/measure.h"
#include "lab/train/real/sample.h"

namespace arrcoc::training {
namespace {

using nlohmann::json;

constexpr uint64_t kPhotoTickets = 1
                                   << 20;  // photographs and pages are told apart by their tickets

std::string text_of(const Evaluation& e, double seconds) {
  char text[256];
  std::snprintf(
      text, sizeof text,
      "held out %d: exact realized %.3f oracle %.3f (four kinds alike: %.3f, %.3f) recall "
      "%.3f page glyphs %.3f tier tokens %.0f distinct %.3f (%.1f s)",
      e.all.questions, e.all.exact_realized, e.all.exact_oracle, e.suites_realized, e.suites_oracle,
      e.all.recall, e.all.page_glyphs, e.mean_tier_tokens, e.distinct, seconds);
  std::string said = text;
  for (const auto& [kind, score] : e.kinds) {
    std::snprintf(text, sizeof text, "\n  %-10s %3d realized %.3f oracle %.3f recall %.3f",
                  kind.c_str(), score.questions, score.exact_realized, score.exact_oracle,
                  score.recall);
    said += text;
  }
  std::snprintf(text, sizeof text, "\n  tokens asked for: simple %.0f, medium %.0f, complex %.0f",
                e.tokens_by_complexity[0], e.tokens_by_complexity[1], e.tokens_by_complexity[2]);
  said += text;
  for (const std::string& sign : collapses(e)) said += "\n  COLLAPSE: " + sign;
  return said;
}

json json_of(const Evaluation& e) {
  json out{{"exact_realized", e.all.exact_realized},
           {"exact_oracle", e.all.exact_oracle},
           {"suites_realized", e.suites_realized},
           {"suites_oracle", e.suites_oracle},
           {"recall", e.all.recall},
           {"page_glyphs", e.all.page_glyphs},
           {"tier_tokens", e.mean_tier_tokens},
           {"distinct", e.distinct},
           {"tier_share", e.tier_share},
           {"tokens_by_complexity", e.tokens_by_complexity}};
  for (const auto& [kind, score] : e.kinds)
    out["kinds"][kind] = {{"questions", score.questions},
                          {"exact_realized", score.exact_realized},
                          {"exact_oracle", score.exact_oracle},
                          {"recall", score.recall}};
  for (const std::string& sign : collapses(e)) out["collapse"].push_back(sign);
  return out;
}

}  // namespace

HeldAside::HeldAside(const Options& options, const Streams& streams, at::Device device,
                     at::ScalarType type)
    : options_(options), scenes_(options.held_out, options.canvas, device, type) {
  std::vector<int> slots(static_cast<size_t>(options.held_out));
  std::iota(slots.begin(), slots.end(), 0);
  scenes_.put(slots, make_all([&](uint64_t ticket) { return streams.scene(ticket); }, kHeldOut,
                              options.held_out));
  const real::Data* data = streams.data();
  if (!data) return;
  for (const bool photo : {false, true}) {
    const std::vector<const real::Entry*> entries = data->held(photo, options.held_real);
    if (entries.empty()) continue;
    const real::Wish wish = real::wish_of(options, photo);
    const int count = static_cast<int>(entries.size());
    constexpr int kTogether = 12;
    real_.push_back({Shelf{std::min(kTogether, count), wish.canvas, wish.native},
                     make_all(
                         [&](uint64_t i) {
                           return real::held_sample(*data, *entries[i],
                                                    i + (photo ? kPhotoTickets : 0), wish);
                         },
                         0, count)});
  }
}

Evaluation HeldAside::measure(const Networks& networks, json& line,
                              const std::function<void(const std::string&)>& say) {
  const double begun = now();
  const at::NoGradGuard no_grad;
  const Evaluation e =
      evaluate(networks.realizer(), networks.look_tensors(), networks.answerer(),
               networks.answer_tensors(), scenes_, networks.type(), options_.held_out_budget);
  line["evaluation"] = json_of(e);
  say(text_of(e, now() - begun));
  if (!real_.empty()) say(measure_real(networks, line));
  return e;
}

std::vector<real::Result> HeldAside::results_of(const Reader& reader) const {
  std::vector<real::Result> results;
  for (const auto& [shelf, samples] : real_) {
    Pool pool({shelf}, scenes_.device(), reader.type);
    const auto more = real::measure(reader.realizer, reader.look, reader.answerer, reader.write,
                                    pool, samples, reader.type, {});
    results.insert(results.end(), more.begin(), more.end());
  }
  return results;
}

std::vector<real::Result> HeldAside::measure_real(const tiny::NetworkWeights& weights,
                                                  at::ScalarType type) const {
  const auto sent = [&](tiny::Tensors tensors) {
    for (at::Tensor& t : tensors) t = t.to(scenes_.device(), type);
    return tensors;
  };
  return results_of({tiny::RealizerNet(weights.shape), sent(weights.realizer),
                     tiny::Answerer(weights.shape), sent(weights.answerer), type});
}

std::string HeldAside::measure_real(const Networks& networks, json& line) {
  const double begun = now();
  last_real_ = results_of({networks.realizer(), networks.look_tensors(), networks.answerer(),
                           networks.answer_tensors(), networks.type()});
  const auto scores = real::scores_of(last_real_);
  for (const auto& [set, s] : scores)
    line["real"][set] = {{"questions", s.questions}, {"answered", s.answered},
                         {"boxes", s.boxes},         {"anls", s.anls},
                         {"exact", s.exact},         {"relaxed", s.relaxed},
                         {"recall", s.recall},       {"pointing", s.pointing}};
  char text[32];
  std::snprintf(text, sizeof text, "\n  (%.1f s)", now() - begun);
  return "real pictures held aside:" + real::table(scores) + text;
}

}  // namespace arrcoc::training
