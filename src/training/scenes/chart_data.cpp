#include "training/scenes/chart_data.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "training/scenes/phrases.h"
#include "training/scenes/words.h"

namespace arrcoc::scenes {
namespace {

using List = std::vector<std::string>;

const std::vector<std::vector<NamedColor>>& palettes() {
  static const std::vector<std::vector<NamedColor>> list = {{{"gold", {211, 167, 47}},
                                                             {"tan", {227, 203, 135}},
                                                             {"brown", {124, 84, 17}},
                                                             {"grey", {178, 178, 178}},
                                                             {"beige", {240, 229, 200}}},
                                                            {{"dark blue", {34, 76, 132}},
                                                             {"blue", {68, 121, 189}},
                                                             {"light blue", {164, 194, 230}},
                                                             {"grey", {190, 190, 190}},
                                                             {"orange", {231, 147, 48}}},
                                                            {{"green", {147, 160, 66}},
                                                             {"light green", {196, 207, 141}},
                                                             {"dark green", {86, 102, 30}},
                                                             {"grey", {180, 180, 180}},
                                                             {"cream", {236, 237, 215}}},
                                                            {{"orange", {232, 143, 41}},
                                                             {"green", {146, 162, 65}},
                                                             {"blue", {70, 110, 150}},
                                                             {"grey", {170, 170, 170}},
                                                             {"brown", {120, 80, 40}}},
                                                            {{"teal", {58, 122, 108}},
                                                             {"light teal", {161, 208, 199}},
                                                             {"gold", {208, 168, 52}},
                                                             {"cream", {243, 228, 190}},
                                                             {"grey", {160, 160, 160}}},
                                                            {{"red", {190, 60, 44}},
                                                             {"blue", {52, 98, 155}},
                                                             {"grey", {165, 165, 165}},
                                                             {"gold", {214, 174, 60}},
                                                             {"purple", {120, 88, 150}}},
                                                            {{"purple", {117, 82, 146}},
                                                             {"pink", {222, 150, 180}},
                                                             {"yellow", {238, 206, 72}},
                                                             {"grey", {168, 168, 168}},
                                                             {"teal", {64, 140, 140}}},
                                                            {{"black", {52, 52, 52}},
                                                             {"grey", {142, 142, 142}},
                                                             {"red", {200, 50, 50}},
                                                             {"blue", {60, 110, 180}},
                                                             {"green", {80, 150, 80}}}};
  return list;
}

const std::vector<List>& answer_sets() {
  static const std::vector<List> list = {
      {"Approve", "Disapprove"},
      {"Favorable", "Unfavorable"},
      {"Yes", "No"},
      {"Satisfied", "Dissatisfied"},
      {"Good", "Bad"},
      {"Very important", "Somewhat important", "Not important"},
      {"Better", "Worse", "About the same"},
      {"A great deal", "Some", "Not much"},
      {"Agree", "Disagree", "Unsure"},
      {"More", "Less", "Same"},
      {"Very concerned", "Somewhat concerned", "Not concerned"},
      {"Increased", "Decreased", "Stayed the same"},
      {"Support", "Oppose"},
      {"Good chance", "Some chance", "No chance", "Never heard of"},
      {"Very", "Somewhat", "Not too", "Not at all"},
      {"Major threat", "Minor threat", "Not a threat"},
      {"Republican", "Democrat", "Independent"},
      {"Men", "Women"},
      {"Urban", "Suburban", "Rural"},
      {"Daily", "Weekly", "Monthly", "Never"},
      {"Revenue", "Cost", "Profit"},
      {"Exports", "Imports"},
      {"Accepted", "Rejected"},
      {"Excellent", "Good", "Only fair", "Poor"},
      {"Too much", "About right", "Too little"},
      {"Legal", "Illegal"}};
  return list;
}

struct Categories {
  const char* name;
  List list;
};

const std::vector<Categories>& category_sets() {
  static const std::vector<Categories> list = {
      {"age group", {"18-29", "30-49", "50-64", "65+"}},
      {"age group", {"Ages 18-24", "25-34", "35-44", "45-54", "55-64", "65 and older"}},
      {"group", {"Total", "Men", "Women", "White", "Black", "Hispanic", "Asian"}},
      {"education level",
       {"Postgrad", "College grad", "Some college", "High school", "Less than HS"}},
      {"income group",
       {"$100,000 or more", "$75,000-$99,999", "$50,000-$74,999", "$30,000-$49,999",
        "Less than $30,000"}},
      {"party", {"Republican", "Democrat", "Independent", "Rep/Lean Rep", "Dem/Lean Dem"}},
      {"generation", {"Millennial", "Generation X", "Boomer", "Silent", "Gen Z"}},
      {"religion",
       {"Protestant", "Catholic", "Jewish", "Muslim", "Unaffiliated", "Evangelical", "Mormon"}},
      {"issue",
       {"Economy", "Health care", "Terrorism", "Education", "Environment", "Immigration", "Jobs",
        "Crime", "Energy", "Taxes"}},
      {"emotion",
       {"Inspired", "Amused", "Angry", "Connected", "Lonely", "Depressed", "Hopeful", "Worried"}},
      {"source",
       {"Television", "Newspapers", "Radio", "Internet", "Friends", "Social media", "Magazines",
        "Podcasts"}},
      {"activity",
       {"Texting", "Watching TV", "Reading", "Shopping online", "Playing games", "Cooking",
        "Sports", "Volunteering"}},
      {"profession",
       {"Teacher", "Nurse", "Police officer", "Lawyer", "Journalist", "Scientist", "Farmer",
        "Engineer"}},
      {"product",
       {"Smartphone", "Laptop", "Tablet", "TV set", "Camera", "E-reader", "Smart watch",
        "Headphones"}},
      {"month",
       {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}},
      {"quarter", {"Q1", "Q2", "Q3", "Q4"}},
      {"region",
       {"Northeast", "Midwest", "South", "West", "Latin America", "Europe", "Asia-Pacific",
        "Middle East", "Africa"}}};
  return list;
}

std::string make_title(Random& r, const std::string& what, const ChartData& d) {
  const std::string who =
      r.pick({"Americans", "Voters", "Young Adults", "Teens", "Europeans", "Democrats",
              "Republicans", "Parents", "Consumers", "Women", "Internet Users"});
  const std::string text =
      r.pick({"Views of", "Declining Support for", "Growing Concern About", "Most Worry About",
              "Mixed Views on", "Divided Over", "Rising Interest in", "Opinions on",
              "More Optimism About", "Little Change in Views of"});
  switch (r.between(0, 4)) {
    case 0:
      return text + " " + title_case(what);
    case 1:
      return who + " " +
             r.pick({"Split Over", "Want Changes in", "Less Confident About", "Divided on",
                     "More Positive About"}) +
             " " + title_case(what);
    case 2:
      return r.pick({"Majority of ", "About Half of ", "Few ", "Most "}) + who + " " +
             r.pick({"Worry About", "Support", "Follow News About", "Have Heard of"}) + " " +
             title_case(what);
    case 3:
      return cap(what) + " by " + d.category_name;
    default:
      return who + " " +
             r.pick({"more likely to be concerned about", "see progress on", "are divided over",
                     "say they care about"}) +
             " " + what;
  }
}

}  // namespace

std::string shown(float value, int decimals) {
  if (decimals == 0) return grouped(std::lround(value));
  const long tenths = std::lround(value * 10);
  return grouped(tenths / 10) + "." + std::to_string(std::labs(tenths % 10));
}

ChartData chart_data(Random& r, int series, int categories, float sum_to, bool years) {
  ChartData d;
  d.colors = r.pick(palettes());
  if (r.chance(0.5F)) std::swap(d.colors[0], d.colors[1]);
  if (years || (series > 1 && r.chance(0.12F))) {
    d.category_name = "year";
    const int step = r.chance(0.8F) ? 1 : r.between(2, 5);
    const int first = r.between(1960, 2020 - step * categories);
    const bool months = r.chance(0.15F);
    for (int i = 0; i < categories; ++i)
      d.categories.push_back(months
                                 ? std::string(month_name((i * 5 + first) % 12 + 1)).substr(0, 3) +
                                       " " + std::to_string(2009 + i)
                                 : std::to_string(first + i * step));
  } else if (r.chance(0.3F)) {
    d.category_name = "country";
    List list = countries();
    r.shuffle(list);
    d.categories.assign(list.begin(), list.begin() + categories);
  } else {
    const Categories* set = &r.pick(category_sets());
    for (int tries = 0; tries < 40 && static_cast<int>(set->list.size()) < categories; ++tries)
      set = &r.pick(category_sets());
    d.category_name = set->name;
    d.categories = set->list;
    if (static_cast<int>(d.categories.size()) > categories)
      d.categories.resize(static_cast<size_t>(categories));
  }
  const List* answers = &r.pick(answer_sets());
  for (int tries = 0; tries < 40 && static_cast<int>(answers->size()) < series; ++tries)
    answers = &r.pick(answer_sets());
  d.series = *answers;
  if (static_cast<int>(d.series.size()) > series) d.series.resize(static_cast<size_t>(series));
  d.percent = sum_to > 0 || r.chance(0.75F);
  d.decimals = sum_to <= 0 && r.chance(0.15F) ? 1 : 0;
  const float top = d.percent ? 97.0F : r.pick(std::vector<float>{60, 250, 900, 4800, 36000});
  d.values.assign(d.series.size(), std::vector<float>(d.categories.size()));
  for (size_t cat = 0; cat < d.categories.size(); ++cat) {
    float rest = sum_to > 0 ? sum_to - r.between(0, 6) : 0;
    for (size_t ser = 0; ser < d.series.size(); ++ser) {
      float& v = d.values[ser][cat];
      if (sum_to > 0) {
        const auto left = static_cast<float>(d.series.size() - ser - 1);
        v = left == 0
                ? rest
                : std::clamp(r.real(0.15F, 0.85F) * rest, 2.0F, std::max(2.0F, rest - 2 * left));
        v = std::max(1.0F, std::round(v));
        rest -= v;
      } else if (d.category_name == std::string("year") && cat > 0) {
        v = std::clamp(d.values[ser][cat - 1] + r.real(-0.13F, 0.13F) * top, top * 0.04F, top);
      } else {
        v = r.real(0.05F, 1.0F) * top;
      }
      v = d.decimals ? std::round(v * 10) / 10 : std::round(v);
    }
  }
  const std::string what = topic(r);
  d.title = make_title(r, what, d);
  d.subtitle =
      r.chance(0.8F)
          ? r.pick({"% who say they are satisfied with ", "% saying they follow news about ",
                    "Do you approve or disapprove of the way the government handles ",
                    "% of adults who have views on ",
                    "Over the next several years, do you think things will get better for ",
                    "Thinking about "}) +
                what + r.pick({" ...", "", " ...", " in recent years"})
          : "";
  const int year = r.between(2005, 2021);
  const std::string month = month_name(r.between(1, 12));
  const std::string days =
      std::to_string(r.between(1, 14)) + "-" + std::to_string(r.between(15, 28));
  d.note = r.chance(0.7F) ? r.pick({"Note: Figures may not add up to 100% because of rounding.",
                                    "Don't know responses not shown.",
                                    "Note: Those who did not answer are not shown. See topline for "
                                    "full question wording.",
                                    "Based on all adults."})
                          : "";
  d.source = r.chance(0.85F) ? r.pick({"Survey conducted ", "Source: Survey of adults conducted ",
                                       "Source: National survey conducted "}) +
                                   month + " " + days + ", " + std::to_string(year) + "."
                             : "";
  d.brand =
      r.chance(0.7F)
          ? upper(r.pick({"Harlow", "Northgate", "Meridian", "Civic", "Elmwood", "Lakeside",
                          "Public View", "Ashdown"}) +
                  " " + r.pick({"Research Center", "Institute", "Survey Group", "Polling Center"}))
          : "";
  return d;
}

ChartSize chart_size(Context& c, float low, float high) {
  Random& r = c.random;
  ChartSize s;
  const float aspect = r.real(low, high);  // height over width
  if (r.chance(0.72F)) {
    // As published on the web: narrow pictures with 9 to 12 px type, enlarged when they are shown.
    const float w = c.px(static_cast<float>(
        r.pick(std::vector<int>{190, 240, 310, 310, 310, 310, 420, 420, 480, 620})));
    s.width = static_cast<int>(w);
    s.size = c.px(w < c.px(400) ? r.real(10.5F, 12.5F) : r.real(11, 15));
  } else {
    s.width = static_cast<int>(c.px(r.real(640, 1000)));
    s.size = s.width * r.real(0.021F, 0.033F);
  }
  s.height = std::min(static_cast<int>(s.width * aspect), c.options.longest);
  s.size = std::round(s.size * 2) / 2;
  return s;
}

Frame chart_frame(Context& c, Page& page, const ChartData& d, float size) {
  Random& r = c.random;
  const Canvas& canvas = page.canvas;
  const Color ink{25, 25, 25};
  const Family& sans = c.family(r.chance(0.8F) ? "sans" : "narrow");
  const Family& head = r.chance(0.7F) ? sans : c.family("sans");
  const Family& italic = c.options.held_back
                             ? sans
                             : c.library.named(r.pick({"noto-serif", "dejavu-serif",
                                                       "liberation-serif", "liberation-sans"}));
  Frame f;
  f.title = style(head, size * r.real(1.15F, 1.35F),
                  r.chance(0.15F) ? Color{64, 104, 150} : Color{0, 0, 0}, Weight::bold);
  f.subtitle = style(italic, size * r.real(1.0F, 1.12F), Color{105, 105, 105}, Weight::italic);
  f.label = style(sans, size, ink);
  f.value = style(sans, size * (r.chance(0.3F) ? 0.92F : 1.0F), ink,
                  r.chance(0.12F) ? Weight::bold : Weight::regular);
  f.note = style(sans, std::max(size * 0.86F, c.px(8.5F)), Color{120, 120, 120});
  const float pad = size * r.real(0.3F, 1.2F);
  f.left = pad;
  f.right = canvas.width - pad;
  float y = pad + size;
  if (r.chance(0.5F)) page.canvas.hline(0, static_cast<float>(canvas.width), 1, 1, {60, 60, 60});
  const auto title = page.paragraph(f.left, y + f.title.size * 0.5F, f.right - f.left,
                                    f.title.size * 1.2F, d.title, f.title, Align::left, 3);
  y += f.title.size * (0.5F + 1.2F * title.size());
  std::string whole;
  for (const Run& run : title) whole += (whole.empty() ? "" : " ") + run.text;
  page.ask({"chart.title", {}, whole, title, {}, Level::simple, 0.35F});
  if (!d.subtitle.empty()) {
    const auto lines = page.paragraph(f.left, y, f.right - f.left, f.subtitle.size * 1.25F,
                                      d.subtitle, f.subtitle, Align::left, 3);
    y += f.subtitle.size * 1.25F * lines.size();
  }
  f.top = y;
  float bottom = canvas.height - pad * 0.6F;
  if (r.chance(0.3F))
    page.canvas.hline(0, static_cast<float>(canvas.width), canvas.height - 2.0F, 1, {60, 60, 60});
  if (!d.brand.empty()) {
    const Run run =
        page.text(f.left, bottom - 2, d.brand, style(sans, f.note.size, ink, Weight::bold));
    page.ask({"chart.source", {}, d.brand, {run}, {}, Level::simple, 0.25F});
    bottom -= f.note.size * 1.7F;
  }
  std::vector<std::string> foot;
  for (const std::string& text : {d.note, d.source}) {
    if (text.empty()) continue;
    for (const auto& line : page.wrap(text, f.note, f.right - f.left)) foot.push_back(line);
  }
  bottom -= f.note.size * 1.25F * foot.size();
  for (size_t i = 0; i < foot.size(); ++i)
    page.text(f.left, bottom + f.note.size * (1.1F + 1.25F * i) - 3, foot[i], f.note);
  f.bottom = bottom - size * 0.4F;
  return f;
}

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
  std::map<std::string, int> times;
  size_t high_s = 0, high_k = 0, low_s = 0, low_k = 0;
  for (size_t s = 0; s < ns; ++s)
    for (size_t k = 0; k < nc; ++k) {
      if (!has(s, k)) continue;
      ++times[shown(d.values[s][k], d.decimals)];
      if (d.values[s][k] > d.values[high_s][high_k]) high_s = s, high_k = k;
      if (d.values[s][k] < d.values[low_s][low_k]) low_s = s, low_k = k;
    }
  for (size_t s = 0; s < ns; ++s) {
    for (size_t k = 0; k < nc; ++k) {
      if (!has(s, k)) continue;
      const std::string answer = figure(values[s][k].text);
      if (ns == 1) {
        page.ask({"chart.value",
                  {{"cat", label(k)}},
                  answer,
                  {values[s][k]},
                  evidence(s, k),
                  Level::medium,
                  6.0F / nc});
      } else {
        page.ask({"chart.series",
                  {{"cat", label(k)}, {"ser", r.chance(0.5F) ? d.series[s] : lower(d.series[s])}},
                  answer,
                  {values[s][k]},
                  evidence(s, k),
                  Level::medium,
                  6.0F / (nc * ns)});
        page.ask({"chart.colour",
                  {{"cat", label(k)}, {"color", d.colors[s].name}},
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
  if (single(high_s, high_k)) {
    page.ask({"chart.max",
              {},
              figure(values[high_s][high_k].text),
              {values[high_s][high_k]},
              {},
              Level::complex,
              0.7F});
    if (ns == 1 && high_k < cats.size())
      page.ask({"chart.argmax",
                {{"name", d.category_name}},
                d.categories[high_k],
                {cats[high_k]},
                {values[0][high_k].box},
                Level::complex,
                0.8F});
  }
  if (single(low_s, low_k)) {
    page.ask({"chart.min",
              {},
              figure(values[low_s][low_k].text),
              {values[low_s][low_k]},
              {},
              Level::complex,
              0.5F});
    if (ns == 1 && low_k < cats.size())
      page.ask({"chart.argmin",
                {{"name", d.category_name}},
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
      page.ask({"chart.arg" + best + ".series",
                {{"name", d.category_name}, {"ser", d.series[s]}},
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
                {{"color", d.colors[s].name}},
                figure(values[s][at].text),
                {values[s][at]},
                {},
                Level::complex,
                0.3F / ns});
    }
    if (s < sers.size() && sers[s].item >= 0)
      page.ask({"chart.legend",
                {{"color", d.colors[s].name}},
                d.series[s],
                {sers[s]},
                {},
                Level::simple,
                0.8F / ns});
  }
  if (ns == 1 && nc > 2) {
    for (size_t k = 0; k < nc; ++k)
      if (single(0, k) && k < cats.size())
        page.ask({"chart.which",
                  {{"name", d.category_name}, {"value", figure(values[0][k].text)}},
                  d.categories[k],
                  {cats[k]},
                  {values[0][k].box},
                  Level::medium,
                  1.0F / nc});
    const size_t a = r.next() % nc, b = (a + 1 + r.next() % (nc - 1)) % nc;
    if (has(0, a) && has(0, b) && d.values[0][a] != d.values[0][b]) {
      const size_t win = d.values[0][a] > d.values[0][b] ? a : b;
      page.ask({"chart.compare",
                {{"a", d.categories[a]}, {"b", d.categories[b]}},
                d.categories[win],
                {cats[win]},
                {values[0][a].box, values[0][b].box},
                Level::complex,
                0.5F});
    }
    if (nc >= 4 && nc <= 9) {
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
    if (at < cats.size() && cats[at].item >= 0)
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
      page.ask({"chart.value", {{"cat", other}}, "none", {}, {}, Level::simple, 0.35F});
    else
      page.ask({"chart.series",
                {{"cat", other}, {"ser", d.series[0]}},
                "none",
                {},
                {},
                Level::simple,
                0.35F});
    break;
  }
}

}  // namespace arrcoc::scenes
