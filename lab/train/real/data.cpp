#include "lab/train/real/data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "arrcoc/error.h"
#include "lab/measure/lines.h"
#include "lab/train/real/words.h"

namespace arrcoc::training::real {
namespace {

namespace fs = std::filesystem;
using measuring::Line;
using nlohmann::json;

Item item_of(const Line& line) {
  Item item;
  item.id = line.text_or_none("id");
  item.question = line.text_or_none("question");
  item.answer = lower(line.text_or_none("answer"));
  item.kind = line.text_or_none("kind");
  item.box_from = line.text_or_none("box_from");
  for (const std::string& answer : line.texts("answers")) item.answers.push_back(lower(answer));
  if (item.answers.empty() && !item.answer.empty()) item.answers.push_back(item.answer);
  item.boxes = line.boxes("answer_boxes");
  item.evidence = line.boxes("evidence_boxes");
  for (auto* boxes : {&item.boxes, &item.evidence})
    std::erase_if(*boxes, [](const Box& box) { return box.area() <= 0; });
  return item;
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

std::vector<Word> text_lines(const Line& line) {
  std::vector<Word> out;
  line.each_text([&](const Box& box, std::string text) {
    out.push_back({box, std::move(text), 0, {}, -1});
  });
  return out;
}

std::vector<Word> words_in(const Line& line) {
  if (!line.has("words")) line.refuse("no 'words'");
  std::vector<Word> out;
  line.each("words", [&](const json& w, const std::string& name) {
    if (!w.is_array() || w.size() < 6)
      line.refuse("'" + name + "' must be [x0,y0,x1,y1,text,confidence,...]");
    Word word{line.box(w, name), line.text(w[4], name), line.number(w[5], name), {}, -1};
    if (w.size() > 6 && w[6].is_array())
      for (const json& x : w[6]) word.centres.push_back(line.number(x, name));
    if (w.size() > 7 && w[7].is_number_integer()) word.line = w[7].get<int>();
    if (word.centres.size() != code_points(word.text).size()) spread(word);
    out.push_back(std::move(word));
  });
  return out;
}

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
    if (!measuring::line_files(folder.path, "items").empty()) {
      data->add_set(folder.path, folder.share, held_share);
      continue;
    }
    std::vector<std::pair<fs::path, double>> inside;
    double total = 0;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(folder.path, problem))
      if (entry.is_directory() && !measuring::line_files(entry.path().string(), "items").empty()) {
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

void Data::add_item(Reading& reading, const Line& line) {
  const std::string image = line.text("image");
  const auto [found, fresh] = reading.by_image.emplace(image, entries_.size());
  if (fresh) {
    Entry& entry = entries_.emplace_back();
    entry.path = (reading.folder / image).string();
    entry.set = reading.set;
    entry.width = line.size("width");
    entry.height = line.size("height");
    entry.photo = true;
    entry.digital = reading.set.rfind("pdf", 0) == 0;
  }
  Entry& entry = entries_[found->second];
  if (line.has("held")) {
    reading.says_held = true;
    entry.held = line.flag("held") || entry.held;
  }
  if (line.has("digital")) entry.digital = line.flag("digital");
  for (Word& word : text_lines(line)) reading.lines[image].push_back(std::move(word));
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
  for (const std::string& file : measuring::line_files(path, "items"))
    measuring::each_line(file, [&](const Line& line) { add_item(reading, line); });
  const auto each_known = [&](const char* files, auto&& take) {
    for (const std::string& file : measuring::line_files(path, files))
      measuring::each_line(file, [&](const Line& line) {
        const auto found = reading.by_image.find(line.text("image"));
        if (found != reading.by_image.end()) take(entries_[found->second], line);
      });
  };
  each_known("words", [](Entry& entry, const Line& line) {
    for (Word& word : words_in(line)) entry.words.push_back(std::move(word));
  });
  // All things of a photograph, where somebody listed them.
  each_known("objects", [this](Entry& entry, const Line& line) {
    entry.names.clear();
    entry.listed = true;
    line.each("objects", [&](const json& o, const std::string& name) {
      const Box box = line.box(o, name);
      if (o.size() < 5) line.refuse("'" + name + "' must be [x0,y0,x1,y1,name]");
      const std::string thing = without_spaces(line.text(o[4], name));
      if (box.area() > 0) entry.names.push_back({box, number_of(thing)});
    });
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
    if (entry.held) continue;
    group.entries.push_back(i);
    add_count_phrases(entry);
  }
  std::sort(group.entries.begin(), group.entries.end());  // as the files have them
  if (!group.entries.empty())
    (entries_[reading.first].photo ? photo_ : print_).push_back(std::move(group));
}

void Data::add_count_phrases(const Entry& entry) {
  for (const Item& item : entry.items) {
    const std::string name = item.kind == "count" ? name_of(item) : std::string();
    if (name.empty()) continue;
    const auto which = static_cast<size_t>(number_of(name));
    if (count_phrases_.size() <= which) count_phrases_.resize(which + 1);
    std::vector<std::string>& known = count_phrases_[which];
    if (std::find(known.begin(), known.end(), item.question) == known.end())
      known.push_back(item.question);
  }
}

std::span<const std::string> Data::count_phrases(int which) const {
  const auto at = static_cast<size_t>(which);
  return at < count_phrases_.size() ? std::span(count_phrases_[at])
                                    : std::span<const std::string>();
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
    if (entry.held && entry.photo == photo && (!entry.items.empty() || entry.words.size() > 1))
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
