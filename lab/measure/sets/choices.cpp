// V*Bench and HR-Bench: questions with options.
#include <algorithm>
#include <fstream>
#include <map>
#include <unordered_map>

#include "arrcoc/error.h"
#include "base/text.h"
#include "lab/measure/sets/files.h"

namespace arrcoc::measuring::sets {

namespace {

// The right one is a letter; the option's own words are right as well.
void choose(const std::string& letter, const std::function<void(const std::string&)>& refuse,
            Item& item) {
  const size_t at = letter.size() == 1 ? static_cast<size_t>(letter[0] - 'A') : item.options.size();
  if (at >= item.options.size() || item.options[at].empty())
    refuse("'" + letter + "' is none of the options");
  item.answer = letter;
  item.accepted = {item.options[at]};
  item.metric = Metric::choice;
}

// "What is it?\n(A) red\n(B) blue\nAnswer with the letter." -> what is asked, and the options.
void split_options(const std::string& text, Item& item) {
  const size_t first = text.find("(A)");
  item.question = std::string(text::strip(text.substr(0, first), " \n\r\t"));
  item.after = first == std::string::npos ? "" : "\n" + text.substr(first);
  for (char letter = 'A'; letter <= 'Z'; ++letter) {
    const std::string mark = std::string("(") + letter + ")";
    const size_t at = text.find(mark);
    if (at == std::string::npos) break;
    const size_t begin = at + mark.size();
    const size_t next = text.find(std::string("(") + static_cast<char>(letter + 1) + ")", begin);
    const size_t end = std::min({text.find('\n', begin), next, text.size()});
    item.options.emplace_back(text::strip(text.substr(begin, end - begin), " \n\r\t"));
  }
}

// One field of a table: its text, and where it stands in the file.
struct Field {
  std::string text;
  Embedded place;
};
using Row = std::map<std::string, Field>;

// Tabs between fields; a field in quotes may hold tabs, line ends and doubled quotes.
class Table {
 public:
  explicit Table(const std::string& file) : file_(file), in_(file, std::ios::binary) {
    if (!in_) throw Error(ErrorCode::not_found, file + ": cannot be read");
    for (Field& field : fields()) names_.push_back(std::move(field.text));
  }
  bool next(Row& row) {
    row.clear();
    std::vector<Field> all = fields();
    if (all.empty()) return false;
    if (all.size() != names_.size())
      refuse("a row of " + std::to_string(all.size()) + " fields, the heading has " +
             std::to_string(names_.size()));
    for (size_t i = 0; i < all.size(); ++i) row[names_[i]] = std::move(all[i]);
    return true;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::bad_json, file_ + ":" + std::to_string(line_) + ": " + why);
  }

 private:
  // Of the next row that is not blank; none at the end.
  std::vector<Field> fields() {
    std::string text;
    int64_t begin = 0;
    do {
      begin = at_;
      if (!line(text)) return {};
    } while (text::strip(text, " \r\t").empty());
    std::vector<Field> out;
    size_t i = 0;
    do {
      Field field;
      const bool quoted = i < text.size() && text[i] == '"';
      if (quoted) ++i;
      field.place.at = begin + static_cast<int64_t>(i);
      if (!quoted) {
        const size_t end = std::min(text.find('\t', i), text.size());
        field.text = text.substr(i, end - i);
        i = end;
      } else {
        i = unquote(text, i, field.text);
      }
      field.place.length = static_cast<int64_t>(field.text.size());
      out.push_back(std::move(field));
    } while (i++ < text.size());
    return out;
  }

  // From behind the first quote to behind the last; rows go on where a line ends inside.
  size_t unquote(std::string& text, size_t i, std::string& to) {
    for (;; ++i) {
      if (i == text.size()) {
        std::string more;
        if (!line(more)) refuse("a quote that does not end");
        if (cut_) text += '\r';  // it belongs to the text, and places are counted with it
        text += "\n" + more;
      }
      if (text[i] != '"') {
        to += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        to += text[i++];
      } else {
        break;
      }
    }
    if (i + 1 < text.size() && text[i + 1] != '\t') refuse("text behind a quote");
    return i + 1;
  }

  bool line(std::string& text) {
    if (!std::getline(in_, text)) return false;
    ++line_;
    at_ += static_cast<int64_t>(text.size()) + 1;
    cut_ = !text.empty() && text.back() == '\r';
    if (cut_) text.pop_back();
    return true;
  }

  std::string file_;
  std::ifstream in_;
  std::vector<std::string> names_;
  int64_t at_ = 0;
  bool cut_ = false;  // the line last read ended in \r
  int line_ = 0;
};

constexpr size_t kName = 64;  // a shorter `image` names a file, or another row's picture
constexpr size_t kPath = 256;

// Rows with the same picture (the permutations of one question) share its name.
class Pictures {
 public:
  Pictures(std::string file, const Table& table) : file_(std::move(file)), table_(table) {}
  void put(const Field& image, const std::string& index, Item& item) {
    const std::string& text = image.text;
    if (text.empty()) table_.refuse("no 'image'");
    if (text.size() <= kName && text.find_first_not_of("0123456789") == std::string::npos) {
      const auto found = by_row_.find(text);
      if (found == by_row_.end()) table_.refuse("'image' " + text + " is no row before this one");
      std::tie(item.image, item.embedded) = found->second;
    } else if (text.size() <= kPath && text.find('.') != std::string::npos) {
      item.image = text;
      return;
    } else {
      const auto [known, fresh] = by_text_.try_emplace(
          {text.size(), std::hash<std::string>{}(text)}, file_ + "#" + index, image.place);
      std::tie(item.image, item.embedded) = known->second;
    }
    by_row_[index] = {item.image, *item.embedded};
  }

 private:
  using Known = std::pair<std::string, Embedded>;
  std::string file_;
  const Table& table_;
  std::unordered_map<std::string, Known> by_row_;
  std::map<std::pair<size_t, size_t>, Known> by_text_;
};

}  // namespace

// {"image", "text", "category", "label", "question_id"} a line.
std::vector<Item> vstar(const SetFile& file) {
  std::vector<Item> out;
  each_line(file.file, [&](const Line& line) {
    Item item;
    item.id = line.has("question_id") ? name_in(line, "question_id") : std::to_string(out.size());
    item.image = line.text("image");
    item.kind = word_in(line, "category");
    split_options(line.text("text"), item);
    choose(
        line.text("label"), [&](const std::string& why) { line.refuse("'label': " + why); }, item);
    out.push_back(std::move(item));
  });
  return out;
}

// index, question, A to D, answer, category, cycle_category and image, in the heading's order.
std::vector<Item> hrbench(const SetFile& file) {
  Table table(file.file);
  Pictures pictures(file.file, table);
  std::vector<Item> out;
  for (Row row; table.next(row);) {
    const auto field = [&](const char* key) -> const Field& {
      const auto found = row.find(key);
      if (found == row.end()) table.refuse("no column '" + std::string(key) + "'");
      return found->second;
    };
    Item item;
    item.id = field("index").text;
    item.question = std::string(text::strip(field("question").text, " \n\r\t"));
    item.kind = field("category").text;
    for (char letter = 'A'; letter <= 'Z' && row.count(std::string(1, letter)) > 0; ++letter) {
      item.options.push_back(row[std::string(1, letter)].text);
      if (!item.options.back().empty())
        item.after += std::string("\n") + letter + ". " + item.options.back();
    }
    item.after += "\nAnswer the option letter directly.";
    choose(
        field("answer").text, [&](const std::string& why) { table.refuse("'answer': " + why); },
        item);
    pictures.put(field("image"), item.id, item);
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace arrcoc::measuring::sets
