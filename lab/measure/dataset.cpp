#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "arrcoc/error.h"
#include "lab/measure/evaluation.h"
#include "lab/measure/gaze.h"

namespace arrcoc::measuring {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::vector<Box> boxes(const json& line, const char* key) {
  std::vector<Box> out;
  auto found = line.find(key);
  if (found == line.end() || found->is_null()) return out;
  for (const json& b : *found) {
    const Box box{b.at(0).get<float>(), b.at(1).get<float>(), b.at(2).get<float>(),
                  b.at(3).get<float>()};
    if (!(box.x1 > box.x0 && box.y1 > box.y0)) throw std::runtime_error("an empty box");
    out.push_back(box);
  }
  return out;
}

// Those without an area are no place and are left out.
std::vector<Text> texts(const json& line) {
  std::vector<Text> out;
  const auto found = line.find("text_boxes");
  if (found == line.end() || found->is_null()) return out;
  for (const json& one : *found) {
    const json& b = one.at("box");
    const Box box{b.at(0).get<float>(), b.at(1).get<float>(), b.at(2).get<float>(),
                  b.at(3).get<float>()};
    if (box.area() > 0) out.push_back({box, one.at("text").get<std::string>()});
  }
  return out;
}

std::pair<int, int> size_of(const json& line) {
  const std::pair<int, int> size{line.at("width").get<int>(), line.at("height").get<int>()};
  if (size.first < 1 || size.second < 1)
    throw std::runtime_error("width and height must be positive");
  return size;
}

Item parse(const std::string& text, const fs::path& folder) {
  const json line = json::parse(text);
  Item item;
  item.image = (folder / line.at("image").get<std::string>()).string();
  std::tie(item.width, item.height) = size_of(line);
  if (!line.contains("question")) throw std::runtime_error("no question");
  item.question = line["question"].get<std::string>();
  item.id = line.value("id", item.image);
  item.kind = line.value("kind", "");
  if (line.contains("answer") && line["answer"].is_string()) {
    item.answer = line["answer"].get<std::string>();
  }
  if (const auto all = line.find("answers"); all != line.end() && all->is_array())
    for (const json& one : *all) item.accepted.push_back(one.get<std::string>());
  if (!item.answer && !item.accepted.empty()) item.answer = item.accepted.front();
  item.answer_boxes = boxes(line, "answer_boxes");
  item.evidence_boxes = boxes(line, "evidence_boxes");
  item.alternate_boxes = boxes(line, "alternate_boxes");
  item.texts = texts(line);
  return item;
}

GazeItem parse_gaze(const std::string& text, const fs::path& folder) {
  const json line = json::parse(text);
  GazeItem item;
  item.image = (folder / line.at("image").get<std::string>()).string();
  std::tie(item.width, item.height) = size_of(line);
  item.question = line.value("question", "");
  for (const json& one : line.value("fixations", json::array()))
    item.fixations.emplace_back(one.at(0).get<float>(), one.at(1).get<float>());
  const std::vector<Box> looked = boxes(line, "gaze_boxes");
  const auto scores = line.value("gaze_scores", std::vector<float>{});
  if (looked.size() != scores.size())
    throw std::runtime_error("gaze_boxes and gaze_scores are not of one length");
  for (size_t i = 0; i < looked.size(); ++i) item.boxes.push_back({looked[i], scores[i]});
  return item;
}

// Calls take(line) for every line of every items*.jsonl, sorted by file name.
template <class Take>
void for_each_line(const std::string& folder, const Take& take) {
  std::vector<fs::path> files;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("items", 0) == 0 && entry.path().extension() == ".jsonl") {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    throw Error(ErrorCode::not_found, "no items.jsonl in '" + folder + "'");
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::ifstream in(file);
    if (!in) throw Error(ErrorCode::io, "cannot read " + file.string());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      try {
        take(line);
      } catch (const std::exception& why) {
        throw Error(ErrorCode::bad_json,
                    file.string() + ":" + std::to_string(number) + ": " + why.what());
      }
    }
  }
}

}  // namespace

std::vector<Item> load_items(const std::string& folder) {
  std::vector<Item> items;
  for_each_line(folder, [&](const std::string& line) { items.push_back(parse(line, folder)); });
  if (items.empty()) throw Error(ErrorCode::not_found, "no questions in '" + folder + "'");
  return items;
}

std::vector<GazeItem> load_gaze(const std::string& folder) {
  std::vector<GazeItem> items;
  for_each_line(folder, [&](const std::string& line) {
    GazeItem item = parse_gaze(line, folder);
    if (!item.fixations.empty() || !item.boxes.empty()) items.push_back(std::move(item));
  });
  if (items.empty())
    throw Error(ErrorCode::not_found,
                "no line in '" + folder + "' says where people looked (fixations or gaze_boxes)");
  return items;
}

}  // namespace arrcoc::measuring
