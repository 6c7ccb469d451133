#include "lab/train/real/data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "arrcoc/error.h"
#include "lab/train/real/words.h"

namespace arrcoc::training::real {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<fs::path> files_of(const fs::path& folder, const std::string& begin) {
  std::vector<fs::path> out;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(begin, 0) == 0 && entry.path().extension() == ".jsonl")
      out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

template <class Take>
void each_line(const fs::path& file, const Take& take) {
  std::ifstream in(file);
  if (!in) throw Error(ErrorCode::io, "cannot read " + file.string());
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      take(json::parse(line));
    } catch (const std::exception& why) {
      throw Error(ErrorCode::bad_json,
                  file.string() + ":" + std::to_string(number) + ": " + why.what());
    }
  }
}

Box box_of(const json& b) {
  return {b.at(0).get<float>(), b.at(1).get<float>(), b.at(2).get<float>(), b.at(3).get<float>()};
}

std::vector<Box> boxes_of(const json& line, const char* key) {
  std::vector<Box> out;
  const auto found = line.find(key);
  if (found == line.end() || !found->is_array()) return out;
  for (const json& b : *found)
    if (const Box box = box_of(b); box.area() > 0) out.push_back(box);
  return out;
}

std::string text_of(const json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Item item_of(const json& line) {
  Item item;
  item.id = text_of(line, "id");
  item.question = text_of(line, "question");
  item.answer = lower(text_of(line, "answer"));
  item.kind = text_of(line, "kind");
  item.box_from = text_of(line, "box_from");
  if (const auto found = line.find("answers"); found != line.end() && found->is_array())
    for (const json& answer : *found)
      if (answer.is_string()) item.answers.push_back(lower(answer.get<std::string>()));
  if (item.answers.empty() && !item.answer.empty()) item.answers.push_back(item.answer);
  item.boxes = boxes_of(line, "answer_boxes");
  item.evidence = boxes_of(line, "evidence_boxes");
  return item;
}

Word word_of(const json& w) {
  Word word{box_of(w), w.at(4).get<std::string>(), w.at(5).get<float>(), {}, -1};
  if (w.size() > 6 && w[6].is_array()) word.centres = w[6].get<std::vector<float>>();
  if (w.size() > 7 && w[7].is_number_integer()) word.line = w[7].get<int>();
  if (word.centres.size() != code_points(word.text).size()) spread(word);
  return word;
}

bool about_things(const std::string& kind) {
  return kind == "ref" || kind == "where" || kind == "what" || kind == "count" || kind == "side" ||
         kind == "side_what";
}

std::string without_spaces(const std::string& text) {
  std::string out;
  for (char c : text)
    if (c != ' ') out += c;
  return out;
}

// "coco_31061_where_diningtable" -> "diningtable"; a "what" question's answer is the name itself.
std::string name_of(const Item& item) {
  if (item.kind == "what") return without_spaces(item.answer);
  for (const char* kind : {"_where_", "_count_"})
    if (const size_t at = item.id.rfind(kind); at != std::string::npos)
      return item.id.substr(at + 7);
  return {};
}

// A picture's name decides, so that a larger pack holds the same pictures aside.
bool held_by_name(const std::string& image, double share) {
  uint64_t hash = 1469598103934665603ULL;
  for (char c : image) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return static_cast<double>(mix(hash) >> 11) * 0x1p-53 < share;
}

}  // namespace

std::vector<Folder> folders_of(const std::string& text) {
  std::vector<Folder> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    Folder folder{text.substr(at, end - at), 1};
    if (const size_t colon = folder.path.rfind(':'); colon != std::string::npos) {
      const std::string number = folder.path.substr(colon + 1);
      size_t read = 0;
      try {
        folder.share = std::stod(number, &read);
      } catch (const std::exception&) {
        read = 0;
      }
      if (read == 0 || read != number.size() || !(folder.share > 0) || !std::isfinite(folder.share))
        throw Error(ErrorCode::bad_argument,
                    "data: '" + number + "' in '" + folder.path + "' is no positive share");
      folder.path.resize(colon);
    }
    if (!folder.path.empty()) out.push_back(std::move(folder));
    at = end + 1;
  }
  if (out.empty()) throw Error(ErrorCode::bad_argument, "data: no folder in '" + text + "'");
  return out;
}

std::shared_ptr<const Data> Data::load(const std::vector<Folder>& folders, double held_share,
                                       int64_t remember) {
  auto data = std::make_shared<Data>();
  data->remember_ = remember;
  for (const Folder& folder : folders) {
    if (!files_of(folder.path, "items").empty()) {
      data->add_set(folder.path, folder.share, held_share);
      continue;
    }
    std::vector<std::pair<fs::path, double>> inside;
    double total = 0;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(folder.path, problem))
      if (entry.is_directory() && !files_of(entry.path(), "items").empty()) {
        size_t pictures = 0;
        for ([[maybe_unused]] const auto& p :
             fs::directory_iterator(entry.path() / "images", problem))
          ++pictures;
        inside.emplace_back(entry.path(),
                            std::sqrt(static_cast<double>(std::max<size_t>(1, pictures))));
        total += inside.back().second;
      }
    if (inside.empty())
      throw Error(ErrorCode::not_found,
                  "data: no items.jsonl in '" + folder.path + "' nor in the folders inside it");
    std::sort(inside.begin(), inside.end());
    for (const auto& [path, weight] : inside)
      data->add_set(path.string(), folder.share * weight / total, held_share);
  }
  data->remembered_.resize(data->entries_.size());
  return data;
}

// The files of one folder on their way to entries.
struct Data::Reading {
  fs::path folder;
  std::string set;
  size_t first;                                    // of its entries
  std::map<std::string, size_t> by_image;          // entries
  std::map<std::string, std::vector<Word>> lines;  // of text boxes, where no words are known
  bool says_held = false;
};

void Data::add_item(Reading& reading, const json& line) {
  const std::string image = line.at("image").get<std::string>();
  const auto [found, fresh] = reading.by_image.emplace(image, entries_.size());
  if (fresh) {
    Entry& entry = entries_.emplace_back();
    entry.path = (reading.folder / image).string();
    entry.set = reading.set;
    entry.width = line.at("width").get<int>();
    entry.height = line.at("height").get<int>();
    entry.photo = true;
    entry.digital = reading.set.rfind("pdf", 0) == 0;
    if (entry.width < 1 || entry.height < 1)
      throw std::runtime_error("width and height must be positive");
  }
  Entry& entry = entries_[found->second];
  if (line.contains("held")) {
    reading.says_held = true;
    entry.held = entry.held || line["held"].get<bool>();
  }
  if (line.contains("digital")) entry.digital = line["digital"].get<bool>();
  if (const auto boxes = line.find("text_boxes"); boxes != line.end() && boxes->is_array())
    for (const json& box : *boxes)
      reading.lines[image].push_back(
          {box_of(box.at("box")), box.at("text").get<std::string>(), 0, {}, -1});
  Item item = item_of(line);
  entry.photo = entry.photo && about_things(item.kind);
  if (const std::string name = about_things(item.kind) ? name_of(item) : std::string();
      !name.empty())
    for (const Box& box : item.boxes) entry.names.push_back({box, number_of(name)});
  if (!item.question.empty()) entry.items.push_back(std::move(item));
}

void Data::add_set(const std::string& path, double share, double held_share) {
  const fs::path folder(path);
  Reading reading{folder,
                  (folder.filename().empty() ? folder.parent_path() : folder).filename().string(),
                  entries_.size(),
                  {},
                  {}};
  for (const fs::path& file : files_of(folder, "items"))
    each_line(file, [&](const json& line) { add_item(reading, line); });
  const auto each_known = [&](const char* files, auto&& take) {
    for (const fs::path& file : files_of(folder, files))
      each_line(file, [&](const json& line) {
        const auto found = reading.by_image.find(line.at("image").get<std::string>());
        if (found != reading.by_image.end()) take(entries_[found->second], line);
      });
  };
  each_known("words", [](Entry& entry, const json& line) {
    for (const json& w : line.at("words")) entry.words.push_back(word_of(w));
  });
  // All things of a photograph, where somebody listed them.
  each_known("objects", [this](Entry& entry, const json& line) {
    entry.names.clear();
    for (const json& o : line.at("objects"))
      if (const Box box = box_of(o); box.area() > 0)
        entry.names.push_back({box, number_of(without_spaces(o.at(4).get<std::string>()))});
  });
  if (entries_.size() == reading.first)
    throw Error(ErrorCode::not_found, "data: no questions in '" + path + "'");
  Group group;
  group.share = share;
  for (const auto& [image, i] : reading.by_image) {
    Entry& entry = entries_[i];
    const bool own = !entry.words.empty();
    if (!own) entry.words = words_of_lines(reading.lines[image]);
    arrange(entry.words);
    if (own) tighten(entry.words);
    for (Item& item : entry.items) place_answer(entry.words, item);
    if (!reading.says_held) entry.held = held_by_name(reading.set + "/" + image, held_share);
    if (!entry.held) group.entries.push_back(i);
  }
  std::sort(group.entries.begin(), group.entries.end());  // as the files have them
  if (!group.entries.empty())
    (entries_[reading.first].photo ? photo_ : print_).push_back(std::move(group));
}

int Data::number_of(const std::string& name) {
  const auto known = std::find(names_.begin(), names_.end(), name);
  const int which = static_cast<int>(known - names_.begin());
  if (known == names_.end()) names_.push_back(name);
  return which;
}

double Data::photo_share() const {
  double photos = 0, all = 0;
  for (const Group& g : photo_) photos += g.share;
  for (const Group& g : print_) all += g.share;
  all += photos;
  return all > 0 ? photos / all : 0;
}

const Entry& Data::draw(bool photo, Dice& dice) const {
  const std::vector<Group>& from = groups(photo);
  double total = 0;
  for (const Group& g : from) total += g.share;
  double at = dice.uniform() * total;
  const Group* group = &from.back();
  for (const Group& g : from)
    if ((at -= g.share) < 0) {
      group = &g;
      break;
    }
  const size_t pick =
      group->entries[static_cast<size_t>(dice.below(static_cast<int>(group->entries.size())))];
  return entries_[pick];
}

std::vector<const Entry*> Data::held(bool photo, int each) const {
  std::map<std::string, std::vector<const Entry*>> sets;
  for (const Entry& entry : entries_)
    if (entry.held && entry.photo == photo && !entry.items.empty())
      sets[entry.set].push_back(&entry);
  std::vector<const Entry*> out;
  for (const auto& [set, all] : sets) {
    const size_t count = std::min(all.size(), static_cast<size_t>(std::max(0, each)));
    for (size_t i = 0; i < count; ++i) out.push_back(all[i * all.size() / count]);
  }
  return out;
}

std::shared_ptr<const Pixels> Data::pixels(const Entry& entry) const {
  const size_t index = static_cast<size_t>(&entry - entries_.data());
  {
    const std::scoped_lock lock(mutex_);
    if (remembered_[index]) return remembered_[index];
  }
  auto made = std::make_shared<const Pixels>(decode_file(entry.path));
  if (made->width != entry.width || made->height != entry.height)
    throw Error(ErrorCode::bad_image, entry.path + ": " + std::to_string(made->width) + "x" +
                                          std::to_string(made->height) + " pixels, items say " +
                                          std::to_string(entry.width) + "x" +
                                          std::to_string(entry.height));
  const std::scoped_lock lock(mutex_);
  const auto bytes = static_cast<int64_t>(made->bytes.size());
  if (!remembered_[index] && bytes_ + bytes <= remember_) {
    remembered_[index] = made;
    bytes_ += bytes;
  }
  return made;
}

}  // namespace arrcoc::training::real
