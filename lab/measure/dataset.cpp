#include <filesystem>

#include "arrcoc/error.h"
#include "lab/measure/evaluation.h"
#include "lab/measure/gaze.h"
#include "lab/measure/lines.h"
#include "lab/measure/sets.h"

namespace arrcoc::measuring {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::vector<Box> filled_boxes(const Line& line, const char* key) {
  std::vector<Box> out = line.boxes(key);
  for (const Box& box : out)
    if (!(box.x1 > box.x0 && box.y1 > box.y0))
      line.refuse("'" + std::string(key) + "': an empty box");
  return out;
}

// The picture's path and size, of whatever is asked about it.
template <class T>
T about_picture(const Line& line, const fs::path& folder) {
  T item;
  item.image = (folder / line.text("image")).string();
  item.width = line.size("width");
  item.height = line.size("height");
  return item;
}

Item item_of(const Line& line, const fs::path& folder) {
  auto item = about_picture<Item>(line, folder);
  item.question = line.text("question");
  item.id = line.has("id") ? line.text("id") : item.image;
  item.kind = line.text_or_none("kind");
  if (line.has("answer")) item.answer = line.text("answer");
  item.accepted = line.texts("answers");
  if (!item.answer && !item.accepted.empty()) item.answer = item.accepted.front();
  item.answer_boxes = filled_boxes(line, "answer_boxes");
  item.evidence_boxes = filled_boxes(line, "evidence_boxes");
  item.alternate_boxes = filled_boxes(line, "alternate_boxes");
  line.each_text([&](const Box& box, std::string text) {
    if (box.area() > 0) item.texts.push_back({box, std::move(text)});  // else it is no place
  });
  return item;
}

GazeItem gaze_of(const Line& line, const fs::path& folder) {
  auto item = about_picture<GazeItem>(line, folder);
  item.question = line.text_or_none("question");
  line.each("fixations", [&](const json& one, const std::string& key) {
    if (!one.is_array() || one.size() < 2) line.refuse("'" + key + "' must be [x,y]");
    item.fixations.emplace_back(line.number(one[0], key), line.number(one[1], key));
  });
  std::vector<float> scores;
  line.each("gaze_scores", [&](const json& one, const std::string& key) {
    scores.push_back(line.number(one, key));
  });
  const std::vector<Box> looked = filled_boxes(line, "gaze_boxes");
  if (looked.size() != scores.size())
    line.refuse("'gaze_boxes' and 'gaze_scores' are not of one length");
  for (size_t i = 0; i < looked.size(); ++i) item.boxes.push_back({looked[i], scores[i]});
  return item;
}

// Every line of every items*.jsonl, sorted by file name.
void each_item_line(const std::string& folder, const std::function<void(const Line&)>& take) {
  const std::vector<std::string> files = line_files(folder, "items");
  if (files.empty()) throw Error(ErrorCode::not_found, "no items.jsonl in '" + folder + "'");
  for (const std::string& file : files) each_line(file, take);
}

}  // namespace

std::vector<Item> load_items(const std::string& folder) {
  if (const auto set = set_file(folder)) return load_set(*set);
  std::vector<Item> items;
  each_item_line(folder, [&](const Line& line) {
    Item item = item_of(line, folder);
    if (!item.question.empty()) items.push_back(std::move(item));
  });
  if (items.empty()) throw Error(ErrorCode::not_found, "no questions in '" + folder + "'");
  return items;
}

std::vector<GazeItem> load_gaze(const std::string& folder) {
  std::vector<GazeItem> items;
  each_item_line(folder, [&](const Line& line) {
    GazeItem item = gaze_of(line, folder);
    if (!item.fixations.empty() || !item.boxes.empty()) items.push_back(std::move(item));
  });
  if (items.empty())
    throw Error(ErrorCode::not_found,
                "no line in '" + folder + "' says where people looked (fixations or gaze_boxes)");
  return items;
}

}  // namespace arrcoc::measuring
