// arrcoc clips: how well the leaves follow a film, on generated clips or on frames with boxes; and
// the fit of the temporal constants on generated clips.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "arrcoc/error.h"
#include "cli/watch.h"
#include "lab/cli/clips_answers.h"
#include "lab/cli/lab.h"
#include "lab/fit/film_fit.h"
#include "lab/fit/film_movers.h"

namespace arrcoc::cli {

namespace {

using measuring::Film;
using measuring::FilmBaselines;
using measuring::FilmBox;
using measuring::FilmLook;
using measuring::FilmScore;
using measuring::FilmSources;

struct Clips {
  std::string data;
  std::string question = "the person crossing the street";
  int count = scenes::kSuiteScenes;
  uint64_t seed = 0;  // 0: the suite
  std::string fit;
  int movers = 24;
  bool json = false;
  bool answers = false;
  std::string rows, intent;
  int moments_budget = filming::TimeOptions().tokens;
};

constexpr uint64_t kMoverSeed = 7000001;

// The boxes of a question that asks for everything say nothing about following.
bool follows(const scenes::Scene& scene, size_t q) {
  for (const scenes::Image& frame : scene.images) {
    const double area = static_cast<double>(frame.width) * frame.height;
    if (q < frame.targets.size() && frame.targets[q].area() > 0.25 * area) return false;
  }
  return true;
}

// A shot begins where what a question is about appears or goes, in clips that are cut.
std::vector<bool> cuts_of(const scenes::Scene& scene) {
  std::vector<bool> out(scene.images.size(), false);
  if (scene.layout != "cut") return out;
  for (size_t i = 1; i < out.size(); ++i)
    for (size_t q = 0; q < scene.images[i].targets.size(); ++q)
      if ((scene.images[i].targets[q].area() > 0) != (scene.images[i - 1].targets[q].area() > 0))
        out[i] = true;
  return out;
}

void add_films(const scenes::Scene& scene, int clip, const FilmLook& look,
               std::vector<Film>& films) {
  const std::vector<bool> cuts = cuts_of(scene);
  for (size_t q = 0; q < scene.questions.size(); ++q) {
    const bool boxes = follows(scene, q);
    Film& film = films.emplace_back();
    film.layout = scene.layout;
    film.clip = clip;
    film.question = parse_query(scene.questions[q].text);
    for (size_t i = 0; i < scene.images.size(); ++i) {
      const scenes::Image& image = scene.images[i];
      film.add(measuring::picture_of(image, ""), look,
               boxes && q < image.targets.size() ? image.targets[q] : Box{}, cuts[i]);
    }
  }
}

std::vector<Film> generated(const Clips& args, const FilmLook& look) {
  const auto assets = scenes::Assets::load(scenes::find_assets());
  std::vector<Film> films;
  Progress progress("clips", static_cast<size_t>(args.count));
  for (int i = 0; i < args.count; ++i) {
    scenes::Options making;
    making.questions = scenes::kSuiteQuestions;
    // Constants are fitted on seeds that no suite uses.
    add_films(args.seed > 0
                  ? scenes::make(*assets, "clips", args.seed + static_cast<uint64_t>(i), making)
                  : scenes::suite_scene(*assets, "clips", i),
              i, look, films);
    progress.step();
  }
  return films;
}

// boxes.jsonl: {"image", "box"} a line.
Film measured(const Clips& args, const FilmLook& look) {
  const std::filesystem::path folder = args.data;
  const std::string path = (folder / "boxes.jsonl").string();
  std::ifstream in(path);
  if (!in) throw Error(ErrorCode::not_found, "cannot read " + path);
  Film film;
  film.clip = -1;
  film.question = parse_query(args.question);
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    try {
      const json line = json::parse(text);
      const json& b = line.at("box");
      const Box box{b.at(0), b.at(1), b.at(2), b.at(3)};
      film.add(media::load((folder / line.at("image").get<std::string>()).string()), look, box,
               false);
    } catch (const json::exception& e) {
      throw Error(ErrorCode::bad_json, path + ":" + std::to_string(number) + ": " + e.what());
    }
  }
  if (film.thumbs.empty()) throw Error(ErrorCode::not_found, path + " names no frames");
  return film;
}

ordered_json interval_json(const measuring::Interval& i) {
  return {rounded(i.mean), rounded(i.low), rounded(i.high)};
}

// What following covers beside what others cover with as many tokens, and the differences.
ordered_json coverage_json(const FilmScore& s) {
  return {
      {"coverage", rounded(s.mean(&FilmBox::covered))},
      {"coverage_per_frame", rounded(s.mean(&FilmBox::alone))},
      {"coverage_more", interval_json(s.less(&FilmBox::covered, &FilmBox::alone))},
      {"shown", rounded(s.mean(&FilmBox::shown))},
      {"shown_more", interval_json(s.less(&FilmBox::shown, &FilmBox::alone))},
      {"coverage_same_frames", rounded(s.mean(&FilmBox::same))},
      {"shown_same_frames", rounded(s.mean(&FilmBox::same_shown))},
      {"shown_more_than_same_frames", interval_json(s.less(&FilmBox::shown, &FilmBox::same_shown))},
      {"coverage_breadth_first", rounded(s.mean(&FilmBox::breadth))},
      {"tokens_per_frame", rounded(s.per_frame(s.tokens))},
      {"tokens_per_frame_alone", rounded(s.per_frame(s.alone_tokens))},
      {"most_tokens_apart", s.furthest}};
}

// The least coherence is the work of a clamp (FilmConstants::steady): what it would be without one
// stands beside it.
ordered_json to_json(const FilmScore& s, const FilmScore& unclamped, float steady) {
  ordered_json out = {{"frames", s.frames}, {"boxes", s.boxes.size()}};
  out.update(coverage_json(s));
  out.update({{"coherence", rounded(s.mean_coherence())},
              {"coherence_least", rounded(s.least)},
              {"coherence_clamped_at", rounded(steady)},
              {"coherence_without_clamp", rounded(unclamped.mean_coherence())},
              {"coherence_least_without_clamp", rounded(unclamped.least)},
              {"pairs", s.pairs},
              {"pairs_at_most_0.8", s.low},
              {"pairs_at_most_0.8_without_clamp", unclamped.low},
              {"cuts_f1", rounded(s.f1())},
              {"cuts_found", s.hits},
              {"cuts_false", s.false_cuts},
              {"cuts_missed", s.missed},
              {"most_tokens", s.most},
              {"close_looks", s.looks}});
  return out;
}

ordered_json score_json(const std::vector<Film>& films, const filming::Options& timing,
                        const FilmSources& sources) {
  filming::Options free = timing;
  free.tuning.steady = 0;
  return to_json(follow(films, timing, sources, FilmBaselines::all),
                 follow(films, free, sources, FilmBaselines::none), timing.tuning.steady);
}

ordered_json by_layout(const std::vector<Film>& films, const filming::Options& timing,
                       const FilmSources& sources) {
  std::map<std::string, std::vector<Film>> parts;
  for (const Film& film : films) parts[film.layout].push_back(film);
  ordered_json out;
  for (const auto& [layout, part] : parts) {
    const FilmScore s = follow(part, timing, sources, FilmBaselines::all);
    out[layout] = {{"boxes", s.boxes.size()}};
    out[layout].update(coverage_json(s));
    out[layout].update({{"coherence", rounded(s.mean_coherence())},
                        {"close_looks", rounded(s.per_frame(s.looks))}});
  }
  return out;
}

// The fitted constants where they are better on clips held aside, else those from before; either
// way with what was measured.
ordered_json fitted(const Clips& args, const std::vector<Film>& films, const FilmLook& look,
                    const filming::Options& timing, const FilmSources& sources) {
  const auto assets = scenes::Assets::load(scenes::find_assets());
  const FilmSources known = fitting::remembered(sources);
  const fitting::FilmRows rows{films, fitting::mover_films(*assets, args.movers, kMoverSeed, look)};
  const fitting::FilmFit fit = fitting::fit_film(
      rows, timing, known, [](const std::string& line) { std::cerr << line << "\n"; });
  FilmConstants kept = timing.tuning;
  kept.novelty = timing.allowance.novelty;
  ordered_json out = ordered_json::parse(arrcoc::to_json(fit.better ? fit.constants : kept));
  out["measured"] = {{"better", fit.better},
                     {"clips_held_aside", interval_json(fit.clips)},
                     {"movers_held_aside", interval_json(fit.movers)},
                     {"tried", ordered_json::parse(arrcoc::to_json(fit.constants))}};
  return out;
}

void clips(const Clips& args, const WatchFlags& flags) {
  AskOptions options = flags.pipeline();
  options.budget = std::to_string(kMinBudget);  // the film's allowance decides, not the network
  const auto model = args.answers ? bundle() : bundle_for(options);
  const Asker asker(model);
  const FilmLook look{asker.looker(options), options};
  const FilmSources sources{media::dis_flow(), media::slic_segments()};
  filming::Options timing = flags.timing(model ? model->film : FilmConstants{});
  if (args.answers) {
    filming::TimeOptions time;
    time.ask = flags.reading();
    time.tokens = args.moments_budget;
    clips_answers({args.count, args.seed, args.json, args.rows, args.intent}, asker,
                  {look, timing, sources, time});
    return;
  }
  const std::vector<Film> films =
      args.data.empty() ? generated(args, look) : std::vector<Film>{measured(args, look)};
  ordered_json out;
  if (args.fit.empty()) {
    out = score_json(films, timing, sources);
    if (args.data.empty()) out["layouts"] = by_layout(films, timing, sources);
  } else {
    out = fitted(args, films, look, timing, sources);
    write_text(args.fit, out.dump(2) + "\n");
  }
  if (args.json) {
    std::cout << out.dump() << "\n";
    return;
  }
  for (const auto& [key, value] : out.items()) std::cout << key << "  " << value.dump() << "\n";
}

}  // namespace

void add_clips(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "clips", "how well the leaves follow films: suite:clips, or frames with boxes");
  auto args = std::make_shared<Clips>();
  sub->add_option("--data", args->data, "folder with boxes.jsonl and its frames");
  sub->add_option("--question", args->question, "with --data: what is asked");
  sub->add_option("--count", args->count, "generated clips, at most 100 of the suite")
      ->check(CLI::Range(1, 100000));
  sub->add_option("--fit", args->fit,
                  "choose the constants on clips that are in no suite and write them to this file");
  sub->add_option("--movers", args->movers,
                  "with --fit: films of things that move and have no name")
      ->check(CLI::Range(0, 1000));
  sub->add_option("--first-seed", args->seed,
                  "clips of this seed and those after it instead of the suite's");
  sub->add_flag("--json", args->json, "print as JSON");
  auto* answers = sub->add_flag("--answers", args->answers,
                                "questions over time (suite:time), beside what one frame answers");
  sub->add_option("--moments-budget", args->moments_budget,
                  "with --answers: tokens for all moments")
      ->check(CLI::Range(64, 1 << 20))
      ->needs(answers);
  sub->add_option("--rows", args->rows, "with --answers: write every question to this file")
      ->needs(answers);
  sub->add_option("--intent", args->intent, "with --answers: only such questions (time.count, ...)")
      ->needs(answers);
  const WatchFlags flags(*sub);
  sub->callback([args, flags] {
    if (!args->fit.empty()) {
      if (!args->data.empty())
        throw Error(ErrorCode::bad_argument, "--fit is for generated clips, not for --data");
      require_writable(args->fit);
      if (args->seed == 0) args->seed = 1;
    }
    if (args->seed == 0 && args->count > scenes::kSuiteScenes)
      throw Error(ErrorCode::bad_argument, "the suite has 100 clips; --first-seed makes others");
    clips(*args, flags);
  });
}

}  // namespace arrcoc::cli
