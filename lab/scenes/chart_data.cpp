#include "lab/scenes/chart_data.h"

#include <algorithm>
#include <cmath>

#include "lab/scenes/words.h"

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
  const bool in_time = years || (series > 1 && r.chance(0.12F));
  if (in_time) {
    d.category_name = "year";
    const int step = r.chance(0.8F) ? 1 : r.between(2, 5);
    const int first = r.between(1960, 2020 - step * categories);
    const bool months = r.chance(0.15F);
    if (months) d.category_name = "month";
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
  if (r.strangeness > 0) {
    if (!in_time)
      for (std::string& name : d.categories) name = strange(r, name);
    for (std::string& name : d.series) name = strange(r, name);
  }
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
      } else if (in_time && cat > 0) {
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

}  // namespace arrcoc::scenes
