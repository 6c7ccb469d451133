#include "cli/looking_again.h"

#include <filesystem>

#include <iostream>

#include "arrcoc/error.h"
#include "arrcoc/strip.h"
#include "arrcoc/tiny.h"

namespace arrcoc::cli {

using nlohmann::ordered_json;

struct LookAgainFlags::State {
  std::string passes;
  std::string strip;
  int total_budget = 0;
};

namespace {

int most_passes(const std::string& passes) {
  if (passes.empty() || passes == "auto") return esper::Rules{}.passes;
  if (passes.size() == 1 && passes[0] >= '1' && passes[0] <= '9') return passes[0] - '0';
  throw Error(ErrorCode::bad_argument, "--passes is auto or 1 to 9, not '" + passes + "'");
}

ordered_json to_json(const esper::Result& result) {
  ordered_json out;
  out["question"] = result.query.text;
  out["answer"] = result.answer().answer;
  out["uncertainty"] = rounded(result.answer().uncertainty);
  out["tokens"] = result.tokens;
  out["stopped"] = result.stopped;
  out["best_pass"] = result.best + 1;
  auto passes = ordered_json::array();
  for (const esper::Pass& p : result.passes) {
    passes.push_back({{"answer", p.answer},
                      {"uncertainty", rounded(p.uncertainty)},
                      {"explore", rounded(p.explore)},
                      {"budget", p.allocation.budget.tokens},
                      {"tokens", p.tokens},
                      {"reused", p.reused},
                      {"map", cli::to_json(p.relevance)}});
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
      {"pass", "answer", "uncertainty", "explore", "tokens", "reused"}};
  const auto number = [](double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", v);
    return std::string(text);
  };
  for (size_t i = 0; i < result.passes.size(); ++i) {
    const esper::Pass& p = result.passes[i];
    rows.push_back({std::to_string(i + 1) + (i == result.best ? "*" : ""), p.answer,
                    number(p.uncertainty), number(p.explore), std::to_string(p.tokens),
                    std::to_string(p.reused)});
  }
  std::cout << table(rows);
}

void report(const esper::PicturesResult& result, const std::vector<std::string>& names, bool json) {
  ordered_json out;
  out["question"] = result.seen[0].query.text;
  out["answer"] = result.answer().text;
  out["picture"] = result.picture + 1;
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
  std::cout << "question    " << result.seen[0].query.text << "\nanswer      "
            << (result.answer().text.empty() ? "(nothing)" : result.answer().text) << "  (picture "
            << result.picture + 1 << ")\ntokens      " << result.tokens << " in all\n\n";
  std::vector<std::vector<std::string>> rows = {{"picture", "answer", "uncertainty", "tokens"}};
  for (const auto& p : out["pictures"])
    rows.push_back({p["image"], p["answer"], p["uncertainty"].dump(), p["tokens"].dump()});
  std::cout << table(rows);
}

}  // namespace

LookAgainFlags::LookAgainFlags(CLI::App& app) : state_(std::make_shared<State>()) {
  app.add_option("--passes", state_->passes, "look again while unsure: auto (up to 4) or 1 to 9");
  app.add_option("--total-budget", state_->total_budget, "tokens of all passes together")
      ->check(CLI::PositiveNumber);
  app.add_option("--strip", state_->strip, "write the passes side by side (PNG)");
}

bool LookAgainFlags::wanted(const std::vector<std::string>& more) const {
  return !more.empty() || !state_->passes.empty() || state_->total_budget > 0 ||
         !state_->strip.empty();
}

void LookAgainFlags::run(const std::string& image, const std::string& question,
                         const std::vector<std::string>& more, const Options& look,
                         const media::LoadOptions& load, bool json) const {
  const auto backend = esper::tiny_backend(tiny::installed());
  if (!more.empty()) {
    if (!state_->passes.empty() || state_->total_budget > 0 || !state_->strip.empty())
      throw Error(ErrorCode::unsupported, "several pictures are looked at once, not in passes");
    std::vector<std::string> names = {image, question};
    names.insert(names.end(), more.begin(), more.end());
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
    report(esper::ask_pictures(pictures, asked, *backend, look), names, json);
    return;
  }
  esper::Options options;
  options.look = look;
  options.rules.passes = most_passes(state_->passes);
  options.total_budget = state_->total_budget;
  options.seed = look.allocate.seed;
  parse_query(question);
  const Picture picture = media::load(image, load);
  const esper::Result result = esper::ask(picture, question, *backend, options);
  if (!state_->strip.empty())
    media::write_png(state_->strip,
                     media::draw_passes(pyramid_of(picture, look).picture(), result));
  if (json) {
    std::cout << to_json(result).dump() << "\n";
  } else {
    print(result);
  }
}

}  // namespace arrcoc::cli
