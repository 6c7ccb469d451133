// 04_watch FILM QUESTION: where the tokens go, frame by frame, without any network: what stands out
// and what moves. Most frames cost nothing, because nothing that matters has changed.
#include <arrcoc/arrcoc.h>
#include <arrcoc/media.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: 04_watch FILM QUESTION\n");
    return 2;
  }
  try {
    arrcoc::AskOptions options = arrcoc::policy("saliency");
    options.canvas = 1024;
    const auto looker = arrcoc::make_looker(options.look);
    const arrcoc::Query question = arrcoc::parse_query(argv[2]);
    arrcoc::filming::Options timing = arrcoc::filming::defaults();
    timing.interest = arrcoc::filming::interest_in(question);
    arrcoc::filming::Follower follower(timing, arrcoc::media::dis_flow());
    arrcoc::media::Video film = arrcoc::media::Video::open(argv[1]);
    while (const auto frame = film.read()) {
      if (!frame->broken().empty()) {
        follower.missing(frame->broken());
        continue;
      }
      const auto step = follower.step(
          frame->thumb(), arrcoc::geometry_of(frame->width(), frame->height(), options), [&] {
            return arrcoc::filming::look_at(*looker, frame->picture(), question, follower.motion());
          });
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
