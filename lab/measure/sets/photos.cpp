// TextVQA, VQAv2 and GQA.
#include <filesystem>
#include <unordered_map>

#include "arrcoc/error.h"
#include "lab/measure/sets/files.h"

namespace arrcoc::measuring::sets {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// Of ten people.
void answered_by(std::vector<std::string> people, Item& item) {
  if (people.empty()) return;
  item.answer = most_common(people);
  item.accepted = std::move(people);
}

// v2_OpenEnded_mscoco_val2014_questions.json -> v2_mscoco_val2014_annotations.json beside it.
std::string annotations_of(const SetFile& file) {
  if (const std::string given = file.part("annotations"); !given.empty()) return given;
  std::string name = fs::path(file.file).filename().string();
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"OpenEnded_", ""}, {"questions", "annotations"}})
    if (const size_t at = name.find(from); at != std::string::npos)
      name.replace(at, from.size(), to);
  const fs::path beside = fs::path(file.file).parent_path() / name;
  std::error_code ignored;
  if (beside == fs::path(file.file) || !fs::exists(beside, ignored))
    throw Error(ErrorCode::not_found,
                file.file + ": its answers are in a file of their own; say annotations=FILE");
  return beside.string();
}

struct Annotation {
  std::string kind;
  std::vector<std::string> people;
};

std::unordered_map<std::string, Annotation> annotations(const std::string& file) {
  std::unordered_map<std::string, Annotation> out;
  const json all = whole(file);
  each_entry(file, list_in(file, all, "annotations"), "annotations", [&](const Line& line) {
    Annotation& one = out[name_in(line, "question_id")];
    one.kind = word_in(line, "answer_type");
    line.each("answers", [&](const json& value, const std::string& key) {
      if (!value.is_object() || !value.contains("answer"))
        line.refuse("'" + key + "' must have an 'answer'");
      one.people.push_back(line.text(value["answer"], key + ".answer"));
    });
  });
  return out;
}

// COCO_val2014_000000262148.jpg
std::string coco_name(const std::string& split, const std::string& number) {
  const std::string zeros(12 - std::min<size_t>(12, number.size()), '0');
  return "COCO_" + split + "_" + zeros + number + ".jpg";
}

}  // namespace

// {"data": [{"question_id", "question", "image_id", "answers": [ten texts]}, ...]}
std::vector<Item> textvqa(const SetFile& file) {
  std::vector<Item> out;
  const json all = whole(file.file);
  each_entry(file.file, list_in(file.file, all, "data"), "data", [&](const Line& line) {
    Item item;
    item.id = name_in(line, "question_id");
    item.question = line.text("question");
    item.image = name_in(line, "image_id");
    answered_by(line.texts("answers"), item);
    item.metric = Metric::textvqa;
    item.after = kBriefly;
    out.push_back(std::move(item));
  });
  return out;
}

// {"data_subtype": "val2014", "questions": [{"image_id", "question", "question_id"}, ...]} and
// {"annotations": [{"question_id", "answer_type", "answers": [{"answer"}, ...]}, ...]}.
std::vector<Item> vqav2(const SetFile& file) {
  const json all = whole(file.file);
  const json& questions = list_in(file.file, all, "questions");
  const Line about(file.file, json{{"data_subtype", all.value("data_subtype", json())}});
  const std::string split = about.text("data_subtype");
  const std::string answers = annotations_of(file);
  auto known = annotations(answers);
  std::vector<Item> out;
  each_entry(file.file, questions, "questions", [&](const Line& line) {
    Item item;
    item.id = name_in(line, "question_id");
    item.question = line.text("question");
    item.image = coco_name(split, name_in(line, "image_id"));
    const auto found = known.find(item.id);
    if (found == known.end()) line.refuse("question " + item.id + " is not in " + answers);
    item.kind = found->second.kind;
    answered_by(std::move(found->second.people), item);
    item.metric = Metric::vqa;
    item.after = kBriefly;
    out.push_back(std::move(item));
  });
  return out;
}

// {"ID": {"imageId", "question", "answer", "types": {"structural"}}, ...}
std::vector<Item> gqa(const SetFile& file) {
  const json all = whole(file.file);
  if (!all.is_object())
    throw Error(ErrorCode::bad_json, file.file + ": it must be an object of questions");
  std::vector<Item> out;
  for (const auto& [id, entry] : all.items()) {
    const Line line(file.file + ": " + id, entry);
    Item item;
    item.id = id;
    item.question = line.text("question");
    item.image = line.text("imageId");
    if (line.has("answer")) item.answer = line.text("answer");
    if (line.has("types") && entry["types"].is_object())
      item.kind = word_in(Line(file.file + ": " + id + ".types", entry["types"]), "structural");
    item.metric = Metric::gqa;
    item.after = kBriefly;
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace arrcoc::measuring::sets
