// 02_compare PICTURE QUESTION...: one picture, several questions; the picture is seen once, and the
// maps move with the question. Then the same question with less and more to spend.
#include <arrcoc/arrcoc.h>
#include <arrcoc/media.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: 02_compare PICTURE QUESTION...\n");
    return 2;
  }
  try {
    const arrcoc::Picture picture = arrcoc::media::load(argv[1]);
    const arrcoc::Asker asker(arrcoc::load_bundle());  // remembers the picture
    arrcoc::Map first;
    for (int i = 2; i < argc; ++i) {
      const arrcoc::Answer looked = asker.look(picture, argv[i]);
      const arrcoc::Map& map = looked.from().look.relevance.map;
      if (i == 2) first = map;
      std::printf("%-50s %4ld tokens, map differs from the first by %.3f\n", argv[i],
                  static_cast<long>(looked.tokens),
                  static_cast<double>(cosine_distance(first, map)));
    }
    for (const char* level : {"fast", "balanced", "accurate"}) {
      arrcoc::AskOptions options;
      options.budget = level;
      std::printf("%-50s %4ld tokens\n", level,
                  static_cast<long>(asker.look(picture, argv[2], options).tokens));
    }
  } catch (const arrcoc::Error& e) {
    std::fprintf(stderr, "%s: %s\n", to_string(e.code()), e.what());
    return 1;
  }
  return 0;
}
