// A picture as a glance and crops that cost another model no more than a budget.
#pragma once

#include <string>
#include <vector>

#include "serve/engine.h"
#include "serve/json.h"

namespace arrcoc::serving {

struct View {
  Box box;  // of the picture, native pixels
  int width = 0, height = 0;
  int64_t tokens = 0;
};

struct Shrunk {
  std::vector<View> views;  // empty: the picture goes as it is
  int64_t kept = 0, native = 0;
  std::vector<std::string> fallbacks;
};

// What to send of a picture for at most `budget` tokens of the family. `look` gives the crops of
// the zoom allocator, and is not called when the picture fits as it is.
Shrunk shrink(const SeenPicture& seen, const Family& family, int64_t budget,
              const std::function<Allocation(int token_pixels)>& look);

// The view as a PNG.
std::vector<uint8_t> render(const Picture& picture, const View& view);

ordered_json to_json(const Shrunk& shrunk, const Picture& picture);

}  // namespace arrcoc::serving
