#include "lab/fit/kinds_fit.h"

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"

namespace arrcoc::fitting {

namespace {

using Numbers = std::array<double, tiny::kShapes>;

// A question as numbers of rows, and the shape of its answer.
struct Sample {
  std::vector<size_t> rows;
  size_t shape;
};

struct Row {
  Numbers weight{}, slope{}, mean{}, square{};
};

Numbers chances(const std::vector<Row>& rows, const Sample& sample) {
  Numbers out{};
  for (const size_t r : sample.rows)
    for (size_t k = 0; k < out.size(); ++k) out[k] += rows[r].weight[k];
  const double most = *std::max_element(out.begin(), out.end());
  double sum = 0;
  for (double& v : out) sum += v = std::exp(v - most);
  for (double& v : out) v /= sum;
  return out;
}

// Adam (Kingma and Ba 2015) with the usual constants but a rate of 0.1.
void step(std::vector<Row>& rows, double pull, int t) {
  constexpr double kRate = 0.1, kMean = 0.9, kSquare = 0.99;
  for (Row& row : rows)
    for (size_t k = 0; k < row.weight.size(); ++k) {
      const double slope = row.slope[k] + pull * row.weight[k];
      row.mean[k] = kMean * row.mean[k] + (1 - kMean) * slope;
      row.square[k] = kSquare * row.square[k] + (1 - kSquare) * slope * slope;
      const double mean = row.mean[k] / (1 - std::pow(kMean, t));
      const double square = row.square[k] / (1 - std::pow(kSquare, t));
      row.weight[k] -= kRate * mean / (std::sqrt(square) + 1e-8);
      row.slope[k] = 0;
    }
}

}  // namespace

tiny::KindTable fit_kinds(const std::vector<AskedAndAnswered>& pairs, const KindsOptions& options) {
  if (pairs.empty()) throw Error(ErrorCode::bad_argument, "no questions with answers to fit on");
  std::map<std::string, int> counts;
  for (const AskedAndAnswered& pair : pairs)
    for (const std::string& word : tiny::asking_words(pair.question)) ++counts[word];
  std::map<std::string, size_t> numbers = {{"", 0}};
  for (const auto& [word, count] : counts)
    if (count >= options.fewest) numbers.emplace(word, numbers.size());
  std::vector<Sample> samples;
  for (const AskedAndAnswered& pair : pairs) {
    Sample& sample = samples.emplace_back();
    sample.shape = static_cast<size_t>(tiny::shape_of(pair.answer));
    sample.rows = {0};
    for (const std::string& word : tiny::asking_words(pair.question))
      if (const auto found = numbers.find(word); found != numbers.end())
        sample.rows.push_back(found->second);
  }
  std::vector<Row> rows(numbers.size());
  const double each = 1.0 / static_cast<double>(samples.size());
  for (int t = 1; t <= options.steps; ++t) {
    for (const Sample& sample : samples) {
      Numbers slope = chances(rows, sample);
      slope[sample.shape] -= 1;
      for (const size_t r : sample.rows)
        for (size_t k = 0; k < slope.size(); ++k) rows[r].slope[k] += each * slope[k];
    }
    step(rows, options.pull, t);
  }
  tiny::KindTable out;
  for (const auto& [word, number] : numbers)
    for (size_t k = 0; k < tiny::kShapes; ++k)
      out.rows[word][k] = static_cast<float>(rows[number].weight[k]);
  for (const Sample& sample : samples)
    out.usual += each * std::log(chances(rows, sample)[sample.shape]);
  return out;
}

}  // namespace arrcoc::fitting
