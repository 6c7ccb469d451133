#include "lab/cli/lab.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "arrcoc/error.h"
#include "base/base64.h"
#include "lab/measure/sets.h"

namespace arrcoc::cli {

using measuring::Group;
using measuring::Item;

namespace {

std::optional<baselines::ModelSource>& model_source() {
  static std::optional<baselines::ModelSource> source;
  return source;
}

}  // namespace

void ask_model(const baselines::ModelSource& source) { model_source() = source; }

const baselines::Askers& askers() {
  static const auto all = [] {
    const auto& source = model_source();
    if (!source) return std::make_unique<const baselines::Askers>(bundle());
    return std::make_unique<const baselines::Askers>(find_bundle().empty() ? nullptr : bundle(),
                                                     *source);
  }();
  return *all;
}

void forget_places(const AskOptions& options, std::vector<measuring::Record>& records) {
  if (!model_source() || baselines::way_of(options.policy, ReadMode::prune).reduction.empty())
    return;
  const measuring::Record none;
  for (measuring::Record& r : records) {
    r.boxes = none.boxes;
    r.recall = r.lenient = none.recall;
    r.lift = none.lift;
    r.overlap = none.overlap;
    r.qc3 = none.qc3;
    r.pointed = r.box_hit = false;
    r.density.clear();
    if (r.cause) r.cause = cause_of(r);
  }
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

// From inside the file of questions.
Picture embedded_picture(const Item& item) {
  std::ifstream in(item.image.substr(0, item.image.rfind('#')), std::ios::binary);
  std::string text(static_cast<size_t>(item.embedded->length), '\0');
  in.seekg(item.embedded->at);
  in.read(text.data(), item.embedded->length);
  if (!in) throw Error(ErrorCode::io, item.image + ": cannot be read");
  try {
    return media::decode(from_base64(text), item.image);
  } catch (const Error& problem) {
    if (problem.code() != ErrorCode::bad_argument) throw;
    throw Error(ErrorCode::bad_image, item.image + ": 'image' is neither base64 nor a file");
  }
}

// So many frames of a film, evenly spread; all of a shorter one.
std::vector<Picture> film_frames(const std::string& path, int count) {
  int64_t all = 0;
  for (media::Video film = media::Video::open(path); film.read();) ++all;
  std::vector<Picture> out;
  media::Video film = media::Video::open(path);
  for (int64_t i = 0; const auto frame = film.read(); ++i) {
    const auto wanted = static_cast<int64_t>(out.size());
    if (i < (2 * wanted + 1) * all / (2 * count) || wanted == count) continue;
    if (frame->broken().empty()) out.push_back(frame->picture());
  }
  if (out.empty()) throw Error(ErrorCode::bad_image, path + ": no frame of it can be read");
  return out;
}

void show(const Item& item, Group& group) {
  if (item.frames > 0) {
    group.frames = film_frames(item.image, item.frames);
    group.picture = group.frames.front();
  } else {
    group.picture = item.embedded ? embedded_picture(item) : media::load(item.image);
  }
}

}  // namespace

QuestionFolder open_data(const std::string& data, int limit, int first) {
  auto items = std::make_shared<std::vector<Item>>(measuring::load_items(data));
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
    group.suite = data;
    const std::string image = (*items)[at].image;
    show((*items)[at], group);
    for (; at < items->size() && (*items)[at].image == image; ++at) {
      Item item = (*items)[at];
      if (item.width == 0) {
        item.width = group.picture.width();
        item.height = group.picture.height();
      }
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
  const std::string set = folder.substr(0, folder.find(':'));
  if (set.size() < folder.size() && registry<measuring::QuestionSet>().has(set)) return set;
  const std::filesystem::path path(folder);
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::string signed_fixed(double value, int digits) {
  return (value < 0 ? "" : "+") + fixed(value, digits);
}

}  // namespace arrcoc::cli
