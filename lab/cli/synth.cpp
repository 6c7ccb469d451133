// arrcoc synth: pictures with questions and known evidence, as files.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <set>

#include "arrcoc/error.h"
#include "base/join.h"
#include "lab/cli/lab.h"
#include "lab/cli/synth_stats.h"

namespace arrcoc::cli {

namespace {

using scenes::Image;
using scenes::Question;
using scenes::Scene;

struct Synth {
  std::string kind = "all";
  std::string out;
  std::string assets;
  std::string format = "jpg";
  int count = 20;
  uint64_t seed = 1;
  std::string texts;
  bool plain = false;
  scenes::Options options;
  std::vector<std::string> stats;
};

cv::Mat bgr(const Image& image) {
  const cv::Mat rgb(image.height, image.width, CV_8UC3, const_cast<uint8_t*>(image.rgb.data()));
  cv::Mat out;
  cv::cvtColor(rgb, out, cv::COLOR_RGB2BGR);
  return out;
}

void write_picture(const std::string& path, const cv::Mat& picture) {
  std::vector<uint8_t> bytes;
  const bool png = path.size() > 4 && path.compare(path.size() - 4, 4, ".png") == 0;
  const std::vector<int> how = png ? std::vector<int>{cv::IMWRITE_PNG_COMPRESSION, 3}
                                   : std::vector<int>{cv::IMWRITE_JPEG_QUALITY, 95};
  if (!cv::imencode(png ? ".png" : ".jpg", picture, bytes, how))
    throw Error(ErrorCode::io, "cannot encode " + path);
  media::write_file(path, bytes);
}

ordered_json box_json(const Box& b) {
  return {rounded(b.x0), rounded(b.y0), rounded(b.x1), rounded(b.y1)};
}

ordered_json boxes_json(const std::vector<Box>& boxes) {
  auto out = ordered_json::array();
  for (const Box& b : boxes) out.push_back(box_json(b));
  return out;
}

// One line a question, in the format that `arrcoc eval --data` reads.
void write_items(std::ofstream& items, const Scene& scene, const std::vector<std::string>& names) {
  for (size_t i = 0; i < scene.questions.size(); ++i) {
    const Question& q = scene.questions[i];
    const Image& image = scene.images[static_cast<size_t>(q.picture)];
    ordered_json line;
    line["id"] = scene.kind + "_" + std::to_string(scene.seed) + "_" + std::to_string(i);
    line["image"] = names[static_cast<size_t>(q.picture)];
    line["width"] = image.width;
    line["height"] = image.height;
    line["question"] = q.text;
    line["answer"] = q.answer;
    line["kind"] = scene.kind;
    line["answer_boxes"] = boxes_json(q.answer_boxes);
    line["evidence_boxes"] = boxes_json(q.evidence_boxes);
    auto texts = ordered_json::array();
    for (const auto& t : image.texts) texts.push_back({{"box", box_json(t.box)}, {"text", t.text}});
    line["text_boxes"] = std::move(texts);
    line["layout"] = scene.layout;
    line["intent"] = q.intent;
    line["complexity"] = to_string(q.complexity);
    if (scene.images.size() > 1) {
      line["images"] = names;
      auto track = ordered_json::array();
      for (const Image& frame : scene.images)
        track.push_back(i < frame.targets.size() ? box_json(frame.targets[i])
                                                 : ordered_json(nullptr));
      line["frame_boxes"] = std::move(track);
    }
    items << line.dump() << "\n";
  }
  if (!items) throw Error(ErrorCode::io, "cannot write items.jsonl");
}

// Thumbnails in rows, the first question's answer outlined.
class ContactSheet {
 public:
  void add(const Scene& scene) {
    if (tiles_.size() >= 48) return;
    const Question* q = scene.questions.empty() ? nullptr : &scene.questions[0];
    const Image& image = scene.images[q ? static_cast<size_t>(q->picture) : 0];
    cv::Mat tile = bgr(image);
    const double scale = 320.0 / tile.rows;
    if (q)
      for (const Box& b : q->answer_boxes)
        cv::rectangle(tile, cv::Point(static_cast<int>(b.x0) - 3, static_cast<int>(b.y0) - 3),
                      cv::Point(static_cast<int>(b.x1) + 3, static_cast<int>(b.y1) + 3),
                      cv::Scalar(40, 40, 230), std::max(1, static_cast<int>(1.6 / scale)));
    cv::resize(tile, tile, cv::Size(std::max(1, static_cast<int>(tile.cols * scale)), 320), 0, 0,
               cv::INTER_AREA);
    tiles_.push_back(tile);
  }
  cv::Mat draw() const {
    constexpr int kWidth = 1800, kGap = 6;
    std::vector<cv::Point> at;
    int x = 0, y = 0;
    for (const cv::Mat& tile : tiles_) {
      if (x > 0 && x + tile.cols > kWidth) {
        x = 0;
        y += 320 + kGap;
      }
      at.emplace_back(x, y);
      x += tile.cols + kGap;
    }
    cv::Mat sheet(y + 320, kWidth, CV_8UC3, cv::Scalar(110, 110, 110));
    for (size_t i = 0; i < tiles_.size(); ++i) {
      const cv::Rect place(at[i].x, at[i].y, std::min(tiles_[i].cols, kWidth - at[i].x), 320);
      tiles_[i](cv::Rect(0, 0, place.width, 320)).copyTo(sheet(place));
    }
    return sheet;
  }

 private:
  std::vector<cv::Mat> tiles_;
};

struct Sum {
  size_t pictures = 0, questions = 0, none = 0;
  std::vector<double> shares;
  std::set<std::string> answers;
  void add(const Scene& scene) {
    pictures += scene.images.size();
    for (const Question& q : scene.questions) {
      ++questions;
      none += q.answer == "none";
      answers.insert(q.answer);
      double area = 0;
      for (const Box& b : q.answer_boxes) area += b.area();
      const Image& image = scene.images[static_cast<size_t>(q.picture)];
      if (area > 0) shares.push_back(area / (static_cast<double>(image.width) * image.height));
    }
  }
};

std::string percent(double share, int digits) { return fixed(100 * share, digits) + " %"; }

std::string summary(std::map<std::string, Sum>& sums) {
  std::vector<std::vector<std::string>> rows = {
      {"kind", "pictures", "questions", "none", "answer box (median)", "distinct answers"}};
  for (auto& [kind, sum] : sums) {
    std::sort(sum.shares.begin(), sum.shares.end());
    const double questions = std::max<double>(1, static_cast<double>(sum.questions));
    rows.push_back({kind, std::to_string(sum.pictures), std::to_string(sum.questions),
                    percent(static_cast<double>(sum.none) / questions, 1),
                    sum.shares.empty() ? "-" : percent(sum.shares[sum.shares.size() / 2], 3),
                    percent(static_cast<double>(sum.answers.size()) / questions, 0)});
  }
  return table(rows);
}

struct Job {
  std::string kind;  // a kind, "mixed" or "suite:NAME"
  int index = 0;
};

std::vector<Job> plan(const Synth& s) {
  std::vector<Job> jobs;
  auto add = [&](const std::string& kind, int count) {
    for (int i = 0; i < count; ++i) jobs.push_back({kind, i});
  };
  if (s.kind == "all") {
    for (const auto& kind : scenes::kinds()) add(kind, s.count);
  } else if (s.kind.rfind("suite:", 0) == 0) {
    add(s.kind, scenes::kSuiteScenes);
  } else {
    add(s.kind, s.count);
  }
  return jobs;
}

void run_synth(const Synth& s) {
  const auto assets = scenes::Assets::load(s.assets.empty() ? scenes::find_assets() : s.assets);
  scenes::Options options = s.options;
  options.effects = !s.plain;
  if (!s.texts.empty() && s.kind != scenes::kTexts)
    throw Error(ErrorCode::bad_argument, "--texts goes with --kind texts");
  if (!s.texts.empty()) options.texts = scenes::load_texts(s.texts);
  const std::vector<Job> jobs = plan(s);
  std::error_code failed;
  std::filesystem::create_directories(s.out + "/images", failed);
  std::ofstream items(s.out + "/items.jsonl", std::ios::binary);
  if (failed || !items) throw Error(ErrorCode::io, "cannot write into " + s.out);
  std::map<std::string, Sum> sums;
  ContactSheet sheet;
  {
    Progress progress("scenes", jobs.size());
    for (const Job& job : jobs) {
      const uint64_t seed = s.seed + static_cast<uint64_t>(job.index);
      const Scene scene = job.kind == "mixed" ? scenes::make_mixed(*assets, seed, options)
                          : job.kind.rfind("suite:", 0) == 0
                              ? scenes::suite_scene(*assets, job.kind, job.index)
                              : scenes::make(*assets, job.kind, seed, options);
      std::vector<std::string> names;
      for (size_t i = 0; i < scene.images.size(); ++i) {
        names.push_back("images/" + scene.kind + "_" + std::to_string(scene.seed) +
                        (scene.images.size() > 1 ? "_" + std::to_string(i) : "") + "." + s.format);
        write_picture(s.out + "/" + names.back(), bgr(scene.images[i]));
      }
      write_items(items, scene, names);
      sums[scene.kind].add(scene);
      sheet.add(scene);
      progress.step();
    }
  }
  items.flush();
  if (!items) throw Error(ErrorCode::io, "cannot write " + s.out + "/items.jsonl");
  write_picture(s.out + "/contact.png", sheet.draw());
  std::cout << summary(sums);
}

}  // namespace

void add_synth(CLI::App& app) {
  auto s = std::make_shared<Synth>();
  CLI::App* sub =
      app.add_subcommand("synth", "make pictures with questions whose evidence is known");
  sub->add_option("--kind", s->kind,
                  "all, mixed, suite:NAME (" + joined(scenes::suites()) + ") or one of " +
                      joined(scenes::kinds()) + ", or texts (with --texts)")
      ->capture_default_str();
  auto* count = sub->add_option("--count", s->count, "scenes (a kind, with --kind all)")
                    ->check(CLI::Range(1, 10000000))
                    ->capture_default_str();
  auto* seed = sub->add_option("--seed", s->seed, "seed of the first scene; the following count up")
                   ->capture_default_str();
  auto* out = sub->add_option("--out", s->out, "folder for images/, items.jsonl and contact.png");
  sub->add_option("--assets", s->assets,
                  "fonts and cut-outs (default: of the installation, or $ARRCOC_ASSETS)");
  sub->add_option("--format", s->format, "jpg or png")
      ->check(CLI::IsMember({"jpg", "png"}))
      ->capture_default_str();
  sub->add_option("--longest", s->options.longest, "longer side of ordinary pictures")
      ->check(CLI::Range(128, 4096))
      ->capture_default_str();
  sub->add_option("--questions", s->options.questions, "questions a scene, at most")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  sub->add_option("--texts", s->texts,
                  "file of texts and tables with questions, for --kind texts (docs/scenes.md)");
  sub->add_flag("--plain", s->plain, "no ageing, skew, noise or JPEG artefacts");
  sub->add_option("--strange", s->options.strange,
                  "share of names and labels with letters of no list: to be read, not known")
      ->check(between(0, 1))
      ->capture_default_str();
  sub->add_flag("--held-back", s->options.held_back, "the recipe of suite:unseen");
  auto* stats = sub->add_option(
      "--stats", s->stats,
      "no scenes: text height, ink, boxes and lines of folders with items.jsonl, side by side");
  out->excludes(stats);
  sub->callback([s, count, seed] {
    if (s->kind.rfind("suite:", 0) == 0 && count->count() + seed->count() > 0)
      throw Error(ErrorCode::bad_argument,
                  "a suite is fixed: it takes neither --count nor --seed (see --kind KIND)");
    if (!s->stats.empty()) {
      std::cout << data_statistics(s->stats);
    } else if (s->out.empty()) {
      throw CLI::RequiredError("synth: --out or --stats");
    } else {
      run_synth(*s);
    }
  });
}

}  // namespace arrcoc::cli
