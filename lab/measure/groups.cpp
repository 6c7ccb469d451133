// Where measured questions come from.
#include <ATen/ATen.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "arrcoc/error.h"
#include "base/join.h"
#include "lab/measure/measure.h"
#include "lab/scenes/scenes.h"

namespace arrcoc::measuring {

namespace {

// Below the suites' seeds, above the trainer's held-out ones: nothing else draws from here.
constexpr uint64_t kHeldOutSeeds = 0xE800000000000000ULL;
static_assert(kHeldOutSeeds < scenes::kSuiteSeedBase);

// A scene, the name of its suite, and its questions in other words (or none).
struct Made {
  scenes::Scene scene;
  std::string suite;
  std::vector<scenes::Question> reworded;
};

// The questions of a scene, one group a picture that is asked about.
std::vector<Group> groups_of(const Made& made) {
  const scenes::Scene& scene = made.scene;
  std::map<int, Group> by_picture;
  for (size_t q = 0; q < scene.questions.size(); ++q) {
    const scenes::Question& question = scene.questions[q];
    Group& group = by_picture[question.picture];
    const scenes::Image& image = scene.images[static_cast<size_t>(question.picture)];
    if (group.cases.empty()) {
      group.suite = made.suite;
      group.picture = picture_of(image, scene.layout + " " + std::to_string(scene.seed));
    }
    Case one;
    one.complexity = question.complexity;
    if (q < made.reworded.size() && made.reworded[q].text != question.text)
      one.reworded = made.reworded[q].text;
    one.item.id = question.intent;
    one.item.image = group.picture.source;
    one.item.width = image.width;
    one.item.height = image.height;
    one.item.question = question.text;
    one.item.answer = question.answer;
    one.item.kind = scene.kind;
    one.item.answer_boxes = question.answer_boxes;
    one.item.evidence_boxes = question.evidence_boxes;
    group.cases.push_back(std::move(one));
  }
  std::vector<Group> out;
  for (auto& [picture, group] : by_picture) out.push_back(std::move(group));
  return out;
}

// Hands out the groups of scenes that are made one at a time.
class SceneGroups {
 public:
  using Make = std::function<std::optional<Made>()>;
  explicit SceneGroups(Make make) : make_(std::move(make)) {}
  std::optional<Group> next() {
    while (waiting_.empty()) {
      const auto made = make_();
      if (!made) return std::nullopt;
      for (Group& group : groups_of(*made)) waiting_.push_back(std::move(group));
    }
    Group out = std::move(waiting_.front());
    waiting_.pop_front();
    out.number = number_++;
    return out;
  }

 private:
  Make make_;
  std::deque<Group> waiting_;
  int number_ = 0;
};

GroupSource source_from(SceneGroups::Make make) {
  auto groups = std::make_shared<SceneGroups>(std::move(make));
  return [groups] { return groups->next(); };
}

int scenes_for(int limit) {
  if (limit <= 0) return scenes::kSuiteScenes;
  return std::min(scenes::kSuiteScenes,
                  (limit + scenes::kSuiteQuestions - 1) / scenes::kSuiteQuestions);
}

}  // namespace

Picture picture_of(const scenes::Image& image, const std::string& name) {
  // from_blob only reads.
  const at::Tensor interleaved = at::from_blob(const_cast<uint8_t*>(image.rgb.data()),
                                               {image.height, image.width, 3}, at::kByte);
  return make_picture(interleaved.permute({2, 0, 1}).contiguous(), name);
}

GroupSource suite_groups(const std::vector<std::string>& suites, int limit) {
  for (const std::string& name : suites) {
    const std::string plain = name.rfind("suite:", 0) == 0 ? name.substr(6) : name;
    const auto& known = scenes::suites();
    if (std::find(known.begin(), known.end(), plain) == known.end())
      throw Error(ErrorCode::not_found, "no suite named '" + name + "'; known: " + joined(known));
  }
  const auto assets = scenes::Assets::load(scenes::find_assets());
  const int each = scenes_for(limit);
  return source_from([=, at = 0]() mutable -> std::optional<Made> {
    if (at >= each * static_cast<int>(suites.size())) return std::nullopt;
    const std::string& suite = suites[static_cast<size_t>(at / each)];
    const int before = at % each * scenes::kSuiteQuestions;
    Made out{scenes::suite_scene(*assets, suite, at++ % each), suite, {}};
    if (limit > 0 && before + scenes::kSuiteQuestions > limit)
      out.scene.questions.resize(
          std::min(out.scene.questions.size(), static_cast<size_t>(limit - before)));
    scenes::Options options;
    options.questions = scenes::kSuiteQuestions;
    options.held_back = suite.find("unseen") != std::string::npos;
    out.reworded =
        scenes::make_reworded(*assets, out.scene.kind, out.scene.seed, options, 1).questions;
    return out;
  });
}

size_t suite_questions(const std::vector<std::string>& suites, int limit) {
  const int all = scenes_for(limit) * scenes::kSuiteQuestions;
  return suites.size() * static_cast<size_t>(limit > 0 ? std::min(limit, all) : all);
}

GroupSource held_out_groups(int count) {
  const auto assets = scenes::Assets::load(scenes::find_assets());
  static const std::vector<std::string> kinds = {"documents", "charts",   "scenes",
                                                 "objects",   "formulas", "hard"};
  scenes::Options options;
  options.questions = scenes::kSuiteQuestions;
  return source_from([=, at = uint64_t{0}, given = 0]() mutable -> std::optional<Made> {
    if (given >= count) return std::nullopt;
    const std::string& kind = kinds[at % kinds.size()];
    scenes::Scene scene = scenes::make(*assets, kind, kHeldOutSeeds + at, options);
    ++at;
    given += static_cast<int>(scene.questions.size());
    return Made{std::move(scene), kind, {}};
  });
}

namespace {

// A thread that runs a few groups ahead of whoever takes them.
class Ahead {
 public:
  explicit Ahead(GroupSource source) : source_(std::move(source)), thread_([this] { make(); }) {}
  ~Ahead() {
    {
      const std::scoped_lock lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  std::optional<Group> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || done_; });
    if (ready_.empty()) {
      if (problem_) std::rethrow_exception(problem_);
      return std::nullopt;
    }
    Group out = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return out;
  }

 private:
  void make() {
    constexpr size_t kAhead = 4;
    try {
      for (;;) {
        std::optional<Group> group = source_();
        std::unique_lock lock(mutex_);
        if (!group) break;
        changed_.wait(lock, [&] { return ready_.size() < kAhead || stop_; });
        if (stop_) break;
        ready_.push_back(std::move(*group));
        changed_.notify_all();
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      problem_ = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  GroupSource source_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Group> ready_;
  std::exception_ptr problem_;
  bool done_ = false, stop_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

GroupSource ahead(GroupSource source) {
  auto running = std::make_shared<Ahead>(std::move(source));
  return [running] { return running->next(); };
}

}  // namespace arrcoc::measuring
