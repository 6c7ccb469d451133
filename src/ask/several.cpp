// Questions that compare pictures, taken apart into questions about one picture.
#include <ATen/ATen.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "arrcoc/texture.h"
#include "ask/several.h"
#include "base/words.h"

namespace arrcoc::asking {

namespace {

using Words = std::vector<std::string>;

// data/words/pictures.txt
struct Tables {
  WordFile file = word_file("pictures");
  WordSet gone = file.set("gone"), which = file.set("which"), where = file.set("where");
  WordSet price = file.set("price"), quantity = file.set("quantity");
  WordSet before_thing = file.set("before thing"), after_thing = file.set("after thing");
  std::vector<std::string_view> ordinals = file.list("ordinals");
  WordSet numbered = file.set("numbered");
};

const Tables& tables() { return read_once<Tables>(); }

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool asks_which_picture(const Words& words) {
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "which" && tables().which.contains(words[i + 1])) return true;
  return (has(words, "first") && has(words, "second") && has(words, "or")) ||
         (has(words, "where") && has_any(words, tables().where));
}

// The thing that is compared: what follows "the", "more" or "fewer", up to a word that is not part
// of a name.
std::string thing_in(const Words& words) {
  size_t i = 0;
  while (i < words.size() && !tables().before_thing.contains(words[i])) ++i;
  std::string out;
  for (++i; i < words.size() && !tables().after_thing.contains(words[i]); ++i)
    out += (out.empty() ? "" : " ") + words[i];
  return out;
}

}  // namespace

std::optional<Comparison> comparison_in(const Query& query) {
  const Words& w = query.words;
  using By = Comparison::By;
  if (has_any(w, tables().gone) || (has(w, "but") && has(w, "not")))
    return Comparison{By::difference, ""};
  const std::string thing = thing_in(w);
  if (!asks_which_picture(w) || thing.empty()) return std::nullopt;
  if (has_any(w, tables().price)) {
    const bool dearer = has(w, "dearer") || (has(w, "more") && !has(w, "less"));
    return Comparison{dearer ? By::larger : By::smaller, "What does the " + thing + " cost?"};
  }
  if (has_any(w, tables().quantity))
    return Comparison{has(w, "more") ? By::larger : By::smaller,
                      "How many " + thing + " are there?"};
  return Comparison{By::presence, "Where is the " + thing + "?"};
}

std::optional<double> number_in(const std::string& answer) {
  const auto digit = [&](size_t i) {
    return i < answer.size() && std::isdigit(static_cast<unsigned char>(answer[i])) != 0;
  };
  size_t i = 0;
  while (i < answer.size() && !digit(i)) ++i;
  if (i == answer.size()) return std::nullopt;
  std::string plain;
  for (; i < answer.size(); ++i) {
    const bool mark = (answer[i] == '.' || answer[i] == ',') && digit(i + 1);
    if (!digit(i) && !mark) break;
    if (digit(i)) {
      plain += answer[i];
      continue;
    }
    // A mark before exactly three digits groups thousands ("1,234"), any other is a point.
    const bool thousands = answer[i] == ',' && digit(i + 2) && digit(i + 3) && !digit(i + 4);
    if (!thousands) plain += '.';
  }
  return std::strtod(plain.c_str(), nullptr);
}

std::optional<size_t> named_picture(const Query& query) {
  const auto& ordinals = tables().ordinals;
  for (size_t i = 0; i + 1 < query.words.size(); ++i) {
    const auto nth = std::find(ordinals.begin(), ordinals.end(), query.words[i]);
    if (nth == ordinals.end()) continue;
    if (tables().numbered.contains(query.words[i + 1]))
      return static_cast<size_t>(nth - ordinals.begin());
  }
  return std::nullopt;
}

std::string name_of_picture(size_t picture) {
  const auto& ordinals = tables().ordinals;
  if (picture < ordinals.size()) return std::string(ordinals[picture]) + " picture";
  return "picture " + std::to_string(picture + 1);
}

std::optional<size_t> compared(const Comparison& comparison, const std::vector<Said>& said) {
  using By = Comparison::By;
  if (comparison.by == By::difference) return 0;  // what the first shows and the second does not
  std::optional<size_t> best;
  double best_value = 0;
  for (size_t i = 0; i < said.size(); ++i) {
    double value = 0;
    if (comparison.by == By::presence) {
      value = said[i].text == "none" ? -said[i].confidence : said[i].confidence;
    } else {
      const auto number = number_in(said[i].text);
      if (!number) continue;
      value = comparison.by == By::larger ? *number : -*number;
    }
    if (!best || value > best_value) best = i, best_value = value;
  }
  return best;
}

namespace {

constexpr int64_t kTrendCells = 24, kTrendWindow = 9;  // of the map's longer side; odd

// Logarithms of the means of the map's cells, [3, rows, cols]: another exposure adds a constant.
at::Tensor log_cells(const Picture& picture, const Map& shape) {
  const at::Tensor rgb = picture.rgb.to(at::kFloat).div(255.0).unsqueeze(0);
  return texture::area_pool(rgb, shape.rows, shape.cols)[0].add(0.05).log();
}

// The median of the neighbourhood: light that changes slowly, which no single thing moves.
at::Tensor trend(const at::Tensor& cells) {
  const auto coarse = [](int64_t n) { return std::min(n, kTrendCells); };
  const int64_t rows = coarse(cells.size(1)), cols = coarse(cells.size(2)), edge = kTrendWindow / 2;
  const at::Tensor small = texture::area_pool(cells.unsqueeze(0), rows, cols);
  const at::Tensor windows = at::replication_pad2d(small, {edge, edge, edge, edge})
                                 .unfold(2, kTrendWindow, 1)
                                 .unfold(3, kTrendWindow, 1)
                                 .flatten(4);
  return at::upsample_bilinear2d(std::get<0>(windows.median(4)), {cells.size(1), cells.size(2)},
                                 false)[0];
}

// Mean of the cells as far as `edge` away, [rows, cols].
at::Tensor smooth(const at::Tensor& cells, int64_t edge) {
  const at::Tensor framed =
      at::replication_pad2d(cells.unsqueeze(0).unsqueeze(0), {edge, edge, edge, edge});
  return at::avg_pool2d(framed, 2 * edge + 1, 1)[0][0];
}

// Standard deviation of lightness over 5x5 cells, [rows, cols].
at::Tensor contrast(const at::Tensor& cells) {
  const at::Tensor light = cells.mean(0), mean = smooth(light, 2);
  return (smooth(light * light, 2) - mean * mean).clamp_min(0).sqrt();
}

}  // namespace

// How far the cells are apart beyond a change of light, where the first picture has more contrast:
// a thing that is gone leaves plain ground.
Map difference(const Picture& a, const Picture& b, const Map& shape) {
  if (a.width() != b.width() || a.height() != b.height()) return {};
  const at::Tensor of_a = log_cells(a, shape), of_b = log_cells(b, shape);
  const at::Tensor apart = of_a - of_b;
  const at::Tensor here = contrast(of_a), there = contrast(of_b);
  const at::Tensor share = (here / (here + there).clamp_min(1e-3)).square();
  const at::Tensor cells = (smooth((apart - trend(apart)).abs().amax(0), 1) * share).contiguous();
  Map out = shape;
  out.values.assign(cells.data_ptr<float>(), cells.data_ptr<float>() + cells.numel());
  return min_max(out);
}

}  // namespace arrcoc::asking
