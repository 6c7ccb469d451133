#include "lab/cli/reliability.h"

#include <algorithm>

#include "arrcoc/error.h"
#include "media/draw/reliability.h"

namespace arrcoc::cli {

namespace {

using measuring::Record;
using measuring::Records;

ordered_json to_json(const measuring::Reliability& r) {
  ordered_json out = {
      {"answered", r.answered}, {"ece", rounded(r.error)}, {"auroc", rounded(r.auroc)}};
  for (const auto& bin : r.bins)
    out["bins"].push_back({{"count", bin.count},
                           {"confidence", rounded(bin.confidence)},
                           {"right", rounded(bin.right)}});
  return out;
}

}  // namespace

ordered_json reliability_json(const std::vector<Record>& records,
                              const std::vector<std::string>& data) {
  std::vector<std::pair<std::string, Records>> sets = {{"generated", {}}};
  for (const std::string& folder : data) sets.emplace_back(leaf_name(folder), Records{});
  for (const Record& r : records) {
    const auto folder = std::find(data.begin(), data.end(), r.suite);
    sets[folder == data.end() ? 0 : 1 + static_cast<size_t>(folder - data.begin())]
        .second.push_back(&r);
  }
  ordered_json out = ordered_json::array();
  for (const auto& [name, part] : sets) {
    const measuring::Reliability r = reliability(part);
    if (r.answered == 0) continue;
    out.push_back({{"set", name}});
    out.back().update(to_json(r));
  }
  return out;
}

std::string reliability_markdown(const ordered_json& sets) {
  if (sets.empty()) return "";
  std::string out =
      "\n## Confidence\n\nShare that is right (questions) by confidence; ECE: expected calibration "
      "error over these ten bins, AUROC: of right against wrong answers.\n\n| set | ECE | AUROC |";
  for (int i = 0; i < 10; ++i) out += " " + fixed(0.1 * i, 1) + "- |";
  out += "\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& set : sets) {
    out += "| " + set["set"].get<std::string>() + " | " + fixed(set["ece"], 3) + " | " +
           fixed(set["auroc"], 3) + " |";
    for (const auto& bin : set["bins"])
      out += bin["count"] == 0 ? " - |"
                               : " " + fixed(bin["right"], 2) + " (" + bin["count"].dump() + ") |";
    out += "\n";
  }
  return out;
}

void write_reliability(const std::string& path, const ordered_json& sets) {
  if (sets.empty())
    throw Error(ErrorCode::bad_argument,
                "--reliability: no answer was read whose right one is known");
  std::vector<media::ReliabilityPanel> panels;
  for (const auto& set : sets) {
    media::ReliabilityPanel& panel = panels.emplace_back();
    panel.title = set["set"].get<std::string>() + ", " + set["answered"].dump() + " questions";
    panel.second = "ECE " + fixed(set["ece"], 3) + ", AUROC " + fixed(set["auroc"], 3);
    for (const auto& bin : set["bins"])
      panel.bins.push_back({bin["count"], bin["confidence"], bin["right"]});
  }
  media::write_png(path, media::draw_reliability(panels));
}

}  // namespace arrcoc::cli
