#include <cstring>
#include <fstream>
#include <sstream>

#include "arrcoc/error.h"
#include "lab/scenes/library.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace arrcoc::scenes {

void Library::load_atlas(const std::string& folder) {
  std::ifstream index(folder + "/atlas.txt");
  int width = 0, height = 0, channels = 0;
  stbi_uc* pixels = stbi_load((folder + "/atlas.png").c_str(), &width, &height, &channels, 4);
  const std::unique_ptr<stbi_uc, void (*)(void*)> owner(pixels, stbi_image_free);
  if (!index || !pixels)
    throw Error(ErrorCode::not_found, "cut-outs of the scene generator not found: " + folder +
                                          "/atlas.png and atlas.txt");
  const int columns = width / kAtlasCell;
  std::string line;
  while (std::getline(index, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string held;
    Cutout cutout;
    words >> cutout.group >> held;
    std::getline(words >> std::ws, cutout.name);
    cutout.held = held == "held";
    const int at = static_cast<int>(cutouts_.size());
    const int x0 = at % columns * kAtlasCell, y0 = at / columns * kAtlasCell;
    if (y0 + kAtlasCell > height)
      throw Error(ErrorCode::not_found, "atlas.txt names more cut-outs than atlas.png holds");
    cutout.rgba.resize(size_t{kAtlasCell} * kAtlasCell * 4);
    for (int y = 0; y < kAtlasCell; ++y)
      std::memcpy(cutout.rgba.data() + size_t{kAtlasCell} * 4 * static_cast<size_t>(y),
                  pixels + (static_cast<size_t>(y0 + y) * width + x0) * 4, size_t{kAtlasCell} * 4);
    (cutout.held ? held_cutouts_ : open_cutouts_).push_back(at);
    cutouts_.push_back(std::move(cutout));
  }
}

}  // namespace arrcoc::scenes
