// Looks again while unsure, and writes the passes side by side.
//   example_05_look_again examples/pictures/zoo.jpg "What are the ingredients of the snack?"
//   out.png
#include <cstdio>

#include "arrcoc/ask.h"
#include "arrcoc/error.h"
#include "arrcoc/media.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s PICTURE QUESTION [STRIP.png]\n", argv[0]);
    return 2;
  }
  try {
    const arrcoc::Picture picture = arrcoc::media::load(argv[1]);
    const arrcoc::Asker asker(arrcoc::load_bundle());
    arrcoc::AskOptions options = arrcoc::policy("passes");
    options.passes.passes = 3;
    const arrcoc::Answer answer = asker.ask(picture, argv[2], options);
    for (const arrcoc::Pass& pass : answer.from().passes)
      std::printf("%-9s  %3ld tokens  %.2f sure  %s\n", to_string(pass.manner),
                  static_cast<long>(pass.tokens), pass.confidence, pass.reply.text.c_str());
    std::printf("%s (%ld tokens in all; stopped: %s)\n", answer.text.c_str(),
                static_cast<long>(answer.tokens), to_string(answer.stop));
    if (argc > 3)
      arrcoc::media::write_png(argv[3], arrcoc::media::draw_passes(picture, answer.from()));
  } catch (const arrcoc::Error& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
