#include "lab/train/real/counts.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>

namespace arrcoc::training::real {
namespace {

constexpr int kAsks = 2;              // a picture, at most
constexpr float kThere = 0.05F;       // of a thing's box: less of it counts as not shown
constexpr float kWhole = 0.55F;       // less of it leaves unclear whether it counts
constexpr float kSmallest = 0.0012F;  // of the view: smaller things are unclear
constexpr float kKept[] = {0, 0.3F, 0.7F, 1, 1, 1, 1};  // by the answer; larger ones never

struct Kind {
  std::vector<Box> boxes;
  bool unclear = false;
};

std::map<int, Kind> kinds_of(const Entry& entry, const View& view) {
  std::map<int, Kind> out;
  const Box all{0, 0, static_cast<float>(view.width), static_cast<float>(view.height)};
  for (const Name& name : entry.names) {
    const Box whole = view(name.box), seen = intersect(whole, all);
    const float part = whole.area() > 0 ? std::max(0.0F, seen.area()) / whole.area() : 0;
    if (part < kThere) continue;
    Kind& kind = out[name.which];
    if (part < kWhole || seen.area() < kSmallest * all.area()) kind.unclear = true;
    kind.boxes.push_back(seen);
  }
  return out;
}

}  // namespace

std::vector<Ask> count_asks(const Data& data, const Entry& entry, const View& view, Dice& dice) {
  std::vector<Ask> out;
  for (const auto& [which, kind] : kinds_of(entry, view)) {
    const std::span<const std::string> phrases = data.count_phrases(which);
    const size_t count = kind.boxes.size();
    if (kind.unclear || phrases.empty() || count >= std::size(kKept) || !dice.chance(kKept[count]))
      continue;
    std::string question =
        phrases[static_cast<size_t>(dice.below(static_cast<int>(phrases.size())))];
    if (dice.chance(0.15F) && question.back() == '?') question.pop_back();
    Ask ask;
    ask.question = tiny::encode_question(question);
    ask.answer = tiny::encode(std::to_string(count));
    ask.answer_boxes = kind.boxes;
    ask.aim = Aim::object;
    ask.intent = "real.count";
    ask.accepted = {std::to_string(count)};
    if (!ask.question.empty()) out.push_back(std::move(ask));
  }
  while (out.size() > kAsks) out.erase(out.begin() + dice.below(static_cast<int>(out.size())));
  return out;
}

}  // namespace arrcoc::training::real
