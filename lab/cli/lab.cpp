#include "lab/cli/lab.h"

#include <algorithm>
#include <filesystem>

#include "arrcoc/error.h"

namespace arrcoc::cli {

using measuring::Group;
using measuring::Item;

const baselines::Askers& askers() {
  static const baselines::Askers all(bundle());
  return all;
}

namespace {

// A picture's text may stand on one of its lines alone.
void share_texts(Group& group) {
  std::vector<measuring::Text> known;
  for (const auto& one : group.cases)
    if (known.empty()) known = one.item.texts;
  for (auto& one : group.cases)
    if (one.item.texts.empty()) one.item.texts = known;
}

}  // namespace

QuestionFolder open_folder(const std::string& folder, int limit, int first) {
  auto items = std::make_shared<std::vector<Item>>(measuring::load_items(folder));
  QuestionFolder out;
  out.answers = std::any_of(items->begin(), items->end(),
                            [](const Item& item) { return item.answer.has_value(); });
  if (limit > 0 && items->size() > static_cast<size_t>(limit)) items->resize(limit);
  out.questions = items->size();
  std::stable_sort(items->begin(), items->end(),
                   [](const Item& a, const Item& b) { return a.image < b.image; });
  out.groups = [=, at = size_t{0}, number = first]() mutable -> std::optional<Group> {
    if (at >= items->size()) return std::nullopt;
    Group group;
    group.number = number++;
    group.suite = folder;
    const std::string image = (*items)[at].image;
    group.picture = media::load(image);
    for (; at < items->size() && (*items)[at].image == image; ++at) {
      const Item& item = (*items)[at];
      if (group.picture.width() != item.width || group.picture.height() != item.height)
        throw Error(ErrorCode::bad_image, image + " is " + std::to_string(group.picture.width()) +
                                              "x" + std::to_string(group.picture.height()) +
                                              ", its line says otherwise");
      group.cases.push_back({item, std::nullopt, ""});
    }
    share_texts(group);
    return group;
  };
  return out;
}

void require_effect(const OptionFlags& flags, const std::vector<AskOptions>& options) {
  std::optional<Error> first;
  for (const AskOptions& one : options) {
    try {
      flags.require_effect(one);
      return;
    } catch (const Error& problem) {
      if (!first) first = problem;
    }
  }
  if (first) throw *first;
}

json given_fields(const OptionFlags& flags) {
  json out = json::parse(to_json(flags.options(AskOptions{}.policy)));
  for (auto field = out.begin(); field != out.end();)
    field =
        flags.given(field.key()) && field.key() != "policy" ? std::next(field) : out.erase(field);
  return out;
}

void write_text(const std::string& path, const std::string& text) {
  media::write_file(path, std::vector<uint8_t>(text.begin(), text.end()));
}

std::string leaf_name(const std::string& folder) {
  const std::filesystem::path path(folder);
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::string signed_fixed(double value, int digits) {
  return (value < 0 ? "" : "+") + fixed(value, digits);
}

}  // namespace arrcoc::cli
