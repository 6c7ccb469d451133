// Ways in which tokens lie: k-means over the allocation maps of the realized policy.
#include <algorithm>
#include <map>

#include "lab/cli/bench.h"

namespace arrcoc::cli {

namespace {

constexpr int kPatterns = 6;
constexpr size_t kExamples = 4;  // questions shown of each

}  // namespace

ordered_json bench_patterns(const BenchReport& report) {
  auto out = ordered_json::array();
  const BenchCell* cell = middle_cell(report, "realized");
  if (!cell) return out;
  std::vector<std::vector<double>> maps;
  measuring::Records records;
  for (const measuring::Record& r : cell->records) {
    if (r.density.empty()) continue;
    maps.push_back(r.density);
    records.push_back(&r);
  }
  const int k = std::min<int>(kPatterns, static_cast<int>(maps.size() / 2));
  const measuring::Clusters clusters = measuring::k_means(maps, k);
  for (size_t c = 0; c < clusters.centres.size(); ++c) {
    measuring::Records members;
    std::map<std::string, int> kinds;
    for (size_t i = 0; i < maps.size(); ++i)
      if (clusters.of[i] == static_cast<int>(c)) {
        members.push_back(records[i]);
        ++kinds[records[i]->kind];
      }
    const measuring::Summary s = summarise(members);
    ordered_json one = {{"questions", s.questions},
                        {"exact_match", rounded(s.exact_match.mean)},
                        {"answer_region_recall", rounded(s.recall.mean)},
                        {"kinds", kinds},
                        {"rows", measuring::Record::kDensity},
                        {"cols", measuring::Record::kDensity}};
    for (double share : clusters.centres[c]) one["density"].push_back(rounded(share));
    for (size_t i : clusters.nearest(maps, static_cast<int>(c), kExamples))
      one["examples"].push_back(records[i]->question);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace arrcoc::cli
