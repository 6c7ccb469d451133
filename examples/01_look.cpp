// 01_look PICTURE QUESTION: where would the tokens go? Without any model: what the question names
// visibly, what holds information and what stands out.
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
    const arrcoc::Asker asker(nullptr);
    const arrcoc::Answer looked = asker.look(picture, argv[2], arrcoc::policy("lexical"));
    std::printf("%ld tokens instead of %ld\n", static_cast<long>(looked.tokens),
                static_cast<long>(looked.native_tokens));
    arrcoc::media::write_png(
        "look.png", arrcoc::media::draw_homunculus(picture, looked.from().answer().allocation));
    std::printf("where it looked: look.png\n");
  } catch (const arrcoc::Error& e) {
    std::fprintf(stderr, "%s: %s\n", to_string(e.code()), e.what());
    return 1;
  }
  return 0;
}
