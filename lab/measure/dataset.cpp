#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "arrcoc/error.h"
#include "lab/measure/evaluation.h"

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

Item parse(const std::string& text, const fs::path& folder) {
  const json line = json::parse(text);
  Item item;
  item.image = (folder / line.at("image").get<std::string>()).string();
  item.width = line.at("width").get<int>();
  item.height = line.at("height").get<int>();
  if (item.width < 1 || item.height < 1)
    throw std::runtime_error("width and height must be positive");
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
  return item;
}

}  // namespace

std::vector<Item> load_items(const std::string& folder) {
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
  std::vector<Item> items;
  for (const fs::path& file : files) {
    std::ifstream in(file);
    if (!in) throw Error(ErrorCode::io, "cannot read " + file.string());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      try {
        items.push_back(parse(line, folder));
      } catch (const std::exception& why) {
        throw Error(ErrorCode::bad_json,
                    file.string() + ":" + std::to_string(number) + ": " + why.what());
      }
    }
  }
  if (items.empty()) throw Error(ErrorCode::not_found, "no questions in '" + folder + "'");
  return items;
}

}  // namespace arrcoc::measuring
