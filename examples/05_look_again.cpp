// Looks again while unsure, and writes the passes side by side.
//   example_05_look_again examples/pictures/zoo.jpg "What are the ingredients of the snack?"
//   out.png
#include <cstdio>

#include "arrcoc/answering.h"
#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "arrcoc/strip.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s PICTURE QUESTION [STRIP.png]\n", argv[0]);
    return 2;
  }
  try {
    arrcoc::media::install();
    const arrcoc::Picture picture = arrcoc::media::load(argv[1]);
    const auto answerer = arrcoc::answering::Answerer::load();
    arrcoc::answering::AskOptions options = arrcoc::answering::options_for("passes");
    options.rules.passes = 3;
    const arrcoc::answering::Reply reply = answerer->ask(picture, argv[2], options);
    for (const arrcoc::esper::Pass& pass : reply.passes->passes)
      std::printf("%-9s  %3d tokens  %.2f sure  %s\n", pass.manner.c_str(), pass.tokens,
                  pass.confidence, pass.answer.c_str());
    std::printf("%s (%d tokens in all; stopped: %s)\n", reply.answer.c_str(), reply.tokens,
                reply.passes->stopped.c_str());
    if (argc > 3)
      arrcoc::media::write_png(argv[3], arrcoc::media::draw_passes(picture, *reply.passes));
  } catch (const arrcoc::Error& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
