#include "lab/cli/synth_stats.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <set>

#include "arrcoc/error.h"
#include "cli/cli.h"

namespace arrcoc::cli {

namespace {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

double ink_density(const std::string& path) {
  const cv::Mat grey = cv::imread(path, cv::IMREAD_GRAYSCALE);
  if (grey.empty()) throw Error(ErrorCode::bad_image, "cannot read " + path);
  size_t histogram[256] = {};
  for (int y = 0; y < grey.rows; ++y)
    for (int x = 0; x < grey.cols; ++x) ++histogram[grey.at<uint8_t>(y, x)];
  const double total = static_cast<double>(grey.total());
  int paper = 255;
  for (double above = 0; paper > 0; --paper) {
    above += static_cast<double>(histogram[paper]);
    if (above >= 0.1 * total) break;
  }
  double dark = 0;
  for (int v = 0; v < static_cast<int>(0.7 * paper); ++v) dark += static_cast<double>(histogram[v]);
  return dark / total;
}

// Rows of text: boxes whose middles lie within half a letter of the row's first.
int count_lines(std::vector<std::pair<double, double>> middles_heights) {
  std::sort(middles_heights.begin(), middles_heights.end());
  int lines = 0;
  double last = -1e9;
  for (const auto& [middle, height] : middles_heights) {
    if (middle - last <= 0.5 * height) continue;
    ++lines;
    last = middle;
  }
  return lines;
}

struct Numbers {
  std::vector<double> heights, lines, ink, shares, widths;
  std::set<std::string> answers, images;
  size_t questions = 0;
};

void read_item(const json& item, const std::string& folder, Numbers& n) {
  ++n.questions;
  const double width = item.at("width"), height = item.at("height");
  if (item.contains("answer") && item["answer"].is_string())
    n.answers.insert(item["answer"].get<std::string>());
  double area = 0;
  for (const auto& b : item.at("answer_boxes"))
    area += (b[2].get<double>() - b[0].get<double>()) * (b[3].get<double>() - b[1].get<double>());
  if (area > 0) n.shares.push_back(area / (width * height));
  const std::string image = item.at("image");
  if (!n.images.insert(image).second) return;
  const double scale = 1024 / std::max(width, height);
  std::vector<std::pair<double, double>> rows;
  for (const auto& t : item.value("text_boxes", json::array())) {
    const auto& b = t.at("box");
    const double y0 = b[1], y1 = b[3];
    n.heights.push_back((y1 - y0) * scale);
    rows.emplace_back((y0 + y1) / 2, y1 - y0);
  }
  if (!rows.empty()) n.lines.push_back(count_lines(rows));
  n.widths.push_back(width / height);
  n.ink.push_back(ink_density(folder + "/" + image));
}

std::string number(double v, int digits) { return std::isnan(v) ? "-" : fixed(v, digits); }

}  // namespace

std::string data_statistics(const std::vector<std::string>& folders) {
  std::vector<std::vector<std::string>> rows = {
      {"set", "pictures", "questions", "text height p10", "p50", "p90", "lines p50", "ink % p50",
       "answer box % p50", "width/height p50", "distinct answers %"}};
  for (const auto& folder : folders) {
    std::ifstream in(folder + "/items.jsonl");
    if (!in) throw Error(ErrorCode::not_found, "no items.jsonl in " + folder);
    Numbers n;
    std::string line;
    while (std::getline(in, line)) {
      if (line.empty()) continue;
      try {
        read_item(json::parse(line), folder, n);
      } catch (const json::exception& e) {
        throw Error(ErrorCode::bad_json, folder + "/items.jsonl: " + e.what());
      }
    }
    if (n.questions == 0)
      throw Error(ErrorCode::not_found, "no questions in " + folder + "/items.jsonl");
    std::string name = std::filesystem::path(folder).lexically_normal().string();
    while (!name.empty() && name.back() == '/') name.pop_back();
    rows.push_back(
        {std::filesystem::path(name).filename().string(), std::to_string(n.images.size()),
         std::to_string(n.questions), number(quantile(n.heights, 0.1), 1),
         number(quantile(n.heights, 0.5), 1), number(quantile(n.heights, 0.9), 1),
         number(quantile(n.lines, 0.5), 0), number(100 * quantile(n.ink, 0.5), 1),
         number(100 * quantile(n.shares, 0.5), 3), number(quantile(n.widths, 0.5), 2),
         number(100.0 * static_cast<double>(n.answers.size()) / static_cast<double>(n.questions),
                0)});
  }
  return table(rows);
}

}  // namespace arrcoc::cli
