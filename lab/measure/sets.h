// Published sets of questions in the files that their authors publish, each with its own metric.
//
//   arrcoc eval --data docvqa:val_v1.0.json,images=DIR
//
// One line of sets/strategies.cpp a set: which keys may follow the file, where its pictures lie
// unless `images` says, and what reads the file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arrcoc/registry.h"
#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {

// "NAME:FILE,KEY=VALUE,...".
struct SetFile {
  std::string name, file;
  std::map<std::string, std::string> parts;
  std::string part(const std::string& key) const;  // "": not given
};

struct QuestionSet {
  static constexpr const char* kStage = "data set";
  std::vector<std::string> keys;     // of SetFile::parts
  std::vector<std::string> places;   // of the pictures, from the file's folder
  std::vector<std::string> endings;  // that Item::image may lack
  // Item::image is relative to wherever the pictures are. Error{bad_json, not_found}.
  std::vector<Item> (*load)(const SetFile& file) = nullptr;
};

}  // namespace arrcoc::measuring

namespace arrcoc {
template <>
Registry<measuring::QuestionSet>& registry<measuring::QuestionSet>();
}

namespace arrcoc::measuring {

// What --data means; none: a folder. Error{bad_argument, not_found} for a set or a key that nobody
// knows.
std::optional<SetFile> set_file(const std::string& data);
// With the pictures' paths. Error{not_found} also when the first picture is nowhere.
std::vector<Item> load_set(const SetFile& file);

namespace sets {

// Each is described where it is.
std::vector<Item> docvqa(const SetFile& file);
std::vector<Item> infographicvqa(const SetFile& file);
std::vector<Item> chartqa(const SetFile& file);
std::vector<Item> textvqa(const SetFile& file);
std::vector<Item> vqav2(const SetFile& file);
std::vector<Item> gqa(const SetFile& file);
std::vector<Item> refcoco(const SetFile& file);
std::vector<Item> vstar(const SetFile& file);
std::vector<Item> hrbench(const SetFile& file);
std::vector<Item> msrvtt(const SetFile& file);

}  // namespace sets
}  // namespace arrcoc::measuring
