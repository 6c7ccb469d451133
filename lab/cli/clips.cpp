// arrcoc clips: how well the leaves follow a film, on generated clips or on frames with boxes; and
// the fit of the temporal constants on generated clips.
#include <ATen/ATen.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "arrcoc/error.h"
#include "arrcoc/video.h"
#include "cli/cli.h"
#include "cli/watch.h"
#include "film/films.h"
#include "lab/scenes/scenes.h"

namespace arrcoc::cli {

namespace {

using filming::Film;
using filming::Score;
using nlohmann::json;
using nlohmann::ordered_json;

struct Clips {
  std::string data;
  std::string question = "the person crossing the street";
  int count = scenes::kSuiteScenes;
  uint64_t seed = 0;  // 0: the suite
  std::string fit;
  bool json = false;
};

Picture picture_of(const scenes::Image& image) {
  const at::Tensor pixels =
      at::from_blob(const_cast<uint8_t*>(image.rgb.data()), {image.height, image.width, 3},
                    at::TensorOptions().dtype(at::kByte));
  return make_picture(pixels.permute({2, 0, 1}).contiguous());
}

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

void add_films(const scenes::Scene& scene, const Options& options, std::vector<Film>& films) {
  const std::vector<bool> cuts = cuts_of(scene);
  for (size_t q = 0; q < scene.questions.size(); ++q) {
    const bool boxes = follows(scene, q);
    Film film;
    film.layout = scene.layout;
    for (size_t i = 0; i < scene.images.size(); ++i) {
      const scenes::Image& image = scene.images[i];
      film.add(picture_of(image), scene.questions[q].text, options,
               boxes && q < image.targets.size() ? image.targets[q] : Box{}, cuts[i]);
    }
    films.push_back(std::move(film));
  }
}

std::vector<Film> generated(const Clips& args, const Options& options) {
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
              options, films);
    progress.step();
  }
  return films;
}

// boxes.jsonl: {"image", "box"} a line.
Film measured(const Clips& args, const Options& options) {
  const std::filesystem::path folder = args.data;
  const std::string path = (folder / "boxes.jsonl").string();
  std::ifstream in(path);
  if (!in) throw Error(ErrorCode::not_found, "cannot read " + path);
  Film film;
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    try {
      const json line = json::parse(text);
      const json& b = line.at("box");
      const Box box{b.at(0), b.at(1), b.at(2), b.at(3)};
      film.add(media::load((folder / line.at("image").get<std::string>()).string()), args.question,
               options, box, false);
    } catch (const json::exception& e) {
      throw Error(ErrorCode::bad_json, path + ":" + std::to_string(number) + ": " + e.what());
    }
  }
  if (film.thumbs.empty()) throw Error(ErrorCode::not_found, path + " names no frames");
  return film;
}

Score score_of(const std::vector<Film>& films, const filming::Options& options, bool baselines) {
  const auto flow = media::dis_flow();
  const auto segments = media::slic_segments();
  Score score;
  for (const Film& film : films)
    filming::measure(film, options, flow.get(), segments.get(), baselines, score);
  return score;
}

ordered_json to_json(const Score& s) {
  return {
      {"frames", s.frames},
      {"boxes", s.boxes},
      {"coverage", rounded(s.coverage())},
      {"coverage_per_frame", rounded(s.coverage_alone())},
      {"coverage_breadth_first", rounded(s.coverage_even())},
      {"coherence", rounded(s.mean_coherence())},
      {"coherence_least", rounded(s.least)},
      {"pairs", s.pairs},
      {"pairs_at_most_0.8", s.low},
      {"cuts_f1", rounded(s.f1())},
      {"cuts_found", s.hits},
      {"cuts_false", s.false_cuts},
      {"cuts_missed", s.missed},
      {"tokens_per_frame", rounded(static_cast<double>(s.tokens) / std::max<int64_t>(1, s.frames))},
      {"most_tokens", s.most},
      {"close_looks", s.looks}};
}

ordered_json by_layout(const std::vector<Film>& films, const filming::Options& timing) {
  std::map<std::string, std::vector<Film>> parts;
  for (const Film& film : films) parts[film.layout].push_back(film);
  ordered_json out;
  for (const auto& [layout, part] : parts) {
    const Score s = score_of(part, timing, true);
    out[layout] = {{"boxes", s.boxes},
                   {"coverage", rounded(s.coverage())},
                   {"coverage_per_frame", rounded(s.coverage_alone())},
                   {"coherence", rounded(s.mean_coherence())},
                   {"close_looks", rounded(static_cast<double>(s.looks) /
                                           static_cast<double>(std::max<int64_t>(1, s.frames)))}};
  }
  return out;
}

void clips(const Clips& args, const WatchFlags& flags) {
  const Options options = flags.pipeline();
  filming::Options timing = flags.timing();
  std::vector<Film> films;
  if (args.data.empty()) {
    films = generated(args, options);
  } else {
    films.push_back(measured(args, options));
  }
  ordered_json out;
  if (!args.fit.empty()) {
    timing = filming::fit(films, timing, media::dis_flow().get(), media::slic_segments().get(),
                          [](const std::string& line) { std::cerr << line << "\n"; });
    out = ordered_json::parse(filming::constants_json(timing));
  }
  const ordered_json measured = to_json(score_of(films, timing, true));
  if (!args.fit.empty()) {
    out["measured"] = measured;
    const std::string text = out.dump(2) + "\n";
    media::write_file(args.fit, std::vector<uint8_t>(text.begin(), text.end()));
  } else {
    out = measured;
    if (args.data.empty()) out["layouts"] = by_layout(films, timing);
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
      ->check(CLI::Range(1, scenes::kSuiteScenes));
  sub->add_option("--fit", args->fit,
                  "choose the constants on clips that are in no suite and write them to this file");
  sub->add_option("--first-seed", args->seed,
                  "clips of this seed and those after it instead of the suite's");
  sub->add_flag("--json", args->json, "print as JSON");
  const WatchFlags flags(*sub);
  sub->callback([args, flags] {
    if (!args->fit.empty()) {
      if (!args->data.empty())
        throw Error(ErrorCode::bad_argument, "--fit is for generated clips, not for --data");
      require_writable(args->fit);
      if (args->seed == 0) args->seed = 1;
    }
    clips(*args, flags);
  });
}

}  // namespace arrcoc::cli
