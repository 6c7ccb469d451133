// 04_watch FILM QUESTION: where the tokens go, frame by frame, without any network: what stands out
// and what moves. Most frames cost nothing, because nothing that matters has changed.
#include <arrcoc/arrcoc.h>
#include <arrcoc/video.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: 04_watch FILM QUESTION\n");
    return 2;
  }
  try {
    arrcoc::Options look = arrcoc::policy("saliency");
    look.canvas = 1024;
    arrcoc::filming::Options options = arrcoc::filming::defaults();
    options.interest = arrcoc::filming::interest_in(arrcoc::parse_query(argv[2]));
    arrcoc::filming::Realizer realizer(options, arrcoc::media::dis_flow());
    arrcoc::media::Video film = arrcoc::media::Video::open(argv[1]);
    while (const auto frame = film.read()) {
      if (!frame->broken().empty()) {
        realizer.missing(frame->broken());
        continue;
      }
      const auto step = realizer.step(
          frame->thumb(), arrcoc::filming::geometry_of(frame->width(), frame->height(), look),
          [&] { return arrcoc::filming::look_at(frame->picture(), argv[2], look); });
      std::printf("frame %4ld  %3d tokens  coherence %.3f%s\n", static_cast<long>(step.frame),
                  step.tokens, static_cast<double>(step.coherence.value_or(0)),
                  step.cut ? "  cut" : "");
    }
  } catch (const arrcoc::Error& e) {
    std::fprintf(stderr, "%s: %s\n", to_string(e.code()), e.what());
    return 1;
  }
  return 0;
}
