#include <fstream>

#include "arrcoc/error.h"
#include "lab/scenes/scenes.h"
#include "lab/scenes/texts.h"

namespace arrcoc::scenes {
namespace {

struct Record {
  WrittenText text;
  WrittenTable table;
};

Row split(const std::string& line) {
  Row fields(1);
  for (const char c : line)
    if (c == '\t')
      fields.emplace_back();
    else
      fields.back() += c;
  return fields;
}

size_t whole_number(const std::string& text) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
    throw Error(ErrorCode::bad_json, "'" + text + "' is no whole number");
  return std::stoul(text);
}

void need(bool holds, const char* what) {
  if (!holds) throw Error(ErrorCode::bad_json, what);
}

// Adds a line to the record that is open.
void add(Record& record, const Row& fields) {
  const std::string& letter = fields[0];
  if (letter == "P") {
    need(fields.size() == 2, "P takes one text");
    need(record.text.text.empty(), "a title has one text");
    record.text.text = fields[1];
  } else if (letter == "Q") {
    need(fields.size() == 4 && !fields[1].empty() && !fields[2].empty(),
         "Q takes question, answer and place");
    const size_t at = whole_number(fields[3]);
    need(at <= record.text.text.size() &&
             record.text.text.compare(at, fields[2].size(), fields[2]) == 0,
         "the answer does not stand at its place");
    record.text.asked.push_back({fields[1], fields[2], at});
  } else if (letter == "H") {
    need(fields.size() > 2, "H takes two heads or more");
    need(record.table.heads.empty(), "a title has one row of heads");
    record.table.heads.assign(fields.begin() + 1, fields.end());
  } else if (letter == "R") {
    need(!record.table.heads.empty() && fields.size() == record.table.heads.size() + 1,
         "R takes as many cells as there are heads");
    record.table.rows.emplace_back(fields.begin() + 1, fields.end());
  } else if (letter == "A") {
    need(fields.size() == 4 && !fields[1].empty(), "A takes question, row and column");
    const size_t row = whole_number(fields[2]), column = whole_number(fields[3]);
    need(row < record.table.rows.size() && column < record.table.heads.size(),
         "there is no such cell");
    record.table.asked.push_back({fields[1], row, column});
  } else {
    throw Error(ErrorCode::bad_json, "'" + letter + "' is none of T P Q H R A");
  }
}

}  // namespace

std::shared_ptr<const Texts> load_texts(const std::string& path, bool held) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::not_found, path + ": cannot be read");
  auto all = std::make_shared<Texts>();
  Record record;
  size_t number = 0, records = 0;
  auto close = [&] {
    if (records > 0 && (records % 16 == 0) == held) {
      if (!record.text.asked.empty()) all->texts.push_back(std::move(record.text));
      if (!record.table.asked.empty()) all->tables.push_back(std::move(record.table));
    }
    record = {};
    ++records;
  };
  for (std::string line; std::getline(file, line);) {
    ++number;
    const Row fields = split(line);
    try {
      need(number > 1 || fields[0] == "T", "the first line begins with T");
      if (fields[0] == "T") {
        need(fields.size() == 2, "T takes one title");
        close();
        record.text.title = record.table.title = fields[1];
      } else {
        add(record, fields);
      }
    } catch (const Error& error) {
      throw Error(ErrorCode::bad_json, path + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  close();
  return all;
}

}  // namespace arrcoc::scenes
