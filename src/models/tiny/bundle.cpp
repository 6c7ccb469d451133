#include "arrcoc/bundle.h"

#include <cstdlib>
#include <filesystem>

#include "arrcoc/error.h"
#include "base/beside.h"
#include "base/json.h"
#include "models/tiny/files.h"
#include "models/tiny/looker.h"
#include "models/tiny/signs.h"

namespace arrcoc {

namespace {

namespace fs = std::filesystem;

// Reads a fitted part; a folder without the file has none. Errors name the file.
template <class Read>
void read_part(const fs::path& path, const Read& read) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  try {
    read(read_text(path.string()));
  } catch (const Error& problem) {
    throw Error(problem.code(), path.string() + ": " + problem.what());
  }
}

std::shared_ptr<Bundle> around(std::shared_ptr<const tiny::TinyModel> networks,
                               const Calibration& calibration,
                               const tiny::ReadOptions& reading = {}) {
  auto out = std::make_shared<Bundle>();
  out->calibration = calibration;
  out->stale = calibration.weights != 0 && calibration.weights != networks->fingerprint();
  out->looker = tiny::make_network_looker(networks, calibration);
  out->model = tiny::make_reader(networks, calibration, reading);
  out->networks = std::move(networks);
  return out;
}

// policies.json: {"balancer": ..., "experts": ..., "outcome": ..., "measured": ...}.
void read_policies(const std::string& text, Bundle& bundle) {
  JsonFields fields = JsonFields::parse("policies", text);
  if (const json* balancer = fields.take("balancer"))
    bundle.balancer =
        std::make_shared<const BalancePolicy>(balance_policy_from_json(balancer->dump()));
  if (const json* experts = fields.take("experts"))
    bundle.experts = experts_from_json(experts->dump());
  if (const json* net = fields.take("outcome"))
    bundle.looker = tiny::make_network_looker(
        bundle.networks, bundle.calibration,
        std::make_shared<const BalanceNet>(balance_net_from_json(net->dump())));
  fields.ignore("measured").done();
}

bool has_config(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "config.json", ignored);
}

}  // namespace

std::shared_ptr<const Bundle> load_bundle(const std::string& folder) {
  return load_bundle(folder, Kernels::automatic);
}

std::shared_ptr<const Bundle> load_bundle(const std::string& folder, Kernels kernels) {
  const std::string from = folder.empty() ? find_bundle() : folder;
  if (from.empty())
    throw Error(ErrorCode::not_found,
                "the bundled model was not found: set ARRCOC_MODELS to the folder that holds "
                "tiny/config.json");
  const fs::path path = from;
  Calibration calibration;
  read_part(path / "calibration.json",
            [&](const std::string& text) { calibration = calibration_from_json(text); });
  tiny::ReadOptions reading;
  tiny::take_signs(from, reading);
  const auto out = around(tiny::TinyModel::load(from, kernels), calibration, reading);
  out->folder = from;
  read_part(path / "policies.json", [&](const std::string& text) { read_policies(text, *out); });
  read_part(path / "film.json",
            [&](const std::string& text) { out->film = film_constants_from_json(text); });
  return out;
}

void tiny::take_signs(const std::string& folder, ReadOptions& options) {
  if (folder.empty()) return;  // of networks in memory
  read_part(fs::path(folder) / "calibration.json", [&](const std::string& text) {
    const SignWeights weights = sign_weights_from_json(text);
    options.place = weights.place;
    options.kind = weights.kind;
  });
  options.kinds = kinds_of(folder);
}

std::shared_ptr<const Bundle> make_bundle(std::shared_ptr<const tiny::TinyModel> networks,
                                          const Calibration& calibration) {
  return around(std::move(networks), calibration);
}

std::string find_bundle() {
  if (const char* models = std::getenv("ARRCOC_MODELS"); models != nullptr && *models != '\0') {
    const fs::path folder = fs::path(models) / "tiny";
    return has_config(folder) ? folder.string() : "";
  }
  return find_beside({"share/arrcoc/models/tiny", "models/tiny"}, has_config).string();
}

bool holds_bundle(const std::string& folder) { return tiny::holds_weights(folder); }

}  // namespace arrcoc
