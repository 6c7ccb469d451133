// Asks the bundled model several questions about one picture; the picture is seen once.
//   03_ask receipt.jpg "What is the total?" "What is the date?"
#include <arrcoc/ask.h>
#include <arrcoc/error.h>
#include <arrcoc/media.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: 03_ask PICTURE QUESTION...\n");
    return 2;
  }
  try {
    const arrcoc::Picture picture = arrcoc::media::load(argv[1]);
    const arrcoc::Asker asker(arrcoc::load_bundle());
    for (int i = 2; i < argc; ++i) {
      const arrcoc::Answer answer = asker.ask(picture, argv[i]);
      std::printf("%s\n  %s%s, %.0f %% sure, %ld of %ld tokens, %.0f ms\n", argv[i],
                  answer.text.c_str(), answer.unsure ? " (unsure)" : "", 100 * answer.confidence,
                  static_cast<long>(answer.tokens), static_cast<long>(answer.native_tokens),
                  answer.milliseconds());
    }
  } catch (const arrcoc::Error& problem) {
    std::fprintf(stderr, "03_ask: %s\n", problem.what());
    return 1;
  }
}
