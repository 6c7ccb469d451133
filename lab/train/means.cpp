#include "lab/train/means.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <memory>
#include <numeric>
#include <sstream>

#include "arrcoc/error.h"
#include "lab/train/evaluate.h"
#include "lab/train/machine.h"
#include "lab/train/prefetch.h"
#include "lab/train/real/sample.h"
#include "lab/train/source.h"
#include "lab/train/streams.h"
#include "models/tiny/files.h"

namespace arrcoc::training {
namespace {

constexpr int kTogether = 12;  // real pictures on the device

double share_of(std::string_view text, const std::string& all) {
  double out = -1;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc() || end != text.data() + text.size() || !(out >= 0 && out <= 1))
    throw Error(ErrorCode::bad_argument,
                "means: '" + all + "' is no list of shares from 0 to 1 as 0/0,0.4/0.6");
  return out;
}

struct Machine {
  at::Device device;
  at::ScalarType type;
};

struct Held {  // pages or photographs
  Shelf shelf;
  std::vector<std::shared_ptr<const Sample>> samples;
};

std::vector<Held> held_pictures(const Options& options) {
  const auto data = real::Data::load(real::folders_of(options.data), options.held_share);
  std::vector<Held> out;
  for (const bool photo : {false, true}) {
    const std::vector<const real::Entry*> entries = data->held(photo, options.held_real);
    const int count = static_cast<int>(entries.size());
    if (count == 0) continue;
    const real::Wish wish = real::wish_of(options, photo);
    out.push_back(
        {Shelf{std::min(kTogether, count), wish.canvas, wish.native},
         make_all([&](uint64_t i) { return real::held_sample(*data, *entries[i], i, wish); }, 0,
                  count)});
  }
  return out;
}

std::unique_ptr<Pool> held_scenes(const Options& options, const Machine& machine) {
  auto out = std::make_unique<Pool>(options.held_out, options.canvas, machine.device, machine.type);
  std::vector<int> slots(static_cast<size_t>(options.held_out));
  std::iota(slots.begin(), slots.end(), 0);
  const SceneSource source = scene_source(options);
  std::atomic<int64_t> failed{0};
  out->put(slots, make_all(
                      [&](uint64_t ticket) {
                        return scene_sample(options, source, ticket, false, failed);
                      },
                      kHeldOut, options.held_out));
  return out;
}

// As they would be stored; weights that are not mixed stay as they are.
tiny::Tensors mixed(const tiny::Tensors& a, const tiny::Tensors& b, double share,
                    const Machine& machine) {
  tiny::Tensors out;
  for (size_t i = 0; i < a.size(); ++i) {
    const at::Tensor mean =
        share == 0 ? a[i] : (a[i] * (1 - share) + b[i] * share).to(at::kBFloat16);
    out.push_back(mean.to(machine.device, machine.type));
  }
  return out;
}

std::string text_of(const Evaluation& e) {
  char text[200];
  std::snprintf(text, sizeof text,
                "\n  scenes %d: exact %.3f oracle %.3f (four kinds alike %.3f, %.3f)",
                e.all.questions, e.all.exact_realized, e.all.exact_oracle, e.suites_realized,
                e.suites_oracle);
  return text;
}

}  // namespace

std::vector<Mean> means_of(const std::string& text) {
  std::vector<Mean> out;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) {
    const size_t slash = std::min(one.find('/'), one.size());
    const std::string_view shares = one;
    out.push_back({one, share_of(shares.substr(0, slash), text),
                   share_of(shares.substr(std::min(slash + 1, one.size())), text)});
  }
  if (out.empty()) share_of("", text);
  return out;
}

std::vector<std::vector<real::Result>> measure_means(
    const Options& options, const MeansWish& wish,
    const std::function<void(const std::string&)>& say) {
  if (options.data.empty() || options.init.empty())
    throw Error(ErrorCode::bad_argument, "measuring needs data and the weights to measure (init)");
  const at::NoGradGuard no_grad;
  const at::Device device = device_of(options.device);
  const Machine machine{device, device.is_cuda() ? at::kBFloat16 : at::kFloat};
  prefer_fast_kernels();
  const tiny::NetworkWeights first = tiny::load_networks(options.init);
  const tiny::NetworkWeights other = wish.other.empty() ? first : tiny::load_networks(wish.other);
  if (tiny::shape_to_json(first.shape) != tiny::shape_to_json(other.shape))
    throw Error(ErrorCode::bad_weights, "means: " + options.init + " and " + wish.other +
                                            " are networks of different shapes");
  const std::vector<Held> held = held_pictures(options);
  const std::unique_ptr<Pool> scenes = wish.scenes ? held_scenes(options, machine) : nullptr;
  const tiny::RealizerNet realizer(first.shape);
  const tiny::Answerer answerer(first.shape);
  std::vector<std::vector<real::Result>> all;
  for (const Mean& mean : wish.means) {
    const tiny::Tensors look = mixed(first.realizer, other.realizer, mean.realizer, machine);
    const tiny::Tensors write = mixed(first.answerer, other.answerer, mean.answerer, machine);
    std::string said = mean.name;
    if (scenes)
      said += text_of(evaluate(realizer, look, answerer, write, *scenes, machine.type,
                               options.held_out_budget));
    std::vector<real::Result>& results = all.emplace_back();
    for (const auto& [shelf, samples] : held) {
      Pool pool({shelf}, device, machine.type);
      const auto more = real::measure(realizer, look, answerer, write, pool, samples, machine.type,
                                      wish.budgets, wish.oracle);
      results.insert(results.end(), more.begin(), more.end());
    }
    say(said + real::table(real::scores_of(results)));
  }
  return all;
}

}  // namespace arrcoc::training
