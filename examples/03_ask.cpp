// Asks the bundled model two questions about one picture; the second needs no page features.
//   03_ask receipt.jpg "What is the total?" "What is the date?"
#include <cstdio>

#include "arrcoc/answering.h"
#include "arrcoc/error.h"
#include "arrcoc/media.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: 03_ask PICTURE QUESTION...\n");
    return 2;
  }
  try {
    arrcoc::media::install();
    const auto answerer = arrcoc::answering::Answerer::load();
    const arrcoc::Picture picture = arrcoc::media::load(argv[1]);
    for (int i = 2; i < argc; ++i) {
      const arrcoc::answering::Reply reply = answerer->ask(picture, argv[i]);
      std::printf("%s\n  %s%s, %.0f %% sure, %d of %lld tokens, %.0f ms\n", argv[i],
                  reply.answer.c_str(), reply.unsure ? " (unsure)" : "", 100 * reply.confidence,
                  reply.tokens, static_cast<long long>(reply.native_tokens), reply.milliseconds());
    }
  } catch (const arrcoc::Error& problem) {
    std::fprintf(stderr, "03_ask: %s\n", problem.what());
    return 1;
  }
}
