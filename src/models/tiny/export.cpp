#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <filesystem>

#include "arrcoc/error.h"
#include "models/tiny/files.h"

namespace arrcoc::tiny {
namespace {

namespace fs = std::filesystem;

void compare(const std::string& prefix, const Layout& layout, const Tensors& before,
             const Tensors& after, ExportReport& report) {
  for (size_t i = 0; i < before.size(); ++i) {
    const std::string& name = layout.specs()[i].name;
    if (before[i].dim() < 2 || name.rfind("glyph.", 0) == 0) continue;  // those are not exported
    const Tensor w = before[i].flatten(1), error = (after[i].flatten(1) - w).abs();
    const Tensor peak = w.abs().amax(1, true).clamp_min(1e-30);
    report.largest_error = std::max(report.largest_error, (error / peak).max().item<double>());
    const double size = w.square().mean().sqrt().item<double>();
    const double relative = size > 0 ? error.square().mean().sqrt().item<double>() / size : 0;
    if (relative > report.relative_error) {
      report.relative_error = relative;
      report.worst_tensor = prefix + name;
    }
  }
}

}  // namespace

ExportReport export_int8(const std::string& from, const std::string& to) {
  at::NoGradGuard no_grad;
  std::error_code ignored;
  if (fs::equivalent(from, to, ignored))
    throw Error(ErrorCode::bad_argument, "the int8 weights must go to another folder than " + from);
  const NetworkWeights before = load_networks(from);
  save_networks_int8(to, before);
  const NetworkWeights after = load_networks(to);  // as everybody will read it
  const RealizerNet realizer(before.shape);
  const Answerer answerer(before.shape);
  ExportReport report;
  report.parameters = realizer.layout().count() + answerer.layout().count();
  compare("realizer.", realizer.layout(), before.realizer, after.realizer, report);
  compare("answerer.", answerer.layout(), before.answerer, after.answerer, report);
  for (const auto& entry : fs::directory_iterator(to))
    if (entry.is_regular_file()) report.bytes += static_cast<int64_t>(entry.file_size());
  return report;
}

}  // namespace arrcoc::tiny
