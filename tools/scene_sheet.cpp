// Writes scenes as PNG files and prints their questions: for looking at them while a layout is
// made.
//   scene_sheet ASSETS OUT KIND COUNT SEED [LONGEST]     OUT "-": only the time
//   scene_sheet ASSETS hashes > tests/data/suite_hashes.txt
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "lab/scenes/draft.h"
#include "lab/scenes/scenes.h"
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

int main(int argc, char** argv) {
  using namespace arrcoc::scenes;
  if (argc == 3 && std::string(argv[2]) == "hashes") {
    const auto assets = Assets::load(argv[1]);
    for (const auto& name : suites())
      std::printf("%s %016llx\n", name.c_str(),
                  static_cast<unsigned long long>(suite_digest(*assets, name)));
    return 0;
  }
  if (argc < 6)
    return std::fprintf(stderr, "usage: scene_sheet ASSETS OUT KIND COUNT SEED [LONGEST]\n"), 2;
  const auto assets = Assets::load(argv[1]);
  const std::string out = argv[2], kind = argv[3];
  const int count = std::atoi(argv[4]);
  const auto first = static_cast<uint64_t>(std::atoll(argv[5]));
  Options options;
  if (argc > 6) options.longest = std::atoi(argv[6]);
  double seconds = 0;
  for (int i = 0; i < count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Scene scene = kind == "mixed" ? make_mixed(*assets, first + i, options)
                                        : make(*assets, kind, first + i, options);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (out == "-") continue;
    for (size_t p = 0; p < scene.images.size(); ++p) {
      const Image& image = scene.images[p];
      const std::string path = out + "/" + kind + "_" + std::to_string(first + i) +
                               (p ? "_" + std::to_string(p) : "") + ".png";
      stbi_write_png_compression_level = 2;
      stbi_write_png(path.c_str(), image.width, image.height, 3, image.rgb.data(), image.width * 3);
    }
    std::printf("%llu %s %dx%d\n", static_cast<unsigned long long>(scene.seed),
                scene.layout.c_str(), scene.images[0].width, scene.images[0].height);
    for (const Question& q : scene.questions) {
      std::printf("   [%s] %s -> %s", q.intent.c_str(), q.text.c_str(), q.answer.c_str());
      for (const auto& b : q.answer_boxes)
        std::printf("  (%.0f %.0f %.0f %.0f)", b.x0, b.y0, b.x1, b.y1);
      std::printf("\n");
    }
  }
  std::printf("%d scenes in %.2f s: %.1f a second\n", count, seconds, count / seconds);
}
