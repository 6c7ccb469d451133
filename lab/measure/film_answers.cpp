#include "lab/measure/film_answers.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {

namespace {

// A film as it was followed for one question.
struct Followed {
  filming::Moments moments;
  size_t best = 0;  // the most relevant frame; a later one wins a tie
};

Followed follow(const std::vector<Picture>& frames, const Query& query, const FilmAsking& asking) {
  filming::Options timing = asking.timing;
  timing.interest = filming::interest_in(query);
  filming::Follower follower(timing, asking.sources.flow, asking.sources.segments);
  Followed out;
  double strength = -1;
  for (size_t i = 0; i < frames.size(); ++i) {
    const Picture& frame = frames[i];
    const filming::Step step = follower.step(
        filming::thumb_of(frame), geometry_of(frame.width(), frame.height(), asking.look.options),
        [&] { return filming::look_at(*asking.look.looker, frame, query); });
    out.moments.add(step, static_cast<double>(i) / scenes::kTimeFps, [&frame] { return frame; });
    if (step.strength < strength) continue;
    strength = step.strength;
    out.best = i;
  }
  return out;
}

}  // namespace

std::vector<FilmRecord> answer_film(const Asker& asker, const scenes::Scene& scene, int group,
                                    const FilmAsking& asking) {
  std::vector<Picture> frames;
  for (const scenes::Image& image : scene.images) frames.push_back(picture_of(image, ""));
  std::vector<FilmRecord> out;
  for (const scenes::Question& q : scene.questions) {
    FilmRecord& record = out.emplace_back();
    record.group = group;
    record.intent = q.intent;
    record.question = q.text;
    record.wanted = q.answer;
    const Query query = parse_query(q.text);
    const Followed film = follow(frames, query, asking);
    const auto say = [&](Answerer who, const std::string& text, int64_t tokens) {
      record.said[static_cast<size_t>(who)] = {text, exact_match(text, q.answer), tokens};
    };
    const auto ask = [&](Answerer who, size_t frame, const std::string& budget) {
      AskOptions options = asking.time.ask;
      options.budget = budget;
      const Answer answer = asker.ask(frames[frame], q.text, options);
      say(who, answer.text, answer.tokens);
    };
    ask(Answerer::today, film.best, asking.time.ask.budget);
    const FilmRecord::Said& today = record.said[static_cast<size_t>(Answerer::today)];
    int64_t tokens = today.tokens;
    if (const auto plan = filming::plan_of(query)) {
      Stopwatch watch;
      const filming::TimeAnswer answer = filming::answer(asker, *plan, film.moments, asking.time);
      record.milliseconds = watch.lap();
      record.asks = to_string(plan->asks);
      record.confidence = answer.confidence;
      record.asked = answer.moments;
      say(Answerer::moments, answer.text, answer.tokens);
      tokens = answer.tokens;
    } else {
      say(Answerer::moments, today.text, today.tokens);
    }
    const std::string as_many = std::to_string(std::max<int64_t>(tokens, kMinBudget));
    ask(Answerer::best, film.best, as_many);
    ask(Answerer::middle, frames.size() / 2, as_many);
  }
  return out;
}

}  // namespace arrcoc::measuring
