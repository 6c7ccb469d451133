// 02_compare PICTURE QUESTION...: one picture, several questions; its pyramid is built once, and
// the maps move with the question. Then the same question with less and more to spend.
#include <arrcoc/arrcoc.h>
#include <arrcoc/media.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: 02_compare PICTURE QUESTION...\n");
    return 2;
  }
  try {
    arrcoc::Options options = arrcoc::policy("lexical");
    const arrcoc::Picture picture = arrcoc::media::load(argv[1]);
    const arrcoc::Pyramid pyramid = arrcoc::pyramid_of(picture, options);
    arrcoc::Realization first;
    for (int i = 2; i < argc; ++i) {
      arrcoc::Realization r = arrcoc::realize(picture, pyramid, argv[i], options);
      if (i == 2) first = r;
      std::printf("%-50s %4d tokens, map differs from the first by %.3f\n", argv[i],
                  r.allocation.tokens(), cosine_distance(first.relevance.map, r.relevance.map));
    }
    for (const char* level : {"fast", "balanced", "accurate"}) {
      options.budget = level;
      const arrcoc::Realization r = arrcoc::realize(picture, pyramid, argv[2], options);
      std::printf("%-50s %4d tokens\n", level, r.allocation.tokens());
    }
  } catch (const arrcoc::Error& e) {
    std::fprintf(stderr, "%s: %s\n", to_string(e.code()), e.what());
    return 1;
  }
  return 0;
}
