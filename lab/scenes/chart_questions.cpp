// What can be asked about any chart whose values are printed.
#include <algorithm>
#include <map>

#include "lab/scenes/chart_data.h"

namespace arrcoc::scenes {
namespace {

class ChartQuestions {
 public:
  ChartQuestions(Page& page, Random& random, const ChartData& data, const ChartRuns& runs)
      : page_(page), r(random), d(data), runs_(runs) {
    for (size_t s = 0; s < ns_; ++s)
      for (size_t k = 0; k < nc_; ++k) {
        complete_ = complete_ && printed(s, k);
        if (printed(s, k)) ++times_[shown(d.values[s][k], d.decimals)];
      }
  }

  void ask() {
    every_value();
    extreme("max", 0.7F, 0.8F, [](float a, float b) { return a > b; });
    extreme("min", 0.5F, 0.5F, [](float a, float b) { return a < b; });
    for (size_t s = 0; s < ns_; ++s) one_of_several(s);
    if (ns_ == 1 && nc_ > 2) only_series();
    absent();
  }

 private:
  // Questions over all values need all of them printed; names need to be printed to be asked for.
  bool printed(size_t s, size_t k) const {
    return s < runs_.values.size() && k < runs_.values[s].size() && runs_.values[s][k].item >= 0;
  }
  bool named(size_t k) const {
    return k < runs_.categories.size() && runs_.categories[k].item >= 0;
  }
  bool in_legend(size_t s) const { return s < runs_.series.size() && runs_.series[s].item >= 0; }
  bool single(size_t s, size_t k) {
    return printed(s, k) && times_[shown(d.values[s][k], d.decimals)] == 1;
  }
  const Run& run(size_t s, size_t k) const { return runs_.values[s][k]; }
  std::string value(size_t s, size_t k) const { return figure(run(s, k).text); }
  std::string label(size_t k) { return r.chance(0.7F) ? d.categories[k] : lower(d.categories[k]); }
  std::vector<Box> labels(size_t s, size_t k) const {
    std::vector<Box> boxes;
    if (named(k)) boxes.push_back(runs_.categories[k].box);
    if (in_legend(s)) boxes.push_back(runs_.series[s].box);
    return boxes;
  }

  void every_value() {
    for (size_t s = 0; s < ns_; ++s)
      for (size_t k = 0; k < nc_; ++k) {
        if (!printed(s, k) || !named(k)) continue;
        if (ns_ == 1) {
          page_.ask("chart.value", value(s, k), {run(s, k)}, 6.0F / nc_, medium,
                    {{"cat", label(k)}, unit_, mark_}, labels(s, k));
          continue;
        }
        const std::string cat = label(k), ser = r.chance(0.5F) ? d.series[s] : lower(d.series[s]);
        page_.ask("chart.series", value(s, k), {run(s, k)}, 6.0F / (nc_ * ns_), medium,
                  {{"cat", cat}, {"ser", ser}, unit_, mark_}, labels(s, k));
        page_.ask("chart.colour", value(s, k), {run(s, k)}, 1.0F / (nc_ * ns_), medium,
                  {{"cat", label(k)}, {"color", d.colors[s].name}, mark_},
                  {runs_.categories[k].box});
      }
  }

  // The largest or smallest value of the chart, and its category.
  void extreme(const std::string& which, float weight, float name_weight,
               bool (*beats)(float, float)) {
    size_t best_s = 0, best_k = 0;
    for (size_t s = 0; s < ns_; ++s)
      for (size_t k = 0; k < nc_; ++k)
        if (printed(s, k) && beats(d.values[s][k], d.values[best_s][best_k]))
          best_s = s, best_k = k;
    if (!complete_ || !single(best_s, best_k)) return;
    page_.ask("chart." + which, value(best_s, best_k), {run(best_s, best_k)}, weight, complex,
              {unit_, mark_});
    if (ns_ == 1 && named(best_k))
      page_.ask("chart.arg" + which, d.categories[best_k], {runs_.categories[best_k]}, name_weight,
                complex, {{"name", d.category_name}, unit_, mark_}, {run(0, best_k).box});
  }

  void one_of_several(size_t s) {
    for (size_t k = 0; k < nc_; ++k)
      if (!printed(s, k)) return;
    if (ns_ == 1 || nc_ < 2) return;
    const std::vector<float>& line = d.values[s];
    const auto hi = std::max_element(line.begin(), line.end()),
               lo = std::min_element(line.begin(), line.end());
    for (const auto& [best, which] : {std::pair{hi, "max"}, {lo, "min"}}) {
      const auto k = static_cast<size_t>(best - line.begin());
      if (std::count(line.begin(), line.end(), *best) != 1) continue;
      const std::string intent = std::string("chart.") + which;
      if (named(k))
        page_.ask("chart.arg" + std::string(which) + ".series", d.categories[k],
                  {runs_.categories[k]}, 0.4F / ns_, complex,
                  {{"name", d.category_name}, {"ser", d.series[s]}, unit_, mark_}, {run(s, k).box});
      page_.ask(intent + ".series", value(s, k), {run(s, k)}, 0.4F / ns_, complex,
                {{"ser", d.series[s]}}, labels(s, k));
      page_.ask(intent + ".color", value(s, k), {run(s, k)}, 0.3F / ns_, complex,
                {{"color", d.colors[s].name}, mark_});
    }
    if (in_legend(s))
      page_.ask("chart.legend", d.series[s], {runs_.series[s]}, 0.8F / ns_, simple,
                {{"color", d.colors[s].name}, mark_});
  }

  void only_series() {
    const std::vector<Run>& cats = runs_.categories;
    for (size_t k = 0; k < nc_; ++k)
      if (single(0, k) && named(k))
        page_.ask("chart.which", d.categories[k], {cats[k]}, 1.0F / nc_, medium,
                  {{"name", d.category_name}, {"value", value(0, k)}, unit_}, {run(0, k).box});
    const size_t a = r.next() % nc_, b = (a + 1 + r.next() % (nc_ - 1)) % nc_;
    if (printed(0, a) && printed(0, b) && named(a) && named(b) &&
        d.values[0][a] != d.values[0][b]) {
      const size_t win = d.values[0][a] > d.values[0][b] ? a : b;
      page_.ask("chart.compare", d.categories[win], {cats[win]}, 0.5F, complex,
                {{"a", d.categories[a]}, {"b", d.categories[b]}},
                {cats[a].box, cats[b].box, run(0, a).box, run(0, b).box});
    }
    if (complete_ && nc_ >= 4 && nc_ <= 9) missing_value(r.next() % nc_);
    const size_t at = r.next() % std::min<size_t>(nc_, 6);
    const bool all_named =
        std::all_of(cats.begin(), cats.end(), [](const Run& run) { return run.item >= 0; });
    if (all_named && at < cats.size())
      page_.ask("chart.nth", d.categories[at], {cats[at]}, 0.3F, medium,
                {{"name", d.category_name}, {"nth", r.list<"chart.nth">()[at]}});
  }

  // "23, __, 41": which one is not in the list?
  void missing_value(size_t gone) {
    std::string list;
    for (size_t k = 0; k < nc_; ++k) list += (k ? ", " : "") + (k == gone ? "__" : value(0, k));
    if (single(0, gone))
      page_.ask("chart.missing", value(0, gone), {run(0, gone)}, 0.2F, complex, {{"list", list}});
  }

  // Something that is not in the chart.
  void absent() {
    for (int tries = 0; tries < 20; ++tries) {
      const std::string& other = r.pick<"place.country">();
      if (holds(d.categories, other)) continue;
      Slots slots = {{"cat", other}, unit_, mark_};
      if (ns_ > 1) slots.insert(slots.begin() + 1, {"ser", d.series[0]});
      page_.ask_none(ns_ == 1 ? "chart.value" : "chart.series", 0.35F, simple, slots);
      return;
    }
  }

  Page& page_;
  Random& r;
  const ChartData& d;
  const ChartRuns& runs_;
  const size_t ns_ = d.series.size(), nc_ = d.categories.size();
  bool complete_ = true;
  std::map<std::string, int> times_;  // how often a value is printed
  // How the values may be called: "percentage" only for percentages.
  const std::pair<std::string, std::string> unit_ = {"unit", d.percent ? "percent" : "number"},
                                            mark_ = {"mark", d.mark};
};

}  // namespace

void chart_questions(Page& page, Random& random, const ChartData& data, const ChartRuns& runs) {
  ChartQuestions(page, random, data, runs).ask();
}

}  // namespace arrcoc::scenes
