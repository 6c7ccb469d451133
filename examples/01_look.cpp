// 01_look PICTURE QUESTION: from pixels to tokens in one call.
#include <arrcoc/arrcoc.h>
#include <arrcoc/media.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: 01_look PICTURE QUESTION\n");
    return 2;
  }
  try {
    const arrcoc::Picture picture = arrcoc::media::load(argv[1]);
    const arrcoc::Realization r = arrcoc::realize(picture, argv[2]);
    std::printf("%d tokens instead of %ld\n", r.allocation.tokens(),
                static_cast<long>(r.allocation.geometry.native_tokens()));
    arrcoc::media::write_png("look.png", arrcoc::media::draw_homunculus(picture, r.allocation));
    std::printf("where it looked: look.png\n");
  } catch (const arrcoc::Error& e) {
    std::fprintf(stderr, "%s: %s\n", to_string(e.code()), e.what());
    return 1;
  }
  return 0;
}
