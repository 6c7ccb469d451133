#include "ask/road.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "arrcoc/error.h"
#include "ask/passes.h"
#include "ask/told.h"

namespace arrcoc::asking {

namespace {

constexpr int kFixedTokens = 180;   // when the looker fails
constexpr float kNotMeant = 0.25F;  // what is left of relevance in pictures that are not meant

void check(const AskOptions& options, const Capabilities& takes, size_t pictures) {
  const PassRules& r = options.passes;
  if (pictures == 0) throw Error(ErrorCode::bad_argument, "there is no picture to ask about");
  if (r.passes < 1 || r.passes > 16)
    throw Error(ErrorCode::bad_argument,
                "there may be 1 to 16 passes, not " + std::to_string(r.passes));
  if (!(r.first > 0 && r.first <= 4 && r.later > 0 && r.later <= 4 && r.wider >= 0 && r.wider <= 4))
    throw Error(ErrorCode::bad_argument, "a pass takes more than 0 and at most 4 times the budget");
  if (r.total_budget < 0)
    throw Error(ErrorCode::bad_argument, "the total budget is a number of tokens");
  if (r.passes > 1 && takes.takes == TokenKind::native)
    throw Error(ErrorCode::unsupported,
                "looking again is for models that read a part of the picture: mode native reads "
                "all of it");
}

}  // namespace

void move_to(const Geometry& geometry, const Picture& picture, Map& map) {
  map.cell_width *= static_cast<float>(geometry.width) / static_cast<float>(picture.width());
  map.cell_height *= static_cast<float>(geometry.height) / static_cast<float>(picture.height());
}

Box scaled(const Box& b, double sx, double sy) {
  return Box{static_cast<float>(b.x0 * sx), static_cast<float>(b.y0 * sy),
             static_cast<float>(b.x1 * sx), static_cast<float>(b.y1 * sy)};
}

void Road::note(const std::vector<std::string>& from) {
  for (const std::string& one : from)
    if (std::find(fallbacks_.begin(), fallbacks_.end(), one) == fallbacks_.end())
      fallbacks_.push_back(one);
}

Road::Road(std::vector<std::shared_ptr<const SeenPicture>> pictures,
           std::shared_ptr<const Model> model, const std::string& question, AskOptions options,
           std::vector<Look> looks)
    : model_(std::move(model)),
      query_(parse_query(question)),
      asked_(query_),
      options_(std::move(options)),
      looks_(std::move(looks)) {
  if (model_) takes_ = model_->capabilities();
  check(options_, takes_, pictures.size());
  for (auto& picture : pictures) pictures_.emplace_back(std::move(picture));
  if (!looks_.empty() && looks_.size() != pictures_.size())
    throw Error(ErrorCode::bad_argument, "there must be one look a picture, or none");
  if (model_) options_.allocate.token_pixels = takes_.token_pixels;
  if (!options_.own_budget.empty()) options_.budget = options_.own_budget;
  if (pictures_.size() == 1) return;
  comparison_ = comparison_in(query_);
  if (!comparison_) named_ = named_picture(query_);
  if (named_ && *named_ >= pictures_.size()) {
    note({"the question names the " + name_of_picture(*named_) + " of " +
          std::to_string(pictures_.size())});
    named_.reset();
  }
  differences_ = comparison_ && comparison_->by == Comparison::By::difference;
  if (takes_.several) comparison_.reset();  // whoever reads all of them compares by itself
  if (comparison_ && !comparison_->each.empty()) asked_ = parse_query(comparison_->each);
}

void Road::spent(const std::string& stage, double milliseconds) {
  for (Stage& known : stages_)
    if (known.name == stage) {
      known.milliseconds += milliseconds;
      return;
    }
  stages_.push_back({stage, milliseconds});
}

// ---- look

// A looker that fails costs detail, not the answer.
Look Road::look_at(const One& one, const History& history) {
  const SeenPicture& seen = *one.seen;
  try {
    if (!seen.seen) throw Error(ErrorCode::numeric, seen.problem);
    return std::move(seen.looker->look(*seen.seen, {&asked_, 1}, history).front());
  } catch (const Error& problem) {
    if (problem.code() == ErrorCode::bad_argument || problem.code() == ErrorCode::not_found) throw;
    Look out;
    out.relevance.map = {1,
                         1,
                         static_cast<float>(seen.picture.width()),
                         static_cast<float>(seen.picture.height()),
                         {0.5F}};
    out.relevance.weights = {0, 0, 0};
    out.relevance.fallbacks = {std::string(kLookerFailed) + ": " + problem.what()};
    if (options_.budget.rfind("auto", 0) == 0 || options_.budget == "learned")
      options_.budget = std::to_string(kFixedTokens);
    return out;
  }
}

// Of the picture as it came, or on the canvas that was asked for.
int64_t Road::native_tokens(const One& one) const {
  const Geometry came{one.out.width, one.out.height, 0};
  return (options_.canvas > 0 ? one.seen->pyramid->geometry() : came).native_tokens();
}

void Road::look() {
  looked_ = true;
  for (size_t i = 0; i < pictures_.size(); ++i) {
    One& one = pictures_[i];
    one.history.gaze = options_.gaze;
    one.out.width = one.seen->picture.width();
    one.out.height = one.seen->picture.height();
    one.out.native_tokens = model_ && takes_.takes != TokenKind::patches
                                ? model_->view_tokens(one.out.width, one.out.height)
                                : native_tokens(one);
    one.out.look = looks_.empty() ? look_at(one, one.history) : std::move(looks_[i]);
    one.relevance = one.out.look.relevance;  // the question's own, for every pass
    if (!options_.gaze.empty()) one.out.look.relevance.map = first_map(one);
    move_to(one.seen->pyramid->geometry(), one.seen->picture, one.relevance.map);
    one.told = told(one);
    note(one.relevance.fallbacks);
    // A picture that the question does not mean keeps its minimum and what nobody else needs.
    if (named_ && *named_ != i)
      for (Map* map : {&one.relevance.map, &one.told})
        for (float& v : map->values) v *= kNotMeant;
    // All pictures share one budget: that of the picture that needs most.
    const Budget own = allocating::budget(one.out.look, asked_, options_.budget);
    if (i == 0 || own.tokens > single_.tokens) single_ = own;
  }
  if (differences_) point_out_differences();
}

void Road::point_out_differences() {
  for (size_t i = 0; i < pictures_.size(); ++i) {
    Map& map = pictures_[i].relevance.map;
    Map apart =
        difference(pictures_[i].seen->picture, pictures_[i == 0 ? 1 : 0].seen->picture, map);
    if (apart.empty()) continue;
    map = std::move(apart);
    pictures_[i].told = {};
  }
}

// The bundled model was trained to see its network's relevance beside each token. Where the
// balance sends tokens elsewhere, they still say that.
Map Road::told(const One& one) const {
  const Relevance& balanced = one.relevance;
  const bool network = options_.look.coupling == kNetwork && takes_.takes == TokenKind::patches;
  const bool alone =
      !balanced.tensions && !(balanced.weights.information > 0) && !(balanced.weights.salience > 0);
  if (!network || alone) return {};
  Map out = one.out.look.knowledge.coupling;
  move_to(one.seen->pyramid->geometry(), one.seen->picture, out);
  return out;
}

// ---- cut

std::vector<Reading> Road::cut() {
  std::vector<Reading> out;
  for (size_t i : reading_) {
    One& one = pictures_[i];
    PictureTokens tokens;
    tokens.picture = &one.seen->picture;
    tokens.allocation = one.open.allocation;
    if (takes_.takes == TokenKind::patches) {
      tokens.tokens = one.patches.cut(one.open.allocation, one.open.reused);
      if (!one.told.empty()) tell(one.told, one.open.allocation, tokens.tokens);
      if (tokens.tokens.size() == 0)
        throw Error(ErrorCode::unsupported,
                    "allocator '" + options_.allocator + "' gives no tokens to read");
      // Without a model crops are counted as their target would (AllocateOptions::token_pixels).
      one.open.tokens = model_ ? tokens.tokens.size() : one.open.allocation.tokens();
      if (options_.statistics) record(one, tokens.tokens);
    } else {
      one.open.tokens = one.open.allocation.tokens();
    }
    if (takes_.several && !out.empty()) {
      out.front().pictures.push_back(std::move(tokens));
      continue;
    }
    Reading& reading = out.emplace_back();
    reading.pictures.push_back(std::move(tokens));
    reading.question = asked_.text;
    reading.before = options_.before;
    reading.generate = options_.generate;
    reading.again = options_.passes.passes > 1;
  }
  return out;
}

void Road::record(const One& one, const TokenSequence& tokens) {
  const Knowledge& know = one.out.look.knowledge;
  for (const auto& [name, map] :
       {std::pair<const char*, const Map*>{"information", &know.information},
        {"salience", &know.salience},
        {"coupling", &know.coupling},
        {"relevance", &one.open.relevance}})
    if (!map->empty()) statistics_.push_back(measure(std::string("look.") + name, *map));
  for (const auto& [name, values] :
       {std::pair<const char*, const at::Tensor*>{"pixels", &tokens.pixels},
        {"centre", &tokens.centre},
        {"scale", &tokens.scale},
        {"relevance", &tokens.relevance}})
    statistics_.push_back(measure(std::string("tokens.") + name, *values));
}

// ---- read

// One picture's part of a reply about several: kept says how many shares of focus are its own.
Reply Road::part_of(const Reply& all, size_t k) {
  Reply out = all;
  const auto part = [k](auto& list) {
    if (k < list.size()) list = {list[k]};
  };
  part(out.kept);
  part(out.depths);
  part(out.attention);
  if (all.focus.empty() || k >= all.kept.size()) return out;
  size_t from = 0;
  for (size_t i = 0; i < k; ++i) from += static_cast<size_t>(all.kept[i]);
  const auto share = [&](const auto& list) {
    const size_t begin = std::min(from, list.size());
    const size_t end = std::min(begin + static_cast<size_t>(all.kept[k]), list.size());
    return std::decay_t<decltype(list)>(list.begin() + static_cast<std::ptrdiff_t>(begin),
                                        list.begin() + static_cast<std::ptrdiff_t>(end));
  };
  out.focus = share(all.focus);
  out.places = share(all.places);
  return out;
}

void Road::take(std::vector<Reply> replies) {
  const size_t expected = takes_.several ? 1 : reading_.size();
  if (replies.size() != expected)
    throw Error(ErrorCode::bad_argument, "[hear] there must be one reply a reading");
  const bool together = takes_.several && reading_.size() > 1;
  const std::vector<float> focus = together ? replies.front().focus : std::vector<float>{};
  for (size_t k = 0; k < reading_.size(); ++k) {
    One& one = pictures_[reading_[k]];
    const float most = focus.empty() ? 0 : *std::max_element(focus.begin(), focus.end());
    end_pass(one, together ? part_of(replies.front(), k) : std::move(replies[k]), most);
    if (!focus.empty()) one.out.passes.back().gathered = gathered(above_even(focus));
  }
}

void Road::end_pass(One& one, Reply reply, float most) {
  Pass& pass = one.open;
  if (!reply.kept.empty()) pass.tokens = reply.kept.front();
  if (reply.left) {  // a merged token stands where it began
    std::vector<Leaf> left;
    for (int64_t i : *reply.left) left.push_back(pass.allocation.leaves[static_cast<size_t>(i)]);
    pass.allocation.leaves = std::move(left);
  }
  note(reply.fallbacks);
  pass.reply = std::move(reply);
  pass.uncertainty = uncertainty(pass.reply.probabilities);
  remember(pass, tokens_of(pass, one.out.width, one.out.height), one.history, most);
  const bool first = one.out.passes.empty();
  pass.confidence = options_.pass_policy
                        ? chance(options_.pass_policy->right, features_of(pass, first))
                        : pass.reply.confidence;
  tokens_ += pass.tokens;
  one.out.tokens += pass.tokens;
  one.out.passes.push_back(std::move(pass));
  compare_answers(one);
  for (size_t i = 0; i < one.out.passes.size(); ++i)
    if (believed(one.out.passes[i]) > believed(one.out.answer())) one.out.best = i;
}

// Without probabilities, how far the passes agree says how sure they are.
void Road::compare_answers(One& one) {
  std::vector<Pass>& passes = one.out.passes;
  if (passes.size() < 2) return;
  for (Pass& pass : passes) {
    if (!pass.reply.probabilities.empty()) continue;
    pass.agreement = 0;
    for (const Pass& other : passes)
      if (&other != &pass)
        pass.agreement = std::max(pass.agreement, agreement(pass.reply.text, other.reply.text));
    pass.reply.confidence = pass.confidence = pass.agreement;
    pass.uncertainty = 1 - pass.agreement;
    note({kAgreement});
  }
  one.history.uncertainty = passes.back().uncertainty;
}

double Road::believed(const Pass& pass) const {
  const bool doubtful = (pass.manner == Manner::closer || pass.manner == Manner::again) &&
                        !options_.pass_policy && pass.confidence < options_.passes.confident;
  return doubtful ? pass.confidence - options_.passes.doubt : pass.confidence;
}

// ---- again?

// Of pictures that are read together: the one that the best pass looked at most.
size_t Road::most_read() const {
  size_t out = 0;
  float most = 0;
  for (size_t i = 0; i < pictures_.size(); ++i) {
    const std::vector<float>& focus = pictures_[i].out.answer().reply.focus;
    const float share = std::accumulate(focus.begin(), focus.end(), 0.0F);
    if (share > most) out = i, most = share;
  }
  return out;
}

void Road::choose_picture() {
  if (takes_.several) chosen_ = named_ ? *named_ : most_read();
  if (manner_ != Manner::first || takes_.several) return;
  std::vector<Said> said;
  for (const One& one : pictures_)
    said.push_back({one.out.answer().reply.text, one.out.answer().confidence});
  const auto surest = std::max_element(said.begin(), said.end(), [](const Said& a, const Said& b) {
    return a.confidence < b.confidence;
  });
  const auto found = comparison_ ? compared(*comparison_, said) : std::nullopt;
  points_ = found && !comparison_->each.empty();
  chosen_ = found ? *found : named_ ? *named_ : static_cast<size_t>(surest - said.begin());
}

bool Road::widened() const {
  const auto& passes = pictures_[chosen_].out.passes;
  return !(options_.passes.wider > 0) ||
         std::any_of(passes.begin(), passes.end(),
                     [](const Pass& p) { return p.manner == Manner::wider; });
}

void Road::decide() {
  choose_picture();
  const PassRules& rules = options_.passes;
  const PictureAnswer& out = pictures_[chosen_].out;
  const Pass& last = out.passes.back();
  const size_t n = out.passes.size();
  if (rules.history && !recalls()) note({"history: not used: " + why_no_history()});
  if (options_.pass_policy) {
    const PassPolicy& policy = *options_.pass_policy;
    const PassPolicy::Features x = features_of(last, n == 1);
    const double closer = chance(policy.closer, x), elsewhere = chance(policy.elsewhere, x);
    const double wider = widened() ? 0 : chance(policy.wider, x);
    const double most = std::max({closer, wider, elsewhere});
    if (most < policy.worth) stop = Stop::not_worth_it;
    manner_ = closer == most ? Manner::closer : wider == most ? Manner::wider : Manner::elsewhere;
  } else if (out.answer().confidence >= rules.confident) {
    stop = Stop::sure;
  } else if (rules.passes > 1) {
    std::optional<Manner> manner = recalls() ? Manner::again : manner_after(last, rules);
    if (manner != Manner::again && !widened() && (n > 1 || manner != Manner::closer))
      manner = Manner::wider;
    if (!manner) stop = Stop::spread;
    manner_ = manner.value_or(manner_);
  }
  const bool compares = comparison_.has_value();  // what each picture shows has been compared
  if (stop == Stop::open && (n >= static_cast<size_t>(rules.passes) || compares))
    stop = Stop::passes;
}

// ---- the answer

Answer Road::finish() const {
  std::vector<PictureAnswer> pictures;
  for (const One& one : pictures_) pictures.push_back(one.out);
  for (size_t i : reading_) {  // looked at only
    PictureAnswer& out = pictures[i];
    Pass open = pictures_[i].open;
    if (!out.passes.empty() && stop != Stop::open) continue;
    if (open.allocation.tokens() == 0) continue;
    if (open.tokens == 0) open.tokens = open.allocation.tokens();
    out.tokens += open.tokens;
    out.passes.push_back(std::move(open));
  }
  for (const PictureAnswer& one : pictures)
    if (one.passes.empty())
      throw Error(ErrorCode::bad_argument, "[finish] nothing has been looked at yet");
  return described(std::move(pictures));
}

Answer Road::described(std::vector<PictureAnswer> pictures) const {
  Answer out;
  out.query = query_;
  out.policy = options_.policy;
  out.model = model_ ? model_->name() : "";
  out.stop = stop;
  out.picture = chosen_;
  out.each = comparison_ ? comparison_->each : "";
  out.pictures = std::move(pictures);
  for (PictureAnswer& picture : out.pictures) {
    out.tokens += picture.tokens;
    out.native_tokens += picture.native_tokens;
    const Pass& best = picture.answer();
    const Geometry& g = best.allocation.geometry;
    if (!best.reply.text.empty() && best.reply.text != "none" && !best.reply.focus.empty())
      if (const auto box =
              answer_box(tokens_of(best, picture.width, picture.height), best.reply.focus))
        picture.box = scaled(*box, static_cast<double>(picture.width) / g.width,
                             static_cast<double>(picture.height) / g.height);
  }
  const Pass& best = out.from().answer();
  out.text = points_ ? name_of_picture(chosen_) : best.reply.text;
  out.probabilities = best.reply.probabilities;
  out.likelihood = best.reply.likelihood;
  out.confidence = best.reply.confidence;
  out.calibrated = best.reply.calibrated;
  out.uncertainty = best.uncertainty;
  // "none" of a few tokens says little: what was asked for need not have been shown.
  const bool hidden =
      best.reply.text == "none" && out.tokens < kMinBudget && out.tokens < out.native_tokens;
  out.unsure = hidden || out.confidence < options_.threshold.value_or(takes_.threshold);
  out.stages = stages_;
  out.statistics = statistics_;
  out.fallbacks = fallbacks_;
  return out;
}

}  // namespace arrcoc::asking
