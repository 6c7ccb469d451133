// What a reply of the upstream says about its cost, to the road, and to the client besides.
#include <algorithm>
#include <cmath>
#include <utility>

#include "serve/encoding.h"
#include "serve/relay/relayed.h"

namespace arrcoc::serving {

void join(Answer one, Answer& all) {
  all.pictures.insert(all.pictures.end(), one.pictures.begin(), one.pictures.end());
  all.fallbacks.insert(all.fallbacks.end(), one.fallbacks.begin(), one.fallbacks.end());
  all.tokens += one.tokens;
  all.native_tokens += one.native_tokens;
}

// Most protocols report the whole prompt only. Where there are few words beside the pictures, it
// tells what these cost, over what was reckoned; 0 where it does not.
double Service::learnt_from_prompt(const Relayed& r, int64_t reckoned) {
  const Heard& heard = r.reply->heard();
  size_t bytes = r.request.body.size();
  for (const PicturePart& picture : r.talk.pictures) bytes -= std::min(bytes, picture.data.size());
  const auto words = static_cast<int64_t>(bytes / 4);
  const int64_t pictures = heard.prompt_tokens + heard.cached_tokens - words;
  if (heard.prompt_tokens <= 0 || reckoned < 4 * words || 4 * pictures < reckoned) return 0;
  return static_cast<double>(pictures) / static_cast<double>(reckoned);
}

// What the pictures of one request cost; over what was reckoned.
double Service::count_reply(Relayed& r) {
  const Heard& heard = r.reply->heard();
  const int64_t reckoned = r.tokens();
  const bool reported = heard.picture_tokens && r.all_read() && reckoned > 0;
  const double off =
      reported ? static_cast<double>(*heard.picture_tokens) / static_cast<double>(reckoned) : 1;
  const Family family = upstream_->family(r.talk.model);
  // What earlier turns sent was reckoned as it was known then.
  const bool fresh =
      std::none_of(r.remembered.begin(), r.remembered.end(), [](bool b) { return b; });
  if (reported) metrics_.observe("arrcoc_upstream_tokens_off", off);
  if (family.estimated && fresh && r.all_read() && reckoned > 0) {
    const double known = reported ? off : learnt_from_prompt(r, reckoned);
    if (known > 0) upstream_->learn(r.talk.model, known * upstream_->learned(r.talk.model));
  }
  r.reported = reported;
  r.usage.kept += reported ? *heard.picture_tokens : reckoned;
  r.usage.native = r.native();
  r.usage.estimated = !reported && (family.estimated || !r.all_read());
  return off;
}

// The road hears the reply, once.
void Service::hear_reply(Relayed& r) {
  const Heard& heard = r.reply->heard();
  metrics_.observe("arrcoc_upstream_seconds", seconds_since(r.asked.start));
  const double off = count_reply(r);
  for (Looked& looked : r.looks) {
    if (!std::exchange(looked.open, false)) continue;
    Asking& asking = looked.job->asking();
    asking.spent("reading", 1e3 * seconds_since(r.sent));
    Reply said;
    said.text = heard.text;
    said.cut = heard.cut;
    said.estimated = r.usage.estimated;
    said.prompt_tokens = heard.prompt_tokens;
    said.completion_tokens = heard.completion_tokens;
    if (looks_again(r)) take_probabilities(heard.probabilities, said);
    for (size_t i : looked.pictures)
      said.kept.push_back(std::llround(off * static_cast<double>(r.tokens_of(i))));
    asking.hear({said});
  }
}

void Service::conclude(Relayed& r) {
  if (r.answered) return;
  if (r.heard.empty()) hear_reply(r);
  Answered& out = r.answered.emplace();
  out.text = r.reply->heard().text;
  out.usage = r.usage;
  if (!counts(r))
    savings_.add(r.talk.model, out.usage.native, out.usage.kept,
                 r.reported ? std::optional(out.usage.kept) : std::nullopt);
  std::shared_ptr<Answer> answer;
  for (const Looked& looked : r.looks) {
    Answer one = looked.job->asking().finish();
    if (answer) {
      join(std::move(one), *answer);
    } else {
      answer = std::make_shared<Answer>(std::move(one));
      r.asked.job = looked.job;
    }
  }
  if (answer) answer->fallbacks.insert(answer->fallbacks.end(), r.notes.begin(), r.notes.end());
  out.answer = answer;
  if (answer && !counts(r)) account(r.asked, out);
}

// What was cut: for every picture its size, its views, and the name under which /v1/pictures has
// it.
json Service::views_sent(const Relayed& r) {
  json out = json::array();
  for (size_t i = 0; i < r.talk.pictures.size(); ++i) {
    json picture = {{"tokens", r.tokens_of(i)}, {"whole", true}};
    const SentPicture& sent = r.sent_picture(i);
    if (!sent.read) picture["read"] = false;
    if (!sent.digest.empty()) picture["picture"] = to_hex(sent.digest);
    std::vector<const SentView*> views;
    for (const SentView& view : sent.views) views.push_back(&view);
    for (const auto& message : r.messages)
      if (message)
        for (const auto& [number, more] : message->appended)
          for (const SentView& view : more)
            if (number == i) views.push_back(&view);
    for (const SentView* view : views) {
      const Box& b = view->box;
      picture["whole"] = false;
      picture["views"].push_back({{"box", {b.x0, b.y0, b.x1, b.y1}},
                                  {"width", view->width},
                                  {"height", view->height},
                                  {"tokens", view->tokens}});
    }
    out.push_back(std::move(picture));
  }
  return out;
}

// Adds what we know to the reply, or to the last event that says something.
void Service::extend(Relayed& r, json& data) {
  conclude(r);
  const Answered& answered = *r.answered;
  if (data.contains("usage") && data["usage"].is_object())
    data["usage"]["image_tokens"] = answered.usage.image_tokens();
  json out = answered.answer ? json(extension(r.asked, answered)) : json{{"fallbacks", r.notes}};
  out["family"] = upstream_->family(r.talk.model).name;
  size_t remembered = 0;
  for (const PicturePart& picture : r.talk.pictures) remembered += r.remembered[picture.message];
  out["conversation"] = {{"tokens", answered.usage.kept},
                         {"native_tokens", answered.usage.native},
                         {"pictures", r.talk.pictures.size()},
                         {"remembered", remembered},
                         {"views", views_sent(r)}};
  if (data.contains("arrcoc")) out["upstream"] = data["arrcoc"];
  data["arrcoc"] = std::move(out);
}

}  // namespace arrcoc::serving
