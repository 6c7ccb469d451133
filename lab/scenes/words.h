// Invented but plausible content: people, firms, places, dates, amounts, goods.
#pragma once

#include <string>
#include <vector>

#include "lab/scenes/random.h"

namespace arrcoc::scenes {

struct Date {
  int year = 2000, month = 1, day = 1;
};
struct Good {
  const char* name;
  float low, high;  // usual price range
};
enum class Land { us, uk, malaysia, euro };

std::string upper(std::string text);
std::string lower(std::string text);  // ASCII and Latin-1 letters in UTF-8
std::string trim(const std::string& text);

Date date(Random& r, int first_year, int last_year);
std::string format(const Date& date, int form);  // form in [0, kDateForms)
constexpr int kDateForms = 12;
const char* month_name(int month);
std::string clock(Random& r, bool twelve_hours);

std::string digits(Random& r, int count);                 // the first one is never zero
std::string pattern(Random& r, const std::string& form);  // # digit, @ letter, rest as is
std::string money(int cents, bool thousands = false);     // 1234.50 or 1,234.50
std::string grouped(long value);                          // 12,345

// With r.strangeness a word of the same look that stands in no list here, so that it must be read
// and cannot be guessed; else the text itself, and nothing is drawn.
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
std::string currency(Land land);
Land any_land(Random& r);
const std::vector<Good>& goods();
const std::vector<std::string>& countries();
std::string topic(Random& r);       // "use of nuclear power"
std::string cap(std::string text);  // first letter upper case
std::string title_case(const std::string& text);

}  // namespace arrcoc::scenes
