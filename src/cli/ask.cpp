// arrcoc ask IMAGE... "QUESTION": looks, reads and answers, with the bundled model or a folder's.
// arrcoc ask --batch questions.jsonl: many questions, one JSON line each.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "arrcoc/error.h"
#include "base/stopwatch.h"
#include "cli/ask_flags.h"
#include "cli/terminal.h"

namespace arrcoc::cli {

namespace {

struct Ask {
  std::vector<std::string> words;  // pictures, then the question
  std::string batch, heatmap, strip;
  std::vector<std::string> then;
  double threshold = -1;
  bool json = false, details = false;
  std::optional<ShowFlag> show;
};

// FILE for the first picture, FILE with .2, .3 ... before its ending for the others.
std::string numbered(const std::string& file, size_t i) {
  std::filesystem::path path = file;
  if (i > 0)
    path.replace_filename(path.stem().string() + "." + std::to_string(i + 1) +
                          path.extension().string());
  return path.string();
}

// Leaves refer to their own canvas.
Picture canvas_of(const Picture& picture, const Allocation& allocation) {
  return resize(picture, allocation.geometry.width, allocation.geometry.height);
}

void draw(const Ask& args, const std::vector<Picture>& pictures, const Answer& answer) {
  for (size_t i = 0; i < pictures.size(); ++i) {
    const PictureAnswer& one = answer.pictures[i];
    const Picture canvas = canvas_of(pictures[i], one.answer().allocation);
    if (!args.heatmap.empty())
      media::write_png(numbered(args.heatmap, i),
                       media::draw_homunculus(canvas, one.answer().allocation));
    if (!args.strip.empty())
      media::write_png(numbered(args.strip, i), media::draw_passes(canvas, one));
    args.show->show(canvas, one.answer().allocation);
  }
}

void print_passes(const PictureAnswer& picture) {
  std::vector<std::vector<std::string>> rows = {
      {"pass", "look", "answer", "confidence", "uncertainty", "explore", "tokens", "reused"}};
  for (size_t i = 0; i < picture.passes.size(); ++i) {
    const Pass& p = picture.passes[i];
    rows.push_back({std::to_string(i + 1) + (i == picture.best ? "*" : ""), to_string(p.manner),
                    p.reply.text, fixed(p.confidence, 2), fixed(p.uncertainty, 2),
                    fixed(p.explore, 2), std::to_string(p.tokens), std::to_string(p.reused)});
  }
  std::cout << "\n" << table(rows);
}

void print_pictures(const Answer& answer, const std::vector<Picture>& pictures) {
  std::vector<std::vector<std::string>> rows = {{"picture", "answer", "confidence", "tokens"}};
  for (size_t i = 0; i < pictures.size(); ++i) {
    const Pass& best = answer.pictures[i].answer();
    rows.push_back({pictures[i].source, best.reply.text, fixed(best.reply.confidence, 2),
                    std::to_string(answer.pictures[i].tokens)});
  }
  std::cout << "\n" << table(rows);
}

void print(const Answer& answer, const std::vector<Picture>& pictures, bool passes) {
  const auto native = static_cast<double>(answer.native_tokens);
  const Allocation& allocation = answer.from().answer().allocation;
  const Picture& from = pictures[answer.picture];
  std::cout << from.source << "  " << from.width() << "x" << from.height() << "\n"
            << "question    " << answer.query.text << "\n"
            << "answer      " << (answer.text.empty() ? "(nothing)" : answer.text)
            << (answer.unsure ? "  (unsure)" : "")
            << (pictures.size() > 1 ? "  (picture " + std::to_string(answer.picture + 1) + ")" : "")
            << "\n"
            << "confidence  " << fixed(100 * answer.confidence, 1) << " %"
            << (answer.calibrated ? "" : "  (mean probability, not calibrated)") << "\n";
  if (const auto& box = answer.box())
    std::cout << "read at     x " << std::lround(box->x0) << " to " << std::lround(box->x1)
              << ", y " << std::lround(box->y0) << " to " << std::lround(box->y1) << "\n";
  std::cout << "policy      " << answer.policy << "\n"
            << "tokens      " << answer.tokens << " of " << answer.native_tokens << " native ("
            << fixed(100 * static_cast<double>(answer.tokens) / native, 1) << " %), budget "
            << allocation.budget.tokens << ": " << allocation.budget.why << "\n";
  if (passes) std::cout << "stopped     " << to_string(answer.stop) << "\n";
  if (pictures.size() > 1) print_pictures(answer, pictures);
  if (passes) print_passes(answer.from());
  std::vector<std::vector<std::string>> times = {{"stage", "ms"}};
  for (const Stage& s : answer.stages) times.push_back({s.name, fixed(s.milliseconds, 1)});
  std::cout << "\n" << table(times);
  for (const std::string& f : answer.fallbacks) std::cout << "note        " << f << "\n";
}

// Films have a command of their own.
void refuse_film(const std::string& name) {
  constexpr const char* kFilms[] = {".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi"};
  std::string ending = std::filesystem::path(name).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::error_code ignored;
  const bool film = std::find(std::begin(kFilms), std::end(kFilms), ending) != std::end(kFilms);
  if (film || std::filesystem::is_directory(name, ignored))
    throw Error(ErrorCode::bad_argument,
                "'" + name + "' is " + (film ? "a film" : "a folder") +
                    ": arrcoc watch answers about films, and about the pictures of a folder as "
                    "one; with --model as well");
}

// The pictures and the question among the words; a forgotten question makes a picture the last.
std::vector<std::string> names_of(const Ask& args) {
  if (args.words.size() < 2 || args.words.back().empty())
    throw Error(ErrorCode::bad_argument, "give a picture and a question, or --batch FILE");
  const std::string& question = args.words.back();
  std::error_code ignored;
  if (std::filesystem::is_regular_file(question, ignored))
    throw Error(ErrorCode::bad_argument, "the question is missing: '" + question + "' is a file");
  std::vector<std::string> names(args.words.begin(), args.words.end() - 1);
  for (const std::string& name : names)
    if (names.size() > 1 && name != "-" && !std::filesystem::exists(name))
      throw Error(ErrorCode::not_found,
                  "there is no picture '" + name + "'; is the question in quotes?");
  for (const std::string& name : names) refuse_film(name);
  return names;
}

// One conversation: the question and those that follow it.
void ask_once(const Ask& args, const AskFlags& flags, const media::LoadOptions& load) {
  const std::vector<std::string> names = names_of(args);
  parse_query(args.words.back());  // refuse a bad question before anything is read
  Stopwatch watch;
  const std::shared_ptr<const Asker> asker = flags.asker();
  const double loading = watch.lap();
  std::vector<Picture> pictures;
  for (const std::string& name : names) pictures.push_back(media::load(name, load));
  const double decoding = watch.lap();
  AskOptions options = flags.options(pictures.front());
  if (args.threshold >= 0) options.threshold = args.threshold;
  std::vector<std::string> questions = {args.words.back()};
  questions.insert(questions.end(), args.then.begin(), args.then.end());
  auto turns = ordered_json::array();
  for (const std::string& question : questions) {
    Answer answer = asker->ask(pictures, question, options);
    answer.stages.insert(answer.stages.begin(), {{"loading", loading}, {"decoding", decoding}});
    draw(args, pictures, answer);
    if (args.json) {
      turns.push_back(to_json(answer, {args.details}));
    } else {
      print(answer, pictures, options.passes.passes > 1);
    }
    const int shown = options.before.empty() ? static_cast<int>(pictures.size()) : 0;
    options.before.push_back({Role::user, question, shown});
    options.before.push_back({Role::assistant, answer.text, 0});
  }
  if (!args.json) return;
  const bool several = !args.then.empty();
  std::cout << (several ? ordered_json{{"turns", turns}} : turns.front()).dump() << "\n";
}

// Error{bad_json} for what is no {"image": ..., "question": ...}.
std::pair<std::string, std::string> parse_line(const std::string& text) {
  const json line = json::parse(text, nullptr, false);
  if (!line.is_object()) throw Error(ErrorCode::bad_json, "not a JSON object");
  for (const char* key : {"image", "question"})
    if (!line.contains(key) || !line[key].is_string())
      throw Error(ErrorCode::bad_json, std::string("needs \"") + key + "\", a string");
  return {line["image"], line["question"]};
}

// Lines of a file that will be asked; 0 for what cannot be read twice.
size_t questions_in(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return 0;
  std::ifstream in(path, std::ios::binary);
  size_t count = 0;
  for (std::string text; std::getline(in, text);)
    count += text.find_first_not_of(" \t\r") != std::string::npos ? 1 : 0;
  return count;
}

// Pictures are named relative to the file of questions. What was seen of the last pictures is
// remembered, so questions about one picture belong together.
void ask_many(const Ask& args, const AskFlags& flags, const media::LoadOptions& load) {
  std::ifstream file;
  if (args.batch != "-") {
    file.open(args.batch, std::ios::binary);
    if (!file || std::filesystem::is_directory(args.batch))
      throw Error(ErrorCode::not_found, "cannot read '" + args.batch + "'");
  }
  std::istream& in = args.batch == "-" ? std::cin : file;
  const std::filesystem::path folder = std::filesystem::path(args.batch).parent_path();
  const std::shared_ptr<const Asker> asker = flags.asker();
  Picture picture;
  std::string loaded, text;
  int failed = 0, asked = 0;
  std::optional<Progress> progress;
  if (const size_t all = questions_in(args.batch); all > 0) progress.emplace("asking", all);
  for (int number = 1; std::getline(in, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    ++asked;
    ordered_json out;
    out["line"] = number;
    try {
      const auto [image, question] = parse_line(text);
      const std::string path = args.batch == "-" ? image : (folder / image).string();
      if (path != loaded) {
        refuse_film(path);
        picture = media::load(path, load);
        loaded = path;
      }
      AskOptions options = flags.options(picture);
      if (args.threshold >= 0) options.threshold = args.threshold;
      out["source"] = image;
      out.update(to_json(asker->ask(picture, question, options), {args.details}));
    } catch (const Error& problem) {
      ++failed;
      out["error"] = problem.what();
    }
    if (progress) progress->clear();
    std::cout << out.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << std::endl;
    if (progress) progress->step();
  }
  progress.reset();
  if (asked == 0) throw Error(ErrorCode::bad_json, args.batch + " holds no questions");
  if (failed > 0)
    throw Error(ErrorCode::bad_json, std::to_string(failed) + " of " + std::to_string(asked) +
                                         " lines of " + args.batch +
                                         " failed; each has an \"error\"");
}

void ask(const Ask& args, const AskFlags& flags, const media::LoadOptions& load) {
  if (args.details && !args.json && args.batch.empty())
    throw Error(ErrorCode::bad_argument, "--details goes with --json or --batch");
  if ((args.json || !args.batch.empty()) && args.show->given())
    throw Error(ErrorCode::bad_argument, "--show goes with neither --json nor --batch");
  if (args.batch.empty()) return ask_once(args, flags, load);
  if (!args.words.empty())
    throw Error(ErrorCode::bad_argument, "give a picture and a question, or --batch FILE");
  for (const auto& [flag, file] : {std::pair{"--heatmap", args.heatmap}, {"--strip", args.strip}})
    if (!file.empty())
      throw Error(ErrorCode::bad_argument,
                  std::string(flag) + " belongs to one question, not to --batch");
  if (!args.then.empty())
    throw Error(ErrorCode::bad_argument, "--then belongs to one conversation, not to --batch");
  ask_many(args, flags, load);
}

}  // namespace

void add_ask(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("ask", "answer a question about one or several pictures");
  auto args = std::make_shared<Ask>();
  sub->add_option("words", args->words, "IMAGE... \"QUESTION\"; - is standard input");
  sub->add_option("--batch", args->batch,
                  "JSON lines {\"image\": ..., \"question\": ...}, or -; answers are JSON lines");
  sub->add_option("--heatmap", args->heatmap, "write the homunculus: tokens per area (PNG)");
  sub->add_option("--strip", args->strip, "write the passes side by side (PNG)");
  sub->add_option("--threshold", args->threshold,
                  "below this confidence the answer is unsure; calibrated unless given")
      ->check(between(0, 1));
  sub->add_option("--then", args->then, "a further question on the same pictures; may be repeated")
      ->allow_extra_args(false);
  sub->add_flag("--json", args->json, "print everything as JSON");
  sub->add_flag("--details", args->details, "with --json or --batch: leaves and maps too");
  args->show.emplace(*sub);
  const AskFlags flags(*sub);
  auto load = add_load_flags(*sub);
  sub->callback([args, flags, load] { ask(*args, flags, *load); });
}

}  // namespace arrcoc::cli
