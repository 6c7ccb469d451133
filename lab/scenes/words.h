// Invented but plausible content: people, firms, places, dates, amounts, goods. The words come from
// the lists of the random generator.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/scenes/random.h"

namespace arrcoc::scenes {

struct Date {
  int year = 2000, month = 1, day = 1;
};
struct Good {
  std::string name;
  float low, high;  // usual price range
};
enum class Land { us, uk, malaysia, euro };

std::string upper(std::string text);
std::string lower(std::string text);  // ASCII and Latin-1 letters in UTF-8
std::string trim(const std::string& text);
std::string cap(std::string text);  // first letter upper case
std::string title_case(const std::string& text);

bool holds(const std::vector<std::string>& list, const std::string& word);

// {name} becomes the slot's value.
using Slots = std::vector<std::pair<std::string, std::string>>;
std::string fill(std::string text, const Slots& slots);

// Fills a form of the word lists. {list.name} draws from that list (and fills what it drew),
// {person} and the other generators invent something, `own` has what only the caller knows:
//   {person} {given} {surname} {coined} {topic} {company} {street} {city} {city-line} {phone}
//   {number 2 40} {grouped 100 90000} {money 200 2200} {digits 5} {digits 4 7} {sign}
//   {date 1920 1995 9}: years and form; {day date.form}: years and weights of forms in a list
//   {code @@-####; ####}: one of these, with digits for # and letters for @
// {CITY} is {city} in capitals, {Topic} the topic as a title. Drawn from the last to the first, as
// GCC orders the operands of + (the suites depend on it).
using Own = std::map<std::string, std::function<std::string()>>;
std::string expand(Random& r, const std::string& form, Land land = Land::us, const Own& own = {});
// One of "a; b; c"; a single one is not drawn.
std::string choice(Random& r, const std::string& choices);

// Labels and what is filled in, from a table: "Label; Other label | form of the value | figure".
// The third field marks quantities, which are asked for as a figure.
struct Field {
  std::string key, value;
  bool quantity = false;
};
std::vector<Field> fields(Random& r, const std::vector<Row>& table, Land land = Land::us,
                          const Own& own = {});
// The same with some strange labels, in random order.
std::vector<Field> shuffled_fields(Random& r, const std::vector<Row>& table, Land land = Land::us,
                                   const Own& own = {});

Date date(Random& r, int first_year, int last_year);
std::string format(const Random& r, const Date& date, int form);  // form in [0, kDateForms)
constexpr int kDateForms = 12;
// A date as a list says: first and last year, then the weights of the forms.
std::string day(Random& r, const std::vector<std::string>& list);
std::string month_name(const Random& r, int month);
std::string clock(Random& r, bool twelve_hours);

std::string number(Random& r, int low, int high);         // both included
std::string digits(Random& r, int count);                 // the first one is never zero
std::string pattern(Random& r, const std::string& form);  // # digit, @ letter, rest as is
std::string money(int cents, bool thousands = false);     // 1234.50 or 1,234.50
std::string grouped(long value);                          // 12,345

// With r.strangeness a word of the same look that stands in no list, so that it must be read and
// cannot be guessed; else the text itself, and nothing is drawn.
std::string strange(Random& r, const std::string& text);

std::string given_name(Random& r);
std::string surname(Random& r);
std::string person(Random& r);  // with or without initial and title
std::string company(Random& r, Land land);
std::string shop(Random& r, Land land);
std::string street(Random& r, Land land);
std::string city(Random& r, Land land);
std::string city_line(Random& r, Land land);
std::string phone(Random& r, Land land);
std::string email(Random& r, const std::string& name, const std::string& firm);
std::string website(const std::string& firm, Random& r);
std::string sentence(Random& r);
std::string paragraph_text(Random& r, int sentences);
std::string currency(const Random& r, Land land);
Land any_land(Random& r);
Good good(const Row& row);  // of the table goods.all
Good any_good(Random& r);
std::string topic(Random& r);  // "use of nuclear power"

}  // namespace arrcoc::scenes
