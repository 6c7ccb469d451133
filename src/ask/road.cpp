#include "ask/road.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "ask/passes.h"

namespace arrcoc::asking {

namespace {

constexpr int kLeastTokens = 32;    // a pass of fewer tokens shows too little of a picture
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
  if (r.passes > 1 && takes.takes != TokenKind::patches)
    throw Error(ErrorCode::unsupported, "looking again is for the bundled model");
}

// The map speaks of picture pixels, the pyramid may be of another size.
void move_to(const Geometry& geometry, const Picture& picture, Map& map) {
  map.cell_width *= static_cast<float>(geometry.width) / static_cast<float>(picture.width());
  map.cell_height *= static_cast<float>(geometry.height) / static_cast<float>(picture.height());
}

Box scaled(const Box& b, double sx, double sy) {
  return Box{static_cast<float>(b.x0 * sx), static_cast<float>(b.y0 * sy),
             static_cast<float>(b.x1 * sx), static_cast<float>(b.y1 * sy)};
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& note : from)
    if (std::find(to.begin(), to.end(), note) == to.end()) to.push_back(note);
}

}  // namespace

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
  if (pictures_.size() == 1 || takes_.several) return;
  comparison_ = comparison_in(query_);
  if (!comparison_) named_ = named_picture(query_, pictures_.size());
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
    append(fallbacks_, one.relevance.fallbacks);
    // A picture that the question does not mean keeps its minimum and what nobody else needs.
    if (named_ && *named_ != i)
      for (float& v : one.relevance.map.values) v *= kNotMeant;
    // All pictures share one budget: that of the picture that needs most.
    const Budget own = allocating::budget(one.out.look, asked_, options_.budget);
    if (i == 0 || own.tokens > single_.tokens) single_ = own;
  }
  if (comparison_ && comparison_->by == Comparison::By::difference) point_out_differences();
}

void Road::point_out_differences() {
  for (size_t i = 0; i < pictures_.size(); ++i) {
    Map& map = pictures_[i].relevance.map;
    Map apart =
        difference(pictures_[i].seen->picture, pictures_[i == 0 ? 1 : 0].seen->picture, map);
    if (!apart.empty()) map = std::move(apart);
  }
}

// ---- allocate

// Tokens of the next pass, 0 when they would not be worth it.
int Road::affordable() const {
  const PassRules& rules = options_.passes;
  const bool first = manner_ == Manner::first;
  // A single pass has all of its budget: there is nothing to save it for.
  const double share = rules.passes == 1          ? 1
                       : first                    ? rules.first
                       : manner_ == Manner::wider ? rules.wider
                                                  : rules.later;
  const int wanted = std::max(std::min(kLeastTokens, single_.tokens),
                              static_cast<int>(std::lround(share * single_.tokens)));
  if (rules.total_budget == 0) return wanted;
  if (first) return std::min(wanted, rules.total_budget);
  const int left = rules.total_budget - static_cast<int>(tokens_);
  // A wider look that is no wider than the first says nothing new.
  const int least = manner_ == Manner::wider
                        ? static_cast<int>(pictures_[chosen_].out.passes.front().tokens) + 1
                        : kLeastTokens;
  return left >= std::min(least, wanted) ? std::min(wanted, left) : 0;
}

bool Road::allocate() {
  Budget budget = single_;
  budget.tokens = affordable();
  if (budget.tokens == 0) {
    stop = Stop::budget;
    return false;
  }
  reading_.clear();
  if (manner_ == Manner::first) {
    for (size_t i = 0; i < pictures_.size(); ++i) reading_.push_back(i);
    allocate_first(budget);
  } else {
    reading_ = {chosen_};
    allocate_again(pictures_[chosen_], budget);
  }
  return true;
}

Geometry Road::geometry(const One& one) const {
  Geometry out = one.seen->pyramid->geometry();
  out.finest = options_.enlarge ? kFinestEver : 0;
  return out;
}

void Road::begin_pass(One& one, Allocation allocation, Map relevance) {
  one.open = Pass{};
  one.open.manner = manner_;
  one.open.allocation = std::move(allocation);
  one.open.relevance = std::move(relevance);
  append(fallbacks_, one.open.allocation.fallbacks);
}

Allocation Road::spread(const One& one, const Relevance& relevance, const Budget& budget) const {
  const Geometry g = geometry(one);
  switch (takes_.takes) {
    case TokenKind::views:
      return allocating::allocate_views(
          relevance, g, budget, options_.allocate,
          [this](int width, int height) { return model_->view_tokens(width, height); });
    case TokenKind::native:
      return allocating::allocate_views(
          relevance, g, {static_cast<int>(one.out.native_tokens), "native", "the picture as it is"},
          options_.allocate,
          [this](int width, int height) { return model_->view_tokens(width, height); });
    case TokenKind::patches:
    case TokenKind::selection:
      break;
  }
  AllocateOptions allocate = options_.allocate;
  for (Box& box : allocate.evidence)
    box = scaled(box, static_cast<double>(g.width) / one.out.width,
                 static_cast<double>(g.height) / one.out.height);
  return allocating::allocate(relevance, g, budget, options_.allocator, allocate);
}

// The question's map, lifted to where somebody looked.
Map Road::first_map(const One& one) const {
  return temper(one.relevance.map, {}, one.history, Manner::first, 0, options_.passes, 0);
}

void Road::allocate_first(const Budget& budget) {
  const auto count = static_cast<int>(pictures_.size());
  if (budget.tokens < count)
    throw Error(ErrorCode::bad_argument, std::to_string(budget.tokens) + " tokens cannot show " +
                                             std::to_string(count) + " pictures");
  const bool leaves = takes_.takes == TokenKind::patches || takes_.takes == TokenKind::selection;
  std::vector<Relevance> relevance;
  std::vector<Geometry> geometries;
  for (const One& one : pictures_) {
    relevance.push_back(one.relevance);
    relevance.back().map = first_map(one);
    geometries.push_back(geometry(one));
  }
  if (count > 1 && leaves) {
    auto shares = allocating::allocate_together(relevance, geometries, budget, options_.minimum,
                                                options_.allocate);
    for (size_t i = 0; i < pictures_.size(); ++i)
      begin_pass(pictures_[i], std::move(shares[i]), relevance[i].map);
  } else {
    Budget own = budget;
    own.tokens /= count;
    for (size_t i = 0; i < pictures_.size(); ++i)
      begin_pass(pictures_[i], spread(pictures_[i], relevance[i], own), relevance[i].map);
  }
  for (One& one : pictures_) one.out.budget = one.open.allocation.budget;
}

void Road::allocate_again(One& one, const Budget& budget) {
  const PassRules& rules = options_.passes;
  const bool elsewhere = manner_ == Manner::elsewhere;
  const double explore = elsewhere ? exploration(rules, one.history.uncertainty) : 0;
  const Map interest =
      explore > 0 && one.seen->seen ? one.seen->looker->interest(*one.seen->seen) : Map{};
  Relevance tempered = one.relevance;
  tempered.map = temper(one.relevance.map, interest, one.history, manner_, explore, rules,
                        options_.allocate.seed + static_cast<uint64_t>(one.out.passes.size()));
  Geometry g = geometry(one);
  if (rules.enlarge && manner_ == Manner::closer) g.finest = kFinestEver;
  Allocation allocation =
      allocating::allocate(tempered, g, budget, options_.allocator, options_.allocate);
  begin_pass(one, std::move(allocation), std::move(tempered.map));
  one.open.explore = interest.empty() ? 0 : explore;
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

void Road::take(std::vector<Reply> replies) {
  const size_t expected = takes_.several ? 1 : reading_.size();
  if (replies.size() != expected)
    throw Error(ErrorCode::bad_argument, "[hear] there must be one reply a reading");
  for (size_t k = 0; k < reading_.size(); ++k) {
    Reply reply = takes_.several ? replies.front() : std::move(replies[k]);
    if (takes_.several) {  // this picture's part
      const auto part = [k](auto& list) {
        if (k < list.size()) list = {list[k]};
      };
      part(reply.kept);
      part(reply.attention);
    }
    end_pass(pictures_[reading_[k]], std::move(reply));
  }
}

void Road::end_pass(One& one, Reply reply) {
  Pass& pass = one.open;
  if (!reply.kept.empty()) pass.tokens = reply.kept.front();
  if (reply.left) {  // a merged token stands where it began
    std::vector<Leaf> left;
    for (int64_t i : *reply.left) left.push_back(pass.allocation.leaves[static_cast<size_t>(i)]);
    pass.allocation.leaves = std::move(left);
  }
  append(fallbacks_, reply.fallbacks);
  pass.reply = std::move(reply);
  pass.uncertainty = uncertainty(pass.reply.probabilities);
  remember(pass, pass.reply.attention.empty() ? Map{} : pass.reply.attention.front(), one.history);
  const bool first = one.out.passes.empty();
  pass.confidence = options_.pass_policy
                        ? chance(options_.pass_policy->right, features_of(pass, first))
                        : pass.reply.confidence;
  tokens_ += pass.tokens;
  one.out.tokens += pass.tokens;
  one.out.passes.push_back(std::move(pass));
  if (believed(one.out.passes.back()) > believed(one.out.answer()))
    one.out.best = one.out.passes.size() - 1;
}

double Road::believed(const Pass& pass) const {
  const bool doubtful = pass.manner == Manner::closer && !options_.pass_policy &&
                        pass.confidence < options_.passes.confident;
  return doubtful ? pass.confidence - options_.passes.doubt : pass.confidence;
}

// ---- again?

void Road::choose_picture() {
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
    std::optional<Manner> manner = manner_after(last, rules);
    if (!widened() && (n > 1 || manner != Manner::closer)) manner = Manner::wider;
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
      if (const auto box = answer_box(best.allocation, best.reply.focus))
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
  out.unsure = out.confidence < options_.threshold.value_or(takes_.threshold);
  out.stages = stages_;
  out.statistics = statistics_;
  out.fallbacks = fallbacks_;
  return out;
}

}  // namespace arrcoc::asking
