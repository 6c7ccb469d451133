// Which kernels a model runs on.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstdlib>
#include <filesystem>

#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "base/json.h"
#include "models/tiny/ranges.h"
#include "models/tiny/row_kernels.h"
#include "models/tiny/state.h"
#include "models/weights/device.h"

namespace arrcoc {

namespace tiny {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRanges = "ranges.json";

Kernels wanted(Kernels given) {
  const char* set = std::getenv("ARRCOC_KERNELS");
  if (given != Kernels::automatic || set == nullptr || *set == '\0') return given;
  return parse_enum<Kernels>(set);
}

// Rows are worked on in whole vectors.
bool even_widths(const Shape& s) {
  for (const int width : {2 * s.stem, s.cell, s.page, s.ask, s.width, s.width / s.heads})
    if (width % kRowLanes != 0) return false;
  return true;
}

// The heads of the glyph losses are the trainer's.
bool complete(const Layout& layout, const Ranges& ranges) {
  for (const ProductSpec& product : layout.products())
    if (layout.specs()[static_cast<size_t>(product.weight)].name != "glyph.weight" &&
        !ranges.count(product.weight))
      return false;
  return true;
}

// Of the tensors that decide last.
uint64_t fingerprint_of(const NetworkWeights& weights) {
  uint64_t hash = 1469598103934665603ULL;
  const auto add = [&](const Layout& layout, const Tensors& tensors, const std::string& name) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (layout.specs()[i].name != name) continue;
      const Tensor whole = tensors[i].contiguous();
      const auto* bytes = static_cast<const uint8_t*>(whole.data_ptr());
      for (size_t b = 0; b < whole.nbytes(); ++b) hash = (hash ^ bytes[b]) * 1099511628211ULL;
    }
  };
  add(RealizerNet(weights.shape).layout(), weights.realizer, "tier.weight");
  add(Answerer(weights.shape).layout(), weights.answerer, "out.weight");
  return hash;
}

// Ranges that fit the weights, or why there are none.
std::string read_ranges(const std::string& folder, const NetworkWeights& weights,
                        NetworkRanges& out) {
  const fs::path path = fs::path(folder) / kRanges;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return "no ranges.json: arrcoc eval --ranges fits it";
  const uint64_t digest = digest_of(weights);
  try {
    out = ranges_from_json(read_text(path.string()), weights.shape, digest);
  } catch (const Error& problem) {
    throw Error(problem.code(), path.string() + ": " + problem.what());
  }
  if (out.weights != digest)
    return "ranges.json belongs to other weights: arrcoc eval --ranges fits it anew";
  if (!complete(RealizerNet(weights.shape).layout(), out.realizer) ||
      !complete(Answerer(weights.shape).layout(), out.answerer))
    return "ranges.json lacks products: arrcoc eval --ranges fits it anew";
  return "";
}

}  // namespace

void TinyModel::State::choose(Kernels given) {
  const Kernels choice = wanted(given);
  if (choice == Kernels::reference) {
    kernels = "reference (chosen)";
    return;
  }
  std::string problem = no_fast_kernels();
  NetworkRanges ranges;
  if (problem.empty() && !even_widths(weights.shape))
    problem = "widths of this model are no multiples of 16";
  if (problem.empty()) problem = read_ranges(folder, weights, ranges);
  if (!problem.empty()) {
    if (choice == Kernels::fast)
      throw Error(ErrorCode::unsupported, "no fast kernels for " + folder + ": " + problem);
    kernels = "reference (" + problem + ")";
    return;
  }
  fast_realizer =
      std::make_unique<const Prepared>(realizer.layout(), weights.realizer, ranges.realizer);
  fast_answerer =
      std::make_unique<const Prepared>(answerer.layout(), weights.answerer, ranges.answerer);
  kernels = "fast (" + kernel_instructions() + ")";
}

void TinyModel::State::move_to(at::Device where, at::ScalarType in) {
  device = where;
  type = in;
  for (Tensors* tensors : {&weights.realizer, &weights.answerer, &weights.history})
    for (Tensor& t : *tensors) t = t.to(device, type);
  kernels = "reference (" + dtype_name(type) + " on " + device.str() +
            (device.is_cuda() && Graphs::available(device) ? ", CUDA graphs)" : ")");
}

void TinyModel::State::place(Kernels given) {
  const char* set = std::getenv("ARRCOC_DEVICE");
  const char* dtype = std::getenv("ARRCOC_DTYPE");
  const at::Device there = device_named(set == nullptr || *set == '\0' ? "cpu" : set);
  const at::ScalarType in = dtype_named(dtype == nullptr ? "" : dtype, there);
  if (there.is_cpu() && in == at::kFloat) return choose(given);
  if (wanted(given) == Kernels::fast)
    throw Error(ErrorCode::unsupported,
                "fast kernels are 8 bits on the CPU: leave --kernels, or "
                "--device and --dtype, out");
  move_to(there, in);
}

std::shared_ptr<const TinyModel> TinyModel::load(const std::string& folder, Kernels kernels) {
  at::NoGradGuard no_grad;
  std::shared_ptr<TinyModel> model(new TinyModel);
  model->state_ = std::make_unique<State>(load_networks(folder));
  model->state_->folder = folder;
  model->state_->fingerprint = fingerprint_of(model->state_->weights);
  model->state_->place(kernels);
  return model;
}

std::shared_ptr<const TinyModel> TinyModel::load_watched(const std::string& folder) {
  at::NoGradGuard no_grad;
  std::shared_ptr<TinyModel> model(new TinyModel);
  model->state_ = std::make_unique<State>(load_networks(folder));
  model->state_->folder = folder;
  model->state_->fingerprint = fingerprint_of(model->state_->weights);
  model->state_->choose(Kernels::reference);
  model->state_->seen_realizer = std::make_unique<RangesSeen>();
  model->state_->seen_answerer = std::make_unique<RangesSeen>();
  return model;
}

void TinyModel::save_ranges(int64_t questions) const {
  const State& s = *state_;
  if (!s.seen_realizer || s.seen_realizer->empty() || s.seen_answerer->empty())
    throw Error(ErrorCode::bad_argument, "no question was asked: there are no ranges to save");
  const NetworkRanges ranges{digest_of(s.weights), s.seen_realizer->ranges(),
                             s.seen_answerer->ranges()};
  write_text_file((fs::path(s.folder) / kRanges).string(),
                  to_json(ranges, s.weights.shape, questions));
}

const std::string& TinyModel::kernels() const { return state_->kernels; }

}  // namespace tiny

std::string kernels_of(const Bundle& bundle) { return bundle.networks->kernels(); }

}  // namespace arrcoc
