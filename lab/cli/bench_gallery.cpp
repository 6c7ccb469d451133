#include <algorithm>

#include "lab/cli/bench.h"

namespace arrcoc::cli {

namespace {

namespace fs = std::filesystem;

constexpr size_t kFailures = 8;  // pictures of the gallery

bool worse(const BenchFailure& a, const BenchFailure& b) {
  return std::tie(b.confidence, a.name) < std::tie(a.confidence, b.name);
}

std::vector<uint8_t> drawn(const Asker& asker, const measuring::Group& group,
                           const std::string& question, const BenchCell& cell,
                           const fs::path& path) {
  const Answer answer = asker.ask(group.picture, question, cell.options);
  const Allocation& allocation = answer.from().answer().allocation;
  media::DrawOptions draw;
  draw.longest = 420;
  const Geometry& g = allocation.geometry;
  media::write_png(path.string(), media::draw_homunculus(resize(group.picture, g.width, g.height),
                                                         allocation, draw));
  return media::read_file(path.string());
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
    kept_.push_back({entry.path().stem().string(), j.at("question"), j.at("wanted"), j.at("answer"),
                     media::read_file(png.string()), j.at("confidence")});
  }
  std::sort(kept_.begin(), kept_.end(), worse);
}

// The same pictures remain whatever the order, so a run that goes on ends with them too.
void BenchGallery::see(const Asker& asker, const measuring::Group& group, const BenchCell& cell,
                       const std::vector<measuring::Record>& records) {
  for (size_t i = 0; i < records.size(); ++i) {
    const measuring::Record& r = records[i];
    if (r.right || !r.answered) continue;
    const std::string name = std::to_string(group.number) + "_" + std::to_string(i);
    BenchFailure failure{name, r.question, r.wanted, r.answer, {}, r.confidence};
    const auto known = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const BenchFailure& f) { return f.name == name; });
    if (known != kept_.end()) continue;
    if (kept_.size() >= kFailures && !worse(failure, kept_.back())) continue;
    fs::create_directories(folder_);
    failure.png = drawn(asker, group, r.question, cell, folder_ / (name + ".png"));
    write_text((folder_ / (name + ".json")).string(), ordered_json({{"question", r.question},
                                                                    {"wanted", r.wanted},
                                                                    {"answer", r.answer},
                                                                    {"confidence", r.confidence}})
                                                          .dump());
    kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), failure, worse), failure);
    if (kept_.size() <= kFailures) continue;
    for (const char* ending : {".json", ".png"}) fs::remove(folder_ / (kept_.back().name + ending));
    kept_.pop_back();
  }
}

}  // namespace arrcoc::cli
