// DocVQA, InfographicVQA and ChartQA.
#include <filesystem>

#include "lab/measure/sets/files.h"

namespace arrcoc::measuring::sets {

namespace {

// {"data": [{"questionId", "question", "answers": [...], IMAGE, "question_types": [...]}, ...]}.
// The test split has no answers.
std::vector<Item> of_challenge(const SetFile& file, const char* image) {
  std::vector<Item> out;
  const auto all = whole(file.file);
  each_entry(file.file, list_in(file.file, all, "data"), "data", [&](const Line& line) {
    Item item;
    item.id = name_in(line, "questionId");
    item.question = line.text("question");
    item.image = line.text(image);
    item.accepted = line.texts("answers");
    if (!item.accepted.empty()) item.answer = item.accepted.front();
    if (const auto kinds = line.texts("question_types"); !kinds.empty()) item.kind = kinds.front();
    item.metric = Metric::anls;
    item.after = kBriefly;
    out.push_back(std::move(item));
  });
  return out;
}

}  // namespace

std::vector<Item> docvqa(const SetFile& file) { return of_challenge(file, "image"); }

std::vector<Item> infographicvqa(const SetFile& file) {
  return of_challenge(file, "image_local_name");
}

// [{"imgname", "query", "label"}, ...]; who asked is in the file's name.
std::vector<Item> chartqa(const SetFile& file) {
  const std::string name = std::filesystem::path(file.file).filename().string();
  const bool human = name.find("human") != std::string::npos;
  const bool augmented = name.find("augmented") != std::string::npos;
  std::vector<Item> out;
  each_entry(file.file, whole(file.file), "", [&](const Line& line) {
    Item item;
    item.id = std::to_string(out.size());
    item.question = line.text("query");
    item.image = line.text("imgname");
    item.answer = line.text("label");
    item.kind = human ? "human" : augmented ? "augmented" : "";
    item.metric = Metric::relaxed;
    item.after = kBriefly;
    out.push_back(std::move(item));
  });
  return out;
}

}  // namespace arrcoc::measuring::sets
