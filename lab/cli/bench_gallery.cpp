#include <algorithm>
#include <fstream>

#include "arrcoc/error.h"
#include "lab/cli/bench.h"

namespace arrcoc::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr size_t kFailures = 8;  // pictures of the gallery

bool worse(const BenchFailure& a, const BenchFailure& b) {
  return std::tie(b.confidence, a.name) < std::tie(a.confidence, b.name);
}

std::string drawn(const answering::Answerer& model, const answering::Group& group,
                  const std::string& question, const BenchCell& cell, const fs::path& path) {
  const answering::Reply reply = model.ask(group.picture, question, cell.options);
  media::DrawOptions draw;
  draw.longest = 420;
  const Geometry& g = reply.allocation.geometry;
  media::write_png(path.string(), media::draw_homunculus(resize(group.picture, g.width, g.height),
                                                         reply.allocation, draw));
  const auto bytes = media::read_file(path.string());
  return {bytes.begin(), bytes.end()};
}

}  // namespace

BenchGallery::BenchGallery(fs::path folder) : folder_(std::move(folder)) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_, none)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    const json j = json::parse(in, nullptr, false);
    fs::path png = entry.path();
    png.replace_extension(".png");
    if (!j.is_object() || !fs::exists(png, none)) continue;
    const auto bytes = media::read_file(png.string());
    kept_.push_back({entry.path().stem().string(), j.at("question"), j.at("wanted"), j.at("answer"),
                     std::string(bytes.begin(), bytes.end()), j.at("confidence")});
  }
  std::sort(kept_.begin(), kept_.end(), worse);
}

// The same pictures remain whatever the order, so a run that goes on ends with them too.
void BenchGallery::see(const answering::Answerer& model, const answering::Group& group,
                       const BenchCell& cell, const std::vector<answering::Record>& records) {
  for (size_t i = 0; i < records.size(); ++i) {
    const answering::Record& r = records[i];
    if (r.right || !r.answered) continue;
    const std::string name = std::to_string(group.number) + "_" + std::to_string(i);
    BenchFailure failure{name, r.question, r.wanted, r.answer, "", r.confidence};
    const auto known = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const BenchFailure& f) { return f.name == name; });
    if (known != kept_.end()) continue;
    if (kept_.size() >= kFailures && !worse(failure, kept_.back())) continue;
    fs::create_directories(folder_);
    failure.png = drawn(model, group, r.question, cell, folder_ / (name + ".png"));
    const std::string text = ordered_json({{"question", r.question},
                                           {"wanted", r.wanted},
                                           {"answer", r.answer},
                                           {"confidence", r.confidence}})
                                 .dump();
    media::write_file((folder_ / (name + ".json")).string(),
                      std::vector<uint8_t>(text.begin(), text.end()));
    kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), failure, worse), failure);
    if (kept_.size() <= kFailures) continue;
    for (const char* ending : {".json", ".png"}) fs::remove(folder_ / (kept_.back().name + ending));
    kept_.pop_back();
  }
}

}  // namespace arrcoc::cli
