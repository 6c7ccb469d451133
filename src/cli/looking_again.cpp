#include "cli/looking_again.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "arrcoc/error.h"
#include "arrcoc/strip.h"
#include "models/tiny/tiny.h"
#include "cli/asking.h"

namespace arrcoc::cli {

using nlohmann::ordered_json;

struct LookAgainFlags::State {
  std::string passes;
  std::string strip;
  int total_budget = 0;
  std::vector<double> gaze;
  PassFlags rules;
};

void PassFlags::add(CLI::App& app) {
  app.add_option("--confident", confident_, "passes: from this confidence on no further look")
      ->check(between(0, 1));
  app.add_option("--pass-policy", policy_,
                 "passes: learned policy (arrcoc passes --fit) instead of the rules");
}

void PassFlags::apply(answering::AskOptions& options) const {
  if (confident_ >= 0) options.confident = confident_;
  if (policy_.empty()) return;
  std::ifstream in(policy_, std::ios::binary);
  if (!in) throw Error(ErrorCode::not_found, "cannot read '" + policy_ + "'");
  std::stringstream text;
  text << in.rdbuf();
  try {
    options.learned = esper::policy_from_json(text.str());
  } catch (const Error& problem) {
    throw Error(problem.code(), policy_ + ": " + problem.what());
  }
}

namespace {

// A soft spot of a twelfth of the picture where somebody looked.
Map gaze_at(const Picture& picture, double x, double y) {
  if (!(x >= 0 && x < picture.width() && y >= 0 && y < picture.height()))
    throw Error(ErrorCode::bad_argument, "--gaze X Y is a pixel of the picture, which is " +
                                             std::to_string(picture.width()) + "x" +
                                             std::to_string(picture.height()));
  constexpr int kCells = 64;
  Map out{kCells,
          kCells,
          static_cast<float>(picture.width()) / kCells,
          static_cast<float>(picture.height()) / kCells,
          {}};
  const double reach = std::max(picture.width(), picture.height()) / 12.0;
  for (int r = 0; r < kCells; ++r)
    for (int c = 0; c < kCells; ++c) {
      const double dx = (c + 0.5) * out.cell_width - x, dy = (r + 0.5) * out.cell_height - y;
      out.values.push_back(
          static_cast<float>(std::exp(-0.5 * (dx * dx + dy * dy) / (reach * reach))));
    }
  return out;
}

int most_passes(const std::string& passes) {
  if (passes.empty() || passes == "auto") return esper::Rules{}.passes;
  if (passes.size() == 1 && passes[0] >= '1' && passes[0] <= '9') return passes[0] - '0';
  throw Error(ErrorCode::bad_argument, "--passes is auto or 1 to 9, not '" + passes + "'");
}

ordered_json to_json(const esper::Result& result, const Picture& picture, const std::string& policy,
                     double threshold) {
  const Allocation& seen = result.answer().allocation;
  ordered_json out;
  out["image"] = {{"width", picture.width()}, {"height", picture.height()}};
  out["question"] = result.query.text;
  out["answer"] = result.answer().answer;
  out["uncertainty"] = rounded(result.answer().uncertainty);
  out["confidence"] = rounded(result.answer().confidence);
  out["unsure"] = result.answer().confidence < threshold;
  out["policy"] = policy;
  out["budget"] = seen.budget.tokens;
  out["budget_reason"] = seen.budget.why;
  out["tokens"] = result.tokens;
  out["native_tokens"] = seen.geometry.native_tokens();
  out["stopped"] = result.stopped;
  out["best_pass"] = result.best + 1;
  auto passes = ordered_json::array();
  for (const esper::Pass& p : result.passes) {
    passes.push_back({{"answer", p.answer},
                      {"manner", p.manner},
                      {"uncertainty", rounded(p.uncertainty)},
                      {"confidence", rounded(p.confidence)},
                      {"gathered", rounded(p.gathered)},
                      {"explore", rounded(p.explore)},
                      {"budget", p.allocation.budget.tokens},
                      {"tokens", p.tokens},
                      {"reused", p.reused},
                      {"map", cli::to_json(p.relevance)},
                      {"attention", cli::to_json(p.attention)}});
  }
  out["passes"] = std::move(passes);
  out["fallbacks"] = result.fallbacks;
  return out;
}

void print(const esper::Result& result) {
  std::cout << "question    " << result.query.text << "\nanswer      "
            << (result.answer().answer.empty() ? "(nothing)" : result.answer().answer)
            << "\ntokens      " << result.tokens << " in all, stopped: " << result.stopped
            << "\n\n";
  std::vector<std::vector<std::string>> rows = {
      {"pass", "look", "answer", "confidence", "uncertainty", "explore", "tokens", "reused"}};
  const auto number = [](double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", v);
    return std::string(text);
  };
  for (size_t i = 0; i < result.passes.size(); ++i) {
    const esper::Pass& p = result.passes[i];
    rows.push_back({std::to_string(i + 1) + (i == result.best ? "*" : ""), p.manner, p.answer,
                    number(p.confidence), number(p.uncertainty), number(p.explore),
                    std::to_string(p.tokens), std::to_string(p.reused)});
  }
  std::cout << table(rows);
}

void report(const esper::PicturesResult& result, const std::string& asked,
            const std::vector<std::string>& names, bool json) {
  ordered_json out;
  out["question"] = asked;
  out["answer"] = result.text;
  out["picture"] = result.picture + 1;
  if (result.comparison && !result.comparison->each.empty()) out["each"] = result.comparison->each;
  out["uncertainty"] = rounded(result.uncertainty[static_cast<size_t>(result.picture)]);
  out["tokens"] = result.tokens;
  for (size_t i = 0; i < names.size(); ++i)
    out["pictures"].push_back({{"image", names[i]},
                               {"answer", result.replies[i].text},
                               {"uncertainty", rounded(result.uncertainty[i])},
                               {"tokens", result.seen[i].allocation.tokens()}});
  if (json) {
    std::cout << out.dump() << "\n";
    return;
  }
  std::cout << "question    " << asked << "\nanswer      "
            << (result.text.empty() ? "(nothing)" : result.text) << "  (picture "
            << result.picture + 1 << ")\ntokens      " << result.tokens << " in all\n\n";
  std::vector<std::vector<std::string>> rows = {{"picture", "answer", "uncertainty", "tokens"}};
  for (const auto& p : out["pictures"])
    rows.push_back({p["image"], p["answer"], p["uncertainty"].dump(), p["tokens"].dump()});
  std::cout << table(rows);
}

}  // namespace

LookAgainFlags::LookAgainFlags(CLI::App& app) : state_(std::make_shared<State>()) {
  app.add_option("--passes", state_->passes, "look again while unsure: auto (up to 4) or 1 to 9");
  app.add_option("--total-budget", state_->total_budget,
                 "look again; tokens of all passes together")
      ->check(positive());
  app.add_option("--strip", state_->strip, "look again; write the passes side by side (PNG)");
  app.add_option("--gaze", state_->gaze, "a pixel where somebody looked: lifts the first map there")
      ->expected(2)
      ->type_name("X Y");
  state_->rules.add(app);
}

bool LookAgainFlags::wanted(const std::vector<std::string>& more) const {
  return !more.empty() || !state_->passes.empty() || state_->total_budget > 0 ||
         !state_->strip.empty() || !state_->gaze.empty();
}

namespace {

// The pipeline that stands for a policy of answering: the network's policies are `realizer` there.
Options pipeline_of(const nlohmann::json& given) {
  nlohmann::json fields = given;
  const std::string name = given.value("policy", "realized");
  if (name == "passes") fields["policy"] = "realizer";
  return options_from_json(fields.dump());
}

void ask_several(std::vector<std::string> names, const Options& look,
                 const media::LoadOptions& load, bool json) {
  const std::string asked = names.back();
  names.pop_back();
  parse_query(asked);
  std::vector<Picture> pictures;
  for (const std::string& name : names) {
    if (name != "-" && !std::filesystem::exists(name))
      throw Error(ErrorCode::not_found,
                  "there is no picture '" + name + "'; is the question in quotes?");
    pictures.push_back(media::load(name, load));
  }
  const auto backend = esper::tiny_backend(tiny::installed());
  report(esper::ask_pictures(pictures, asked, *backend, look), asked, names, json);
}

}  // namespace

void LookAgainFlags::run(const std::string& image, const std::string& question,
                         const std::vector<std::string>& more, const nlohmann::json& given,
                         const media::LoadOptions& load, bool json) const {
  if (!more.empty()) {
    if (!state_->passes.empty() || state_->total_budget > 0 || !state_->strip.empty() ||
        !state_->gaze.empty())
      throw Error(ErrorCode::unsupported, "several pictures are looked at once, not in passes");
    std::vector<std::string> names = {image, question};
    names.insert(names.end(), more.begin(), more.end());
    ask_several(std::move(names), pipeline_of(given), load, json);
    return;
  }
  const std::string policy = given.value("policy", "realized");
  const bool network = policy == "realized" || policy == "realizer" || policy == "passes";
  answering::AskOptions options = ask_options(network ? "passes" : policy, given);
  options.rules.passes = most_passes(state_->passes);
  options.total_budget = state_->total_budget;
  state_->rules.apply(options);
  parse_query(question);
  const Picture picture = media::load(image, load);
  if (!state_->gaze.empty()) options.gaze = gaze_at(picture, state_->gaze[0], state_->gaze[1]);
  esper::Result result;
  if (network) {
    const answering::Reply reply = answerer()->ask(picture, question, options);
    result = *reply.passes;
    result.fallbacks = reply.fallbacks;
  } else {  // any other map, the bundled model reads
    esper::Options settings;
    settings.look = pipeline_of(given);
    settings.rules = options.rules;
    settings.total_budget = options.total_budget;
    settings.seed = settings.look.allocate.seed;
    settings.gaze = options.gaze;
    settings.learned = options.learned;
    result = esper::ask(picture, question, *esper::tiny_backend(tiny::installed()), settings);
  }
  if (!state_->strip.empty())
    media::write_png(state_->strip,
                     media::draw_passes(pyramid_of(picture, options.look).picture(), result));
  if (json) {
    std::cout << to_json(result, picture, network ? "passes" : policy,
                         answerer()->calibration().threshold)
                     .dump()
              << "\n";
  } else {
    print(result);
  }
}

}  // namespace arrcoc::cli
