#include "lab/train/guard.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "arrcoc/weights.h"
#include "base/json.h"
#include "lab/measure/evaluation.h"

namespace arrcoc::training {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kFitted[] = {"calibration.json", "policies.json", "film.json", "kinds.json"};

double score_of(const real::Result& r) {
  return r.wanted.empty() ? std::max(0.0, r.pointing) : r.anls;
}

}  // namespace

Verdict verdict_of(const std::vector<real::Result>& before,
                   const std::vector<real::Result>& after) {
  assert(before.size() == after.size());
  Verdict out;
  std::vector<double> gains;
  std::vector<int> groups;
  std::map<uint64_t, int> pictures;
  for (size_t i = 0; i < before.size(); ++i) {
    const double old_score = score_of(before[i]), new_score = score_of(after[i]);
    out.before += old_score;
    out.after += new_score;
    gains.push_back(new_score - old_score);
    const int number = static_cast<int>(pictures.size());
    groups.push_back(pictures.emplace(before[i].picture, number).first->second);
  }
  out.questions = static_cast<int>(gains.size());
  out.pictures = static_cast<int>(pictures.size());
  if (gains.empty()) return out;
  out.before /= out.questions;
  out.after /= out.questions;
  const measuring::Interval gain = measuring::bootstrap(gains, groups);
  out.gain = gain.mean;
  out.low = gain.low;
  out.high = gain.high;
  out.kept_old = out.gain < 0;
  return out;
}

std::string to_text(const Verdict& v) {
  char text[256];
  std::snprintf(text, sizeof text,
                "guard: %d questions about %d pictures held aside: %.3f before, %.3f after, "
                "difference %+.3f [%+.3f, %+.3f]: the %s weights are kept",
                v.questions, v.pictures, v.before, v.after, v.gain, v.low, v.high,
                v.kept_old ? "old" : "new");
  return text;
}

void copy_fitted(const std::string& from, const std::string& to) {
  for (const char* name : kFitted) {
    const fs::path source = fs::path(from) / name, target = fs::path(to) / name;
    if (fs::is_regular_file(source) && !fs::exists(target))
      write_text_file(target.string(), read_text(source.string()));
  }
}

void copy_weights(const std::string& from, const std::string& to) {
  fs::create_directories(to);
  const auto copy = [&](const std::string& name) {
    write_text_file((fs::path(to) / name).string(), read_text((fs::path(from) / name).string()));
  };
  std::set<std::string> shards;
  for (const auto& entry : fs::directory_iterator(from))
    if (entry.path().extension() == ".safetensors") shards.insert(entry.path().filename().string());
  for (const std::string& name : shards) copy(name);
  for (const char* name : kFitted)
    if (fs::is_regular_file(fs::path(from) / name)) copy(name);
  copy("config.json");
  if (fs::is_regular_file(fs::path(from) / kIndex))
    copy(kIndex);
  else
    fs::remove(fs::path(to) / kIndex);
  std::vector<fs::path> unnamed;
  for (const auto& entry : fs::directory_iterator(to))
    if (entry.path().extension() == ".safetensors" &&
        shards.count(entry.path().filename().string()) == 0)
      unnamed.push_back(entry.path());
  for (const fs::path& path : unnamed) fs::remove(path);
}

}  // namespace arrcoc::training
