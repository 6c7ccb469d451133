// arrcoc look IMAGE "QUESTION": where would the tokens go?
#include <iostream>

#include "arrcoc/error.h"
#include "base/stopwatch.h"
#include "cli/ask_flags.h"
#include "cli/device.h"
#include "cli/npy.h"
#include "cli/terminal.h"

namespace arrcoc::cli {

namespace {

struct Look {
  std::string image, question;
  std::string heatmap, seen, relevance;
  bool json = false;
};

void print_levels(const Allocation& a) {
  std::vector<std::vector<std::string>> levels = {{"patch", "tokens", "area %"}};
  const double area = static_cast<double>(a.geometry.width) * a.geometry.height;
  for (int level = kFinestEver; level <= a.geometry.coarsest(); ++level) {
    int count = 0;
    double covered = 0;
    for (const Leaf& leaf : a.leaves) {
      if (leaf.level != level) continue;
      ++count;
      covered += allocating::box_of(a.geometry, leaf).area();
    }
    if (count == 0) continue;
    const std::string side = std::to_string(Geometry::side(level));
    levels.push_back(
        {side + "x" + side + " px", std::to_string(count), fixed(100 * covered / area, 1)});
  }
  if (!a.leaves.empty()) std::cout << "\n" << table(levels);
  for (const Crop& c : a.crops)
    std::cout << "crop       " << fixed(c.box.x0, 0) << "," << fixed(c.box.y0, 0) << " - "
              << fixed(c.box.x1, 0) << "," << fixed(c.box.y1, 0) << " as " << c.width << "x"
              << c.height << ", " << c.tokens << " tokens\n";
}

void print(const Picture& picture, const Answer& answer) {
  const PictureAnswer& seen = answer.from();
  const Allocation& a = seen.answer().allocation;
  const auto native = static_cast<double>(answer.native_tokens);
  const Weights& w = seen.look.relevance.weights;
  std::cout << picture.source << "  " << picture.width() << "x" << picture.height() << "\n"
            << "question   " << answer.query.text << "\n"
            << "policy     " << answer.policy << "\n"
            << "tokens     " << a.tokens() << " of " << answer.native_tokens << " native ("
            << fixed(100.0 * a.tokens() / native, 1) << " %), budget " << a.budget.tokens
            << (a.budget.why.empty() ? "" : ": " + a.budget.why) << "\n"
            << "weights    information " << fixed(w.information, 2) << ", salience "
            << fixed(w.salience, 2) << ", coupling " << fixed(w.coupling, 2) << "\n";
  if (const auto& t = seen.look.relevance.tensions)
    std::cout << "tensions   compress " << fixed(t->compress, 2) << ", exploit "
              << fixed(t->exploit, 2) << ", focus " << fixed(t->focus, 2) << "\n";
  print_levels(a);
  std::vector<std::vector<std::string>> times = {{"stage", "ms"}};
  for (const Stage& s : answer.stages) times.push_back({s.name, fixed(s.milliseconds, 1)});
  std::cout << "\n" << table(times);
  for (const std::string& f : answer.fallbacks) std::cout << "note       " << f << "\n";
}

void look(const Look& args, const OptionFlags& flags, const GazeFlag& gaze, const ShowFlag& show,
          const media::LoadOptions& load) {
  if (args.json && show.given()) throw Error(ErrorCode::bad_argument, "either --json or --show");
  AskOptions options = flags.options();
  flags.require_effect(options);
  parse_query(args.question);  // refuse a bad question before the picture is read
  Stopwatch watch;
  const Asker asker(bundle_for(options));
  const double loading = watch.lap();
  const Picture picture = media::load(args.image, load);
  const double decoding = watch.lap();
  gaze.apply(picture, options);
  Answer answer = asker.look(picture, args.question, options);
  answer.stages.insert(answer.stages.begin(), {{"loading", loading}, {"decoding", decoding}});
  const Allocation& allocation = answer.from().answer().allocation;
  const auto pyramid = asker.see(picture, asker.fitted(options))->pyramid;
  const Picture& canvas = pyramid->picture();
  if (!args.heatmap.empty())
    media::write_png(args.heatmap, media::draw_homunculus(canvas, allocation));
  const Relevance& relevance = answer.from().look.relevance;
  if (args.relevance.ends_with(".npy")) {
    write_npy(args.relevance, relevance.map);
  } else if (!args.relevance.empty()) {
    media::write_png(args.relevance, media::draw_relevance(picture, relevance));
  }
  if (!args.seen.empty()) media::write_png(args.seen, media::draw_seen(*pyramid, allocation));
  if (args.json) {
    std::cout << to_json(answer, {true}).dump() << "\n";
  } else {
    show.show(canvas, allocation);
    print(picture, answer);
  }
}

}  // namespace

void add_look(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("look", "where would the tokens go? (no answer)");
  auto args = std::make_shared<Look>();
  sub->add_option("image", args->image, "picture file, or - for standard input")->required();
  sub->add_option("question", args->question, "what is asked")->required();
  sub->add_option("--heatmap", args->heatmap, "write the homunculus: tokens per area (PNG)");
  sub->add_option("--relevance", args->relevance,
                  "write the relevance map: PNG, or its floats as .npy");
  sub->add_option("--seen", args->seen, "write the picture as the model sees it (PNG)");
  sub->add_flag("--json", args->json, "print everything as JSON");
  const OptionFlags flags(*sub);
  const GazeFlag gaze(*sub);
  const ShowFlag show(*sub);
  add_device_flags(*sub);
  auto load = add_load_flags(*sub);
  sub->callback([args, flags, gaze, show, load] { look(*args, flags, gaze, show, *load); });
}

}  // namespace arrcoc::cli
