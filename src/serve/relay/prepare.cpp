// Pictures of a conversation become views: those of earlier turns as they were sent, new ones for
// the newest question.
#include <algorithm>
#include <set>

#include "arrcoc/error.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/images.h"
#include "serve/relay/dialects.h"
#include "serve/relay/relayed.h"

namespace arrcoc::serving {

namespace {

constexpr const char* kUsualQuestion = "What is in the picture?";
constexpr int kOldTokens = 64;    // of a picture of an earlier turn that nobody remembers
constexpr size_t kMostAgain = 4;  // pictures of earlier turns that a new question looks at again
constexpr size_t kAlias = 512;    // bytes of a second name in the memory
constexpr const char* kLeftOut = "[An earlier picture is left out here.]";

bool number(const std::string& budget) {
  return !budget.empty() && budget.size() < 9 &&
         budget.find_first_not_of("0123456789") == std::string::npos;
}

std::string question_of(const Conversation& talk) {
  const std::string text = last_bytes(talk.question(), kMaxQuestionBytes);
  return text.find_first_not_of(" \t\r\n") == std::string::npos ? kUsualQuestion : text;
}

bool same(const PicturePart& a, const PicturePart& b) {
  return a.detail == b.detail && a.limits.min_pixels == b.limits.min_pixels &&
         a.limits.max_pixels == b.limits.max_pixels;
}

bool is_file(const PicturePart& picture) { return is_file_url(picture.data); }

// Tells nothing that these views do not show already.
bool shown(const std::vector<SentView>& views, const SentView& view) {
  return std::any_of(views.begin(), views.end(), [&](const SentView& known) {
    return known.box == view.box && known.width >= view.width;
  });
}

}  // namespace

// ---- What was sent

SentPicture& Service::Relayed::sent_picture(size_t number) {
  const PicturePart& part = talk.pictures[number];
  return messages[part.message]->pictures[part.within];
}

const SentPicture& Service::Relayed::sent_picture(size_t number) const {
  return const_cast<Relayed*>(this)->sent_picture(number);
}

int64_t Service::Relayed::tokens_of(size_t number) const {
  int64_t out = left_out[number] ? 0 : sent_picture(number).tokens;
  for (const auto& message : messages)
    if (message)
      for (const auto& [picture, views] : message->appended)
        for (const SentView& view : views) out += picture == number ? view.tokens : 0;
  return out;
}

int64_t Service::Relayed::tokens() const {
  int64_t out = 0;
  for (size_t i = 0; i < talk.pictures.size(); ++i) out += tokens_of(i);
  return out;
}

int64_t Service::Relayed::native() const {
  int64_t out = 0;
  for (size_t i = 0; i < talk.pictures.size(); ++i) out += sent_picture(i).native;
  return out;
}

bool Service::Relayed::all_read() const {
  for (size_t i = 0; i < talk.pictures.size(); ++i)
    if (!left_out[i] && !sent_picture(i).read) return false;
  return true;
}

// ---- Earlier turns

// Every message of an earlier turn that was sent before is sent as it was. Where conversations
// begin alike, the one that asked for as much is meant.
void Service::recall(Relayed& r) {
  const Conversation& talk = r.talk;
  std::string path = r.request.target.substr(0, r.request.target.find('?'));
  if (only_counts(path)) path.erase(path.rfind('/'));
  std::string chain = sha256(talk.model + "\n" + path);
  std::vector<size_t> pictures(talk.messages.size());
  for (const PicturePart& picture : talk.pictures) ++pictures[picture.message];
  bool lost = false;  // what follows a message that is not known any more is not known either
  for (size_t i = 0; i < talk.messages.size(); ++i) {
    const RelayMessage& message = talk.messages[i];
    chain = sha256(chain + (message.message ? canonical(*message.message) : message.text));
    r.digests.push_back(chain);
    ViewMemory::Ref known;
    if (i < talk.newest && !lost) {
      known = memory_.find(chain + memory_key(r));
      if (!known) known = memory_.find(chain);
    }
    if (known && known->pictures.size() != pictures[i]) known = nullptr;
    lost = lost || (!known && pictures[i] > 0);
    r.remembered.push_back(known != nullptr);
    auto sent = known ? std::make_shared<SentMessage>(*known) : nullptr;
    if (!known && pictures[i] > 0) {
      sent = std::make_shared<SentMessage>();
      sent->pictures.resize(pictures[i]);
    }
    r.messages.push_back(std::move(sent));
  }
  // The beginning of a conversation is the last to be forgotten.
  for (size_t i = talk.newest; i-- > 0;)
    if (r.remembered[i]) {
      memory_.find(r.digests[i]);
      memory_.find(r.digests[i] + memory_key(r));
    }
  leave_out(r);
}

std::string Service::memory_key(const Relayed& r) {
  return "/" + r.budget + "/" + r.extension.policy;
}

// Over the cap for old pictures the oldest go first.
void Service::leave_out(Relayed& r) {
  const Conversation& talk = r.talk;
  r.left_out.assign(talk.pictures.size(), false);
  if (options_.upstream_old_pictures == 0) return;
  const auto old = static_cast<size_t>(
      std::count_if(talk.pictures.begin(), talk.pictures.end(),
                    [&](const PicturePart& p) { return p.message < talk.newest; }));
  const auto most = static_cast<size_t>(options_.upstream_old_pictures);
  if (old <= most) return;
  std::fill_n(r.left_out.begin(), old - most, true);
  // Views of what is left out go too.
  for (auto& message : r.messages)
    if (message)
      std::erase_if(message->appended, [&](const auto& one) { return r.left_out[one.first]; });
  r.notes.push_back(std::to_string(old - most) + " pictures of earlier turns were left out");
}

// ---- Looking

// Null where it cannot be read: it goes as it came.
SeenRef Service::see_part(Relayed& r, size_t number, const AskOptions& options) {
  const PicturePart& picture = r.talk.pictures[number];
  const std::string name = "picture " + std::to_string(number + 1);
  const bool elsewhere =
      !picture.base64 && picture.data.rfind("data:", 0) != 0 && !is_file(picture);
  if (elsewhere) {
    r.notes.push_back(name + " was sent as it came: it is not in the request");
    return nullptr;
  }
  try {
    const auto bytes = picture.base64 ? from_base64(picture.data)
                                      : picture_bytes(std::string(picture.data), options_);
    r.sent_picture(number).digest = sha256(bytes);
    return engine().see(bytes, options, r.asked.deadline, [this] { require_patience(); });
  } catch (const Error& problem) {
    if (is_file(picture)) throw;
    r.notes.push_back(name + " was sent as it came: " + problem.what());
    return nullptr;
  }
}

// How the upstream counts this picture and its views.
Service::Looked Service::counted_as(const Relayed& r, const PicturePart& part,
                                    const std::string& budget) const {
  Family family = upstream_->family(r.talk.model);
  for (const PictureLimits& wish : {r.talk.limits, part.limits}) {
    if (wish.min_pixels > 0) family.limits.min_pixels = wish.min_pixels;
    if (wish.max_pixels > 0) family.limits.max_pixels = wish.max_pixels;
  }
  Looked out;
  out.original = std::make_shared<UpstreamModel>(*upstream_, r.talk.model, family, part.detail);
  // max_pixels would blur the whole picture: views of as many tokens show more. None of them is
  // larger than it allows.
  const bool wished = r.talk.limits.max_pixels > 0 || part.limits.max_pixels > 0;
  if (wished && number(budget)) family.limits.max_pixels = 0;
  out.model = std::make_shared<UpstreamModel>(*upstream_, r.talk.model, family, part.detail);
  return out;
}

// Looks at these pictures for the newest question, those that are counted alike together.
void Service::look(Relayed& r, const std::vector<size_t>& pictures, const std::string& budget,
                   int crops, bool again) {
  std::vector<Looked> groups;
  std::vector<Question> questions;
  std::vector<size_t> most;  // tokens of the originals
  for (size_t i : pictures) {
    const PicturePart& part = r.talk.pictures[i];
    size_t g = 0;
    while (g < groups.size() && !same(r.talk.pictures[groups[g].pictures.front()], part)) ++g;
    Looked looked = g < groups.size() ? Looked{} : counted_as(r, part, budget);
    Question question;
    question.text = question_of(r.talk);
    question.wanted = Wanted::readings;
    question.options = options_for(r.extension, "");
    question.options.least_side = question.options.most_side = 0;  // it resizes by its own rule
    if (crops >= 0) question.options.allocate.max_crops = crops;
    // Pictures of earlier turns are sent as they were: only new ones are looked at again.
    if (part.message < r.talk.newest || counts(r)) question.options.passes.passes = 1;
    const SeenRef seen = see_part(r, i, question.options);
    if (!seen) continue;
    if (g == groups.size()) {
      looked.again = again;
      question.model = looked.model;
      groups.push_back(std::move(looked));
      questions.push_back(std::move(question));
      most.push_back(0);
    }
    const Picture& picture = seen->picture;
    most[g] +=
        static_cast<size_t>(groups[g].original->view_tokens(picture.width(), picture.height()));
    groups[g].pictures.push_back(i);
    questions[g].pictures.push_back(seen);
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    const size_t count = groups[g].pictures.size();
    std::string& own = questions[g].options.budget = budget;
    if (number(budget)) {
      const size_t share = std::stoul(budget) * count / pictures.size();
      own = std::to_string(std::max(count, std::min(share, most[g])));
    }
    int& total = questions[g].options.passes.total_budget;
    total = static_cast<int>(static_cast<size_t>(total) * count / pictures.size());
    groups[g].job = engine().ask(std::move(questions[g]));
    r.looks.push_back(std::move(groups[g]));
  }
}

// The pictures that nobody remembers: those of the newest turn have the detail.
void Service::look_at_new(Relayed& r, int crops) {
  std::vector<size_t> fresh, old;
  for (size_t i = 0; i < r.talk.pictures.size(); ++i) {
    const size_t message = r.talk.pictures[i].message;
    if (r.remembered[message] || r.left_out[i]) continue;
    (message >= r.talk.newest ? fresh : old).push_back(i);
  }
  const size_t most = static_cast<size_t>(options_.max_pictures);
  for (std::vector<size_t>* list : {&fresh, &old})
    if (list->size() > most) {
      if (std::any_of(list->begin(), list->end(),
                      [&](size_t i) { return is_file(r.talk.pictures[i]); }))
        throw ApiError(400, "too_many_pictures",
                       "at most " + std::to_string(most) + " pictures where some are files");
      r.notes.push_back(std::to_string(list->size() - most) +
                        " pictures were sent as they came: more than max_pictures");
      list->erase(list->begin(), list->end() - static_cast<std::ptrdiff_t>(most));
    }
  std::string budget = r.budget;
  if (!fresh.empty() && !old.empty()) {
    size_t share = kOldTokens * old.size();
    if (number(budget)) {
      share = std::max(old.size(), std::min(share, std::stoul(budget) / 4));
      budget = std::to_string(
          std::max(fresh.size(), std::stoul(budget) - std::min(share, std::stoul(budget))));
    }
    look(r, old, std::to_string(share), crops, false);
    old.clear();
  }
  look(r, fresh.empty() ? old : fresh, budget, crops, false);
}

// A new question about pictures of an earlier turn.
void Service::look_again(Relayed& r) {
  const Conversation& talk = r.talk;
  const size_t newest = talk.newest;
  if (newest >= talk.messages.size() || talk.pictures.empty()) return;
  const RelayMessage& last = talk.messages.back();
  if (last.role != ChatRole::user || last.text.empty()) return;
  const size_t from = talk.pictures.back().message;
  if (from >= newest || !r.remembered[from]) return;
  std::vector<size_t> pictures;
  for (size_t i = 0; i < talk.pictures.size(); ++i)
    if (talk.pictures[i].message == from && !r.left_out[i] && !r.sent_picture(i).views.empty() &&
        r.tokens_of(i) < r.sent_picture(i).native && pictures.size() < kMostAgain)
      pictures.push_back(i);
  look(r, pictures, r.budget, -1, true);
}

// ---- What becomes of it

void Service::take_new(Relayed& r, const Looked& looked, const Reading& reading) {
  for (size_t k = 0; k < looked.pictures.size(); ++k) {
    const PictureTokens& tokens = reading.pictures[k];
    SentPicture& sent = r.sent_picture(looked.pictures[k]);
    sent.read = true;
    sent.native = looked.original->view_tokens(tokens.picture->width(), tokens.picture->height());
    sent.tokens = tokens.allocation.tokens();
    sent.views = views_of(tokens);
    if (sent.views.empty() && is_file(r.talk.pictures[looked.pictures[k]]))
      sent.views.push_back(cut_view(*tokens.picture, tokens.allocation.crops.front()));
  }
}

// Only closer views, only new ones, and never more than the picture as it came would cost.
void Service::take_again(Relayed& r, const Looked& looked) {
  const Reading& reading = looked.job->readings().front();
  auto& message = r.messages[r.talk.messages.size() - 1];
  if (!message) message = std::make_shared<SentMessage>();
  for (size_t k = 0; k < looked.pictures.size(); ++k) {
    const PictureTokens& tokens = reading.pictures[k];
    const size_t number = looked.pictures[k];
    const SentPicture& sent = r.sent_picture(number);
    int64_t left = sent.native - r.tokens_of(number);
    std::vector<SentView> views;
    for (size_t v = 1; v < tokens.allocation.crops.size(); ++v) {
      SentView view = cut_view(*tokens.picture, tokens.allocation.crops[v]);
      if (view.tokens > left || shown(sent.views, view)) continue;
      left -= view.tokens;
      views.push_back(std::move(view));
    }
    if (!views.empty()) message->appended.emplace_back(number, std::move(views));
  }
}

void Service::wait_for_looks(Relayed& r) {
  for (const Looked& looked : r.looks) {
    wait_all(*looked.job, r.asked.deadline);
    if (looked.again) {
      take_again(r, looked);
    } else {
      take_new(r, looked, looked.job->readings().front());
    }
  }
}

std::string Service::rewritten(const Relayed& r) const {
  const Dialect& dialect = *r.dialect;
  std::vector<JsonEdit> edits;
  if (r.given.contains("arrcoc"))
    edits.push_back({json::json_pointer("/arrcoc"), JsonEdit::How::remove, ""});
  const auto add_views = [&](const json& part, const std::vector<SentView>& views, bool again,
                             std::vector<json>& out) {
    for (size_t v = 0; v < views.size(); ++v) {
      const json words = dialect.words(again ? kEarlier : kCloser);
      if (v == (again ? 0 : 1) && !words.is_null()) out.push_back(words);
      out.push_back(dialect.view(part, views[v].png));
      // Providers allow few of these marks.
      if (out.back().is_object() && (again || v + 1 < views.size()))
        out.back().erase("cache_control");
    }
  };
  if (const auto wish = dialect.wish_probabilities(r.given); wish && r.probabilities)
    edits.push_back(*wish);
  for (size_t i = 0; i < r.talk.pictures.size(); ++i) {
    const PicturePart& picture = r.talk.pictures[i];
    std::vector<json> parts;
    if (r.left_out[i]) {
      const json words = dialect.words(kLeftOut);
      if (!words.is_null()) parts.push_back(words);
      edits.push_back({picture.place,
                       parts.empty() ? JsonEdit::How::remove : JsonEdit::How::replace,
                       joined(parts)});
    } else if (const SentPicture& sent = r.sent_picture(i); !sent.views.empty()) {
      add_views(*picture.part, sent.views, false, parts);
      edits.push_back({picture.place, JsonEdit::How::replace, joined(parts)});
    }
  }
  for (size_t m = 0; m < r.messages.size(); ++m) {
    std::vector<json> parts;
    if (r.messages[m])
      for (const auto& [number, views] : r.messages[m]->appended)
        add_views(*r.talk.pictures[number].part, views, true, parts);
    if (!parts.empty()) dialect.append(r.talk.messages[m], parts, edits);
  }
  return edits.empty() ? r.request.body : edited(r.request.body, edits);
}

void Service::remember(const Relayed& r) {
  for (size_t m = 0; m < r.messages.size(); ++m)
    if (r.messages[m] && !r.remembered[m]) {
      memory_.keep(r.digests[m], r.messages[m]);
      memory_.keep(r.digests[m] + memory_key(r), r.messages[m], kAlias);
    }
}

}  // namespace arrcoc::serving
