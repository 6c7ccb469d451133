#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/distance.h"
#include "base/text.h"
#include "lab/measure/draws.h"
#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {

namespace {

bool is_space(char32_t c) { return c == ' ' || (c >= 9 && c <= 13) || c == 0xA0; }

std::u32string plain(const std::string& answer) {
  std::u32string out;
  for (size_t at = 0; at < answer.size();) {
    const char32_t c = text::next_code_point(answer, at);
    if (!is_space(c)) {
      out.push_back(text::lower(c));
    } else if (!out.empty() && out.back() != ' ') {
      out.push_back(' ');
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

bool number(const std::string& text, double& value) {
  std::string plain;
  for (char c : text)
    if (c != ',' && c != '%' && c != '$' && c != ' ') plain += c;
  if (plain.empty()) return false;
  char* end = nullptr;
  value = std::strtod(plain.c_str(), &end);
  return *end == '\0';
}

}  // namespace

std::string normalised(const std::string& answer) {
  std::string out;
  for (char32_t c : plain(answer)) text::append_utf8(out, c);
  return out;
}

bool exact_match(const std::string& given, const std::string& wanted) {
  return plain(given) == plain(wanted);
}

double anls(const std::string& given, const std::string& wanted) {
  const std::u32string a = plain(given), b = plain(wanted);
  const size_t longer = std::max(a.size(), b.size());
  if (longer == 0) return 1;
  const double similar = 1 - static_cast<double>(edit_distance(a, b)) / static_cast<double>(longer);
  return similar < 0.5 ? 0 : similar;
}

bool relaxed_match(const std::string& given, const std::string& wanted) {
  double a = 0, b = 0;
  if (number(given, a) && number(wanted, b))
    return b == 0 ? a == 0 : std::abs(a - b) <= 0.05 * std::abs(b);
  return exact_match(given, wanted);
}

std::vector<std::string> right_answers(const Item& item) {
  std::vector<std::string> out;
  if (item.answer) out.push_back(*item.answer);
  for (const std::string& one : item.accepted)
    if (std::find(out.begin(), out.end(), one) == out.end()) out.push_back(one);
  return out;
}

double auroc(const std::vector<double>& right, const std::vector<double>& wrong) {
  if (right.empty() || wrong.empty()) return 0.5;
  double above = 0;
  for (double r : right)
    for (double w : wrong) above += r > w ? 1 : r == w ? 0.5 : 0;
  return above / (static_cast<double>(right.size()) * static_cast<double>(wrong.size()));
}

Interval bootstrap(const std::vector<double>& values, const std::vector<int>& groups,
                   uint64_t seed) {
  Interval out;
  if (values.empty()) return out;
  struct Sum {
    double sum = 0;
    int count = 0;
  };
  std::map<int, Sum> by_group;
  double total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    Sum& group = by_group[i < groups.size() ? groups[i] : -1 - static_cast<int>(i)];
    group.sum += values[i];
    ++group.count;
    total += values[i];
  }
  out.mean = total / static_cast<double>(values.size());
  std::vector<Sum> sums;
  for (const auto& [name, sum] : by_group) sums.push_back(sum);
  constexpr int kDraws = 1000;
  std::vector<double> means;
  for (int d = 0; d < kDraws; ++d) {
    Sum drawn;
    for (size_t i = 0; i < sums.size(); ++i) {
      const Sum& s = sums[next_draw(seed) % sums.size()];
      drawn.sum += s.sum;
      drawn.count += s.count;
    }
    means.push_back(drawn.sum / drawn.count);
  }
  std::sort(means.begin(), means.end());
  out.low = means[static_cast<size_t>(kDraws * 0.025)];
  out.high = means[static_cast<size_t>(kDraws * 0.975)];
  return out;
}

}  // namespace arrcoc::measuring
