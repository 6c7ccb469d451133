// arrcoc look IMAGE "QUESTION": where would the tokens go?
#include <iostream>

#include "arrcoc/error.h"
#include "cli/cli.h"

namespace arrcoc::cli {

namespace {

using nlohmann::ordered_json;

struct Look {
  std::string image;
  std::string question;
  std::string heatmap;
  std::string seen;
  std::string relevance;
  bool json = false;
};

ordered_json report(const Picture& picture, const Realization& r, const Options& options,
                    double decoding) {
  ordered_json out;
  out["image"] = {{"width", picture.width()}, {"height", picture.height()}};
  out["question"] = r.query.text;
  out["policy"] = options.policy;
  out["budget"] = r.allocation.budget.tokens;
  out["budget_reason"] = r.allocation.budget.why;
  out["tokens"] = r.allocation.tokens();
  out["native_tokens"] = r.allocation.geometry.native_tokens();
  if (options.canvas > 0) {
    out["canvas"] = {{"width", r.allocation.geometry.width},
                     {"height", r.allocation.geometry.height}};
  }
  out["leaves"] = allocating::leaves_json(r.allocation);
  if (!r.allocation.crops.empty()) {
    auto crops = ordered_json::array();
    for (const Crop& c : r.allocation.crops) {
      crops.push_back({{"box", {c.box.x0, c.box.y0, c.box.x1, c.box.y1}},
                       {"width", c.width},
                       {"height", c.height},
                       {"tokens", c.tokens}});
    }
    out["crops"] = std::move(crops);
  }
  out["map"] = to_json(r.relevance.map);
  const Weights& w = r.relevance.weights;
  out["weights"] = {{"information", rounded(w.information)},
                    {"salience", rounded(w.salience)},
                    {"coupling", rounded(w.coupling)}};
  const Tensions& t = r.relevance.tensions;
  out["tensions"] = {{"compress", rounded(t.compress)},
                     {"exploit", rounded(t.exploit)},
                     {"focus", rounded(t.focus)}};
  out["milliseconds"]["decoding"] = rounded(decoding);
  for (const Stage& stage : r.stages) out["milliseconds"][stage.name] = rounded(stage.milliseconds);
  out["fallbacks"] = r.fallbacks;
  for (const StageStatistics& s : r.statistics) {
    out["statistics"].push_back({{"stage", s.stage},
                                 {"shape", s.shape},
                                 {"dtype", s.dtype},
                                 {"min", s.min},
                                 {"max", s.max},
                                 {"mean", s.mean},
                                 {"std", s.std}});
  }
  return out;
}

std::string number(double v, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, v);
  return text;
}

void print(const Picture& picture, const Realization& r, const Options& options, double decoding) {
  const Allocation& a = r.allocation;
  const double native = static_cast<double>(a.geometry.native_tokens());
  std::cout << picture.source << "  " << picture.width() << "x" << picture.height() << "\n"
            << "question   " << r.query.text << "\n"
            << "policy     " << options.policy << "\n"
            << "tokens     " << a.tokens() << " of " << a.geometry.native_tokens() << " native ("
            << number(100.0 * a.tokens() / native, 1) << " %), budget " << a.budget.tokens
            << (a.budget.why.empty() ? "" : ": " + a.budget.why) << "\n";
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
        {side + "x" + side + " px", std::to_string(count), number(100 * covered / area, 1)});
  }
  if (!a.leaves.empty()) std::cout << "\n" << table(levels);
  for (const Crop& c : a.crops) {
    std::cout << "crop       " << number(c.box.x0, 0) << "," << number(c.box.y0, 0) << " - "
              << number(c.box.x1, 0) << "," << number(c.box.y1, 0) << " as " << c.width << "x"
              << c.height << ", " << c.tokens << " tokens\n";
  }
  std::vector<std::vector<std::string>> times = {{"stage", "ms"},
                                                 {"decoding", number(decoding, 1)}};
  for (const Stage& s : r.stages) times.push_back({s.name, number(s.milliseconds, 1)});
  std::cout << "\n" << table(times);
  for (const std::string& f : r.fallbacks) std::cout << "note       " << f << "\n";
}

void look(const Look& args, const OptionFlags& flags, const media::LoadOptions& load) {
  const Options options = flags.options();
  parse_query(args.question);  // refuse a bad question before the picture is read
  const auto start = std::chrono::steady_clock::now();
  const Picture picture = media::load(args.image, load);
  const double decoding =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const Pyramid pyramid = pyramid_of(picture, options);
  const Realization r = realize(picture, pyramid, args.question, options);
  const Picture& canvas = pyramid.picture();
  if (!args.heatmap.empty()) {
    media::write_png(args.heatmap, media::draw_homunculus(canvas, r.allocation));
  }
  if (!args.relevance.empty()) {
    media::write_png(args.relevance, media::draw_relevance(canvas, r.relevance));
  }
  if (!args.seen.empty()) media::write_png(args.seen, media::draw_seen(pyramid, r.allocation));
  if (args.json) {
    std::cout << report(picture, r, options, decoding).dump() << "\n";
  } else {
    print(picture, r, options, decoding);
  }
}

}  // namespace

void add_look(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("look", "where would the tokens go? (no answer)");
  auto args = std::make_shared<Look>();
  sub->add_option("image", args->image, "picture file, or - for standard input")->required();
  sub->add_option("question", args->question, "what is asked")->required();
  sub->add_option("--heatmap", args->heatmap, "write the homunculus: tokens per area (PNG)");
  sub->add_option("--relevance", args->relevance, "write the relevance map (PNG)");
  sub->add_option("--seen", args->seen, "write the picture as the model sees it (PNG)");
  sub->add_flag("--json", args->json, "print everything as JSON");
  const OptionFlags flags(*sub);
  auto load = add_load_flags(*sub);
  sub->callback([args, flags, load] { look(*args, flags, *load); });
}

}  // namespace arrcoc::cli
