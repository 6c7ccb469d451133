// Any bytes are the lines of a folder of questions or an Error, for measuring and for training; and
// so they are the files of every published set, whose metrics take any answer.
// Input: items.jsonl, words.jsonl, objects.jsonl, and a set's file with the one beside it
// (annotations, instances), with a byte 0x1e between them.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "arrcoc/error.h"
#include "lab/measure/evaluation.h"
#include "lab/measure/gaze.h"
#include "lab/measure/sets.h"
#include "lab/train/real/data.h"

namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::path("/dev/shm") / ("arrcoc_fuzz_items_" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

void quietly(const auto& read) {
  try {
    read();
  } catch (const arrcoc::Error&) {
  }
}

// The questions before their pictures are looked for: there are none.
void read_set(const std::string& name, const std::string& file, const std::string& beside) {
  using namespace arrcoc::measuring;
  SetFile from{name, file, {}};
  for (const char* key : {"annotations", "instances"}) from.parts[key] = beside;
  for (const Item& item : arrcoc::registry<QuestionSet>().make(name)->load(from))
    for (const std::string& given : {item.question, item.answer.value_or("")}) {
      const double value = score(item, given);
      if (!(value >= 0 && value <= 1)) __builtin_trap();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (const char* name :
       {"items.jsonl", "words.jsonl", "objects.jsonl", "set.json", "beside.json"}) {
    const size_t end = std::min(rest.find('\x1e'), rest.size());
    std::ofstream(folder.path / name, std::ios::binary) << rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::string path = folder.path.string();
  quietly([&] { arrcoc::measuring::load_items(path); });
  quietly([&] { arrcoc::measuring::load_gaze(path); });
  using arrcoc::measuring::QuestionSet;
  for (const auto& [name, summary] : arrcoc::registry<QuestionSet>().list())
    quietly([&, set = name] { read_set(set, path + "/set.json", path + "/beside.json"); });
  std::filesystem::rename(folder.path / "set.json", folder.path / "set.jsonl");
  quietly([&] { read_set("refcoco", path + "/set.jsonl", ""); });
  std::filesystem::remove(folder.path / "set.jsonl");
  quietly([&] {
    using arrcoc::training::real::Data;
    const auto read = Data::load({{path, 1}}, 0.1);
    for (const bool photo : {false, true}) read->held(photo, 4);
  });
  return 0;
}
