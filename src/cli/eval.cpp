// arrcoc eval --data DIR: how well do the tokens cover the answers? Beside every policy stand the
// three rows that know nothing of the question.
#include <iostream>
#include <map>

#include "arrcoc/error.h"
#include "arrcoc/evaluation.h"
#include "cli/cli.h"

namespace arrcoc::cli {

namespace {

using evaluation::Item;
using evaluation::Tally;
using nlohmann::ordered_json;

struct Eval {
  std::vector<std::string> data;
  int limit = 0;
  bool json = false;
};

// One policy over all questions, in all and by kind.
struct Row {
  std::string name;
  Options options;
  Tally all;
  std::map<std::string, Tally> kinds;
};

std::vector<Row> rows_for(const Options& asked) {
  std::vector<Row> rows = {{asked.policy, asked, {}, {}}};
  for (const char* name : {"breadth-first", "random", "text"}) {
    if (asked.policy == name) continue;
    Options options = policy(name);
    options.budget = asked.budget;
    options.allocate.seed = asked.allocate.seed;
    rows.push_back({name, options, {}, {}});
  }
  for (Row& row : rows) row.options.canvas = evaluation::kFrame;
  return rows;
}

void measure(const std::vector<Item>& items, std::vector<Row>& rows, const std::string& name) {
  Progress progress(name, items.size());
  std::string loaded;
  Picture picture;
  std::unique_ptr<Pyramid> pyramid;
  for (const Item& item : items) {
    if (item.image != loaded) {
      picture = media::load(item.image);
      if (picture.width() != item.width || picture.height() != item.height) {
        throw Error(ErrorCode::bad_image, item.image + " is " + std::to_string(picture.width()) +
                                              "x" + std::to_string(picture.height()) +
                                              ", its line says otherwise");
      }
      pyramid = std::make_unique<Pyramid>(pyramid_of(picture, rows[0].options));
      loaded = item.image;
    }
    for (Row& row : rows) {
      const Realization r = realize(picture, *pyramid, item.question, row.options);
      row.all.add(r.allocation, item);
      row.kinds[item.kind].add(r.allocation, item);
    }
    progress.step();
  }
}

ordered_json to_json(const Tally& t) {
  return {{"questions", t.questions},
          {"answer_region_recall", rounded(t.recall())},
          {"recall_with_alternates", rounded(t.recall_with_alternates())},
          {"mean_tokens", rounded(t.mean_tokens())},
          {"most_tokens", t.most_tokens},
          {"lift", rounded(t.mean_lift())}};
}

ordered_json to_json(const Row& row) {
  ordered_json out = to_json(row.all);
  for (const auto& [kind, tally] : row.kinds) out["kinds"][kind] = to_json(tally);
  return out;
}

void eval(const Eval& args, const OptionFlags& flags) {
  const Options asked = flags.options();
  std::vector<Row> rows = rows_for(asked);
  for (const std::string& folder : args.data) {
    std::vector<Item> items = evaluation::load_items(folder);
    if (args.limit > 0 && items.size() > static_cast<size_t>(args.limit)) items.resize(args.limit);
    std::stable_sort(items.begin(), items.end(),
                     [](const Item& a, const Item& b) { return a.image < b.image; });
    measure(items, rows, folder);
  }
  if (args.json) {
    ordered_json out;
    out["data"] = args.data;
    out["policy"] = asked.policy;
    out["budget"] = asked.budget;
    out["frame"] = evaluation::kFrame;
    out["largest_leaf"] = evaluation::kFine;
    out.update(to_json(rows[0]));
    for (size_t i = 1; i < rows.size(); ++i) out["baselines"][rows[i].name] = to_json(rows[i]);
    std::cout << out.dump() << "\n";
    return;
  }
  const auto cell = [](double v, const char* format) {
    char text[32];
    std::snprintf(text, sizeof text, format, v);
    return std::string(text);
  };
  std::vector<std::vector<std::string>> lines = {
      {"policy", "kind", "questions", "recall", "with alternates", "lift", "tokens"}};
  for (const Row& row : rows) {
    const auto add = [&](const std::string& kind, const Tally& t) {
      lines.push_back({row.name, kind, std::to_string(t.questions), cell(t.recall(), "%.3f"),
                       cell(t.recall_with_alternates(), "%.3f"), cell(t.mean_lift(), "%.2f"),
                       cell(t.mean_tokens(), "%.1f")});
    };
    add("all", row.all);
    if (row.kinds.size() > 1) {
      for (const auto& [kind, tally] : row.kinds) add(kind, tally);
    }
  }
  std::cout << table(lines) << "recall: share of the answer box under leaves of at most "
            << evaluation::kFine << " px, longer side " << evaluation::kFrame << "\n";
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("eval", "how well do the tokens cover the answers?");
  auto args = std::make_shared<Eval>();
  sub->add_option("--data", args->data, "folder with items.jsonl and pictures; may be repeated")
      ->required();
  sub->add_option("--limit", args->limit, "only the first questions of each folder");
  sub->add_flag("--json", args->json, "print as JSON");
  const OptionFlags flags(*sub);
  sub->callback([args, flags] { eval(*args, flags); });
}

}  // namespace arrcoc::cli
