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

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// Who fills each channel of the texture and who reads it.
List channels() {
  List out;
  for (int i = 0; i < kAllChannels; ++i) {
    const auto channel = static_cast<Channel>(i);
    const ChannelUse& use = use_of(channel);
    out.emplace_back(to_string(channel), joined(use.writers) + " -> " + joined(use.readers));
  }
  return out;
}

void print(const std::string& stage, const List& list) {
  std::cout << "\n" << stage << "\n";
  for (const auto& [name, summary] : list)
    std::cout << "  " << name << std::string(name.size() < 18 ? 18 - name.size() : 1, ' ')
              << summary << "\n";
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
    for (int i = 0; i < kAllChannels; ++i) {
      const auto channel = static_cast<Channel>(i);
      out["channels"][to_string(channel)] = {{"writers", use_of(channel).writers},
                                             {"readers", use_of(channel).readers}};
    }
    std::cout << out.dump() << "\n";
    return;
  }
  std::cout << "arrcoc " << kVersion << "\nlibtorch " << torch << ", OpenCV " << opencv
            << "\ndevice " << device << ", " << threads << " threads\n";
  for (const auto& [stage, list] : strategies()) print(stage, list);
  print("texture channel (who fills it -> who reads it)", channels());
}

}  // namespace

void add_info(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("info", "version, libraries, device and all strategies");
  auto json = std::make_shared<bool>(false);
  sub->add_flag("--json", *json, "print as JSON");
  sub->callback([json] { info(*json); });
}

}  // namespace arrcoc::cli
