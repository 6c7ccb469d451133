// arrcoc info: version, libraries, device, and every strategy by name.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <iostream>
#ifdef ARRCOC_HAVE_OPENCV
#include <opencv2/core/version.hpp>
#endif

#include "arrcoc/version.h"
#include "cli/cli.h"

namespace arrcoc::cli {

namespace {

using nlohmann::ordered_json;
using List = std::vector<std::pair<std::string, std::string>>;

template <class Interface>
void add(std::vector<std::pair<std::string, List>>& stages) {
  stages.emplace_back(Interface::kStage, registry<Interface>().list());
}

std::vector<std::pair<std::string, List>> strategies() {
  std::vector<std::pair<std::string, List>> stages = {{"policy", policy_names()}};
  add<Provider>(stages);
  add<Scorer>(stages);
  add<Balancer>(stages);
  add<BudgetRule>(stages);
  add<Allocator>(stages);
  return stages;
}

void info(bool json) {
  const std::string torch = TORCH_VERSION;
#ifdef ARRCOC_HAVE_OPENCV
  const std::string opencv = CV_VERSION;
#else
  const std::string opencv = "none";
#endif
  const std::string device = at::hasCUDA() ? "cuda" : "cpu";
  const int threads = at::get_num_threads();
  if (json) {
    ordered_json out = {{"version", kVersion},
                        {"libraries", {{"libtorch", torch}, {"opencv", opencv}}},
                        {"device", device},
                        {"threads", threads}};
    for (const auto& [stage, list] : strategies()) {
      for (const auto& [name, summary] : list) out["strategies"][stage][name] = summary;
    }
    std::cout << out.dump() << "\n";
    return;
  }
  std::cout << "arrcoc " << kVersion << "\nlibtorch " << torch << ", OpenCV " << opencv
            << "\ndevice " << device << ", " << threads << " threads\n";
  for (const auto& [stage, list] : strategies()) {
    std::cout << "\n" << stage << "\n";
    for (const auto& [name, summary] : list) {
      std::cout << "  " << name << std::string(name.size() < 18 ? 18 - name.size() : 1, ' ')
                << summary << "\n";
    }
  }
}

}  // namespace

void add_info(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("info", "version, libraries, device and all strategies");
  auto json = std::make_shared<bool>(false);
  sub->add_flag("--json", *json, "print as JSON");
  sub->callback([json] { info(*json); });
}

}  // namespace arrcoc::cli
