// Any bytes are the lines of a folder of questions or an Error, for measuring and for training.
// Input: items.jsonl, words.jsonl and objects.jsonl, with a byte 0x1e between them.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "arrcoc/error.h"
#include "lab/measure/evaluation.h"
#include "lab/measure/gaze.h"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"items", "words", "objects"}) {
    const size_t end = std::min(rest.find('\x1e'), rest.size());
    std::ofstream(folder.path / (std::string(name) + ".jsonl"), std::ios::binary)
        << rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::string path = folder.path.string();
  quietly([&] { arrcoc::measuring::load_items(path); });
  quietly([&] { arrcoc::measuring::load_gaze(path); });
  quietly([&] {
    using arrcoc::training::real::Data;
    const auto read = Data::load({{path, 1}}, 0.1);
    for (const bool photo : {false, true}) read->held(photo, 4);
  });
  return 0;
}
