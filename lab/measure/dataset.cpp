#include <filesystem>

#include "arrcoc/error.h"
#include "lab/measure/evaluation.h"
#include "lab/measure/lines.h"

namespace arrcoc::measuring {

namespace fs = std::filesystem;

namespace {

std::vector<Box> filled_boxes(const Line& line, const char* key) {
  std::vector<Box> out = line.boxes(key);
  for (const Box& box : out)
    if (!(box.x1 > box.x0 && box.y1 > box.y0))
      line.refuse("'" + std::string(key) + "': an empty box");
  return out;
}

Item item_of(const Line& line, const fs::path& folder) {
  Item item;
  item.image = (folder / line.text("image")).string();
  item.width = line.size("width");
  item.height = line.size("height");
  item.question = line.text("question");
  item.id = line.has("id") ? line.text("id") : item.image;
  item.kind = line.text_or_none("kind");
  if (line.has("answer")) item.answer = line.text("answer");
  item.accepted = line.texts("answers");
  if (!item.answer && !item.accepted.empty()) item.answer = item.accepted.front();
  item.answer_boxes = filled_boxes(line, "answer_boxes");
  item.evidence_boxes = filled_boxes(line, "evidence_boxes");
  item.alternate_boxes = filled_boxes(line, "alternate_boxes");
  return item;
}

}  // namespace

std::vector<Item> load_items(const std::string& folder) {
  const std::vector<std::string> files = line_files(folder, "items");
  if (files.empty()) throw Error(ErrorCode::not_found, "no items.jsonl in '" + folder + "'");
  std::vector<Item> items;
  for (const std::string& file : files)
    each_line(file, [&](const Line& line) {
      Item item = item_of(line, folder);
      if (!item.question.empty()) items.push_back(std::move(item));
    });
  if (items.empty()) throw Error(ErrorCode::not_found, "no questions in '" + folder + "'");
  return items;
}

}  // namespace arrcoc::measuring
