// What can be asked about any chart whose values are printed.
#include <algorithm>
#include <map>

#include "lab/scenes/chart_data.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {

void chart_questions(Page& page, Random& r, const ChartData& d,
                     const std::vector<std::vector<Run>>& values, const std::vector<Run>& cats,
                     const std::vector<Run>& sers) {
  const size_t ns = d.series.size(), nc = d.categories.size();
  auto has = [&](size_t s, size_t k) {
    return s < values.size() && k < values[s].size() && values[s][k].item >= 0;
  };
  auto label = [&](size_t k) { return r.chance(0.7F) ? d.categories[k] : lower(d.categories[k]); };
  auto evidence = [&](size_t s, size_t k) {
    std::vector<Box> boxes;
    if (k < cats.size() && cats[k].item >= 0) boxes.push_back(cats[k].box);
    if (s < sers.size() && sers[s].item >= 0) boxes.push_back(sers[s].box);
    return boxes;
  };
  // Questions over all values need all of them printed; names need to be printed to be asked for.
  bool complete = true;
  auto named = [&](size_t k) { return k < cats.size() && cats[k].item >= 0; };
  // How the values may be called: "percentage" only for percentages.
  const std::pair<std::string, std::string> unit = {"unit", d.percent ? "percent" : "number"},
                                            mark = {"mark", d.mark};
  std::map<std::string, int> times;
  size_t high_s = 0, high_k = 0, low_s = 0, low_k = 0;
  for (size_t s = 0; s < ns; ++s)
    for (size_t k = 0; k < nc; ++k) {
      complete = complete && has(s, k);
      if (!has(s, k)) continue;
      ++times[shown(d.values[s][k], d.decimals)];
      if (d.values[s][k] > d.values[high_s][high_k]) high_s = s, high_k = k;
      if (d.values[s][k] < d.values[low_s][low_k]) low_s = s, low_k = k;
    }
  for (size_t s = 0; s < ns; ++s) {
    for (size_t k = 0; k < nc; ++k) {
      if (!has(s, k) || !named(k)) continue;
      const std::string answer = figure(values[s][k].text);
      if (ns == 1) {
        page.ask({"chart.value",
                  {{"cat", label(k)}, unit, mark},
                  answer,
                  {values[s][k]},
                  evidence(s, k),
                  Level::medium,
                  6.0F / nc});
      } else {
        page.ask({"chart.series",
                  {{"cat", label(k)},
                   {"ser", r.chance(0.5F) ? d.series[s] : lower(d.series[s])},
                   unit,
                   mark},
                  answer,
                  {values[s][k]},
                  evidence(s, k),
                  Level::medium,
                  6.0F / (nc * ns)});
        page.ask({"chart.colour",
                  {{"cat", label(k)}, {"color", d.colors[s].name}, mark},
                  answer,
                  {values[s][k]},
                  evidence(99, k),
                  Level::medium,
                  1.0F / (nc * ns)});
      }
    }
  }
  auto single = [&](size_t s, size_t k) {
    return has(s, k) && times[shown(d.values[s][k], d.decimals)] == 1;
  };
  if (complete && single(high_s, high_k)) {
    page.ask({"chart.max",
              {unit, mark},
              figure(values[high_s][high_k].text),
              {values[high_s][high_k]},
              {},
              Level::complex,
              0.7F});
    if (ns == 1 && named(high_k))
      page.ask({"chart.argmax",
                {{"name", d.category_name}, unit, mark},
                d.categories[high_k],
                {cats[high_k]},
                {values[0][high_k].box},
                Level::complex,
                0.8F});
  }
  if (complete && single(low_s, low_k)) {
    page.ask({"chart.min",
              {unit, mark},
              figure(values[low_s][low_k].text),
              {values[low_s][low_k]},
              {},
              Level::complex,
              0.5F});
    if (ns == 1 && named(low_k))
      page.ask({"chart.argmin",
                {{"name", d.category_name}, unit, mark},
                d.categories[low_k],
                {cats[low_k]},
                {values[0][low_k].box},
                Level::complex,
                0.5F});
  }
  for (size_t s = 0; s < ns; ++s) {
    size_t hi = 0, lo = 0;
    bool all = true;
    for (size_t k = 0; k < nc; ++k) {
      all = all && has(s, k);
      if (d.values[s][k] > d.values[s][hi]) hi = k;
      if (d.values[s][k] < d.values[s][lo]) lo = k;
    }
    if (!all || ns == 1 || nc < 2) continue;
    auto alone = [&](size_t at) {
      return std::count(d.values[s].begin(), d.values[s].end(), d.values[s][at]) == 1;
    };
    for (const auto& [at, best] : {std::pair<size_t, std::string>{hi, "max"}, {lo, "min"}}) {
      if (!alone(at)) continue;
      if (named(at))
        page.ask({"chart.arg" + best + ".series",
                  {{"name", d.category_name}, {"ser", d.series[s]}, unit, mark},
                  d.categories[at],
                  {cats[at]},
                  {values[s][at].box},
                  Level::complex,
                  0.4F / ns});
      page.ask({"chart." + best + ".series",
                {{"ser", d.series[s]}},
                figure(values[s][at].text),
                {values[s][at]},
                evidence(s, at),
                Level::complex,
                0.4F / ns});
      page.ask({"chart." + best + ".color",
                {{"color", d.colors[s].name}, mark},
                figure(values[s][at].text),
                {values[s][at]},
                {},
                Level::complex,
                0.3F / ns});
    }
    if (s < sers.size() && sers[s].item >= 0)
      page.ask({"chart.legend",
                {{"color", d.colors[s].name}, mark},
                d.series[s],
                {sers[s]},
                {},
                Level::simple,
                0.8F / ns});
  }
  if (ns == 1 && nc > 2) {
    for (size_t k = 0; k < nc; ++k)
      if (single(0, k) && named(k))
        page.ask({"chart.which",
                  {{"name", d.category_name}, {"value", figure(values[0][k].text)}, unit},
                  d.categories[k],
                  {cats[k]},
                  {values[0][k].box},
                  Level::medium,
                  1.0F / nc});
    const size_t a = r.next() % nc, b = (a + 1 + r.next() % (nc - 1)) % nc;
    if (has(0, a) && has(0, b) && named(a) && named(b) && d.values[0][a] != d.values[0][b]) {
      const size_t win = d.values[0][a] > d.values[0][b] ? a : b;
      page.ask({"chart.compare",
                {{"a", d.categories[a]}, {"b", d.categories[b]}},
                d.categories[win],
                {cats[win]},
                {cats[a].box, cats[b].box, values[0][a].box, values[0][b].box},
                Level::complex,
                0.5F});
    }
    if (complete && nc >= 4 && nc <= 9) {
      const size_t gone = r.next() % nc;
      std::string list;
      for (size_t k = 0; k < nc; ++k)
        list += (k ? ", " : "") + (k == gone ? std::string("__") : figure(values[0][k].text));
      if (single(0, gone))
        page.ask({"chart.missing",
                  {{"list", list}},
                  figure(values[0][gone].text),
                  {values[0][gone]},
                  {},
                  Level::complex,
                  0.2F});
    }
    const size_t at = r.next() % std::min<size_t>(nc, 6);
    static const char* const nth[] = {"first", "second", "third", "4th", "5th", "6th"};
    const bool all_named =
        std::all_of(cats.begin(), cats.end(), [](const Run& run) { return run.item >= 0; });
    if (all_named && at < cats.size())
      page.ask({"chart.nth",
                {{"name", d.category_name}, {"nth", nth[at]}},
                d.categories[at],
                {cats[at]},
                {},
                Level::medium,
                0.3F});
  }
  // Something that is not in the chart.
  for (int tries = 0; tries < 20; ++tries) {
    const std::string other = r.pick(countries());
    if (std::find(d.categories.begin(), d.categories.end(), other) != d.categories.end()) continue;
    if (ns == 1)
      page.ask({"chart.value", {{"cat", other}, unit, mark}, "none", {}, {}, Level::simple, 0.35F});
    else
      page.ask({"chart.series",
                {{"cat", other}, {"ser", d.series[0]}, unit, mark},
                "none",
                {},
                {},
                Level::simple,
                0.35F});
    break;
  }
}

}  // namespace arrcoc::scenes
