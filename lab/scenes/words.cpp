#include "lab/scenes/words.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "arrcoc/error.h"

namespace arrcoc::scenes {
namespace {

// A word of the list of this land: us, uk, malaysia, euro.
template <ListName... names>
const std::string& by_land(Random& r, Land land) {
  const std::vector<std::string>* const lists[] = {&r.list<names>()...};
  return r.pick(*lists[static_cast<size_t>(land)]);
}

// Moves ASCII and Latin-1 letters (UTF-8: 0xC3 and a second byte from `latin` on, without the
// multiplication and division signs) to the other case.
std::string other_case(std::string text, char first, int latin, int by) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= first && c < first + 26) text[i] = static_cast<char>(c + by);
    if (c != 0xC3 || i + 1 >= text.size()) continue;
    const auto d = static_cast<unsigned char>(text[++i]);
    if (d >= latin && d <= latin + 0x1E && d != latin + 0x17) text[i] = static_cast<char>(d + by);
  }
  return text;
}

std::string coined(Random& r) {
  std::string word;
  for (int i = r.between(2, 3); i > 0; --i) word += r.pick<"firm.syllable">();
  return cap(word);
}

int ranged(Random& r, const std::string& range) {  // "2 40", or "5" alone, which is not drawn
  std::istringstream in(range);
  int low = 0, high = 0;
  in >> low >> high;
  return r.between(low, high);
}

// What {what} stands for in a form.
std::string generate(Random& r, const std::string& what, Land land, const Own& own) {
  if (const auto found = own.find(what); found != own.end()) return found->second();
  const size_t blank = std::min(what.find(' '), what.size());
  const std::string name = what.substr(0, blank),
                    rest = what.substr(std::min(blank + 1, what.size()));
  if (name == upper(name)) return upper(generate(r, lower(name) + what.substr(blank), land, own));
  if (name.find('.') != std::string::npos)
    return expand(r, r.pick(r.words->named(name).words), land, own);
  if (name == "person") return person(r);
  if (name == "given") return given_name(r);
  if (name == "surname") return surname(r);
  if (name == "coined") return coined(r);
  if (name == "topic") return topic(r);
  if (name == "Topic") return title_case(topic(r));
  if (name == "company") return company(r, land);
  if (name == "street") return street(r, land);
  if (name == "city") return city(r, land);
  if (name == "city-line") return city_line(r, land);
  if (name == "phone") return phone(r, land);
  if (name == "number") return std::to_string(ranged(r, rest));
  if (name == "grouped") return grouped(ranged(r, rest));
  if (name == "money") return money(ranged(r, rest), true);
  if (name == "digits") return digits(r, ranged(r, rest));
  if (name == "date")
    return format(r, date(r, std::stoi(rest), std::stoi(rest.substr(5))),
                  std::stoi(rest.substr(10)));
  if (name == "sign") return r.chance(0.5F) ? "-" : "+";
  if (name == "day") return day(r, r.words->named(rest).words);
  if (name == "code") return pattern(r, choice(r, rest));
  throw Error(ErrorCode::not_found, "the word lists use {" + what + "}, which nothing makes");
}

}  // namespace

std::string upper(std::string text) { return other_case(std::move(text), 'a', 0xA0, -32); }
std::string lower(std::string text) { return other_case(std::move(text), 'A', 0x80, 32); }

std::string trim(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string cap(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string title_case(const std::string& text) {
  std::string out = text;
  bool start = true;
  for (char& c : out) {
    if (start) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    start = c == ' ';
  }
  return out;
}

bool holds(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string fill(std::string text, const Slots& slots) {
  for (const auto& [name, value] : slots) {
    const std::string slot = "{" + name + "}";
    for (size_t at = text.find(slot); at != std::string::npos;
         at = text.find(slot, at + value.size()))
      text.replace(at, slot.size(), value);
  }
  return text;
}

std::string expand(Random& r, const std::string& form, Land land, const Own& own) {
  std::string text = form;
  for (size_t open = text.rfind('{'); open != std::string::npos;) {
    const size_t close = text.find('}', open);
    text.replace(open, close - open + 1,
                 generate(r, text.substr(open + 1, close - open - 1), land, own));
    open = open == 0 ? std::string::npos : text.rfind('{', open - 1);
  }
  return text;
}

std::string choice(Random& r, const std::string& choices) {
  std::vector<std::string> list = {""};
  bool inside = false;  // {code ##; @@} has choices of its own
  for (size_t i = 0; i < choices.size(); ++i) {
    inside = choices[i] == '{' || (inside && choices[i] != '}');
    if (inside || choices.compare(i, 2, "; ") != 0) {
      list.back() += choices[i];
    } else {
      list.emplace_back();
      ++i;
    }
  }
  return list.size() == 1 ? list[0] : r.pick(list);
}

std::vector<Field> fields(Random& r, const std::vector<Row>& table, Land land, const Own& own) {
  std::vector<Field> list;
  for (const Row& row : table) {
    const std::string key = choice(r, row[0]);
    list.push_back({key, expand(r, choice(r, row[1]), land, own), row.size() > 2});
  }
  return list;
}

std::vector<Field> shuffled_fields(Random& r, const std::vector<Row>& table, Land land,
                                   const Own& own) {
  std::vector<Field> list = fields(r, table, land, own);
  for (Field& field : list)
    if (r.strangeness > 0 && r.chance(0.5F)) field.key = strange(r, field.key);
  r.shuffle(list);
  return list;
}

Date date(Random& r, int first_year, int last_year) {
  return {r.between(first_year, last_year), r.between(1, 12), r.between(1, 28)};
}

std::string day(Random& r, const std::vector<std::string>& list) {
  std::vector<float> values;
  for (const std::string& word : list) values.push_back(to_number(word));
  const size_t form = r.weighted(std::vector<float>(values.begin() + 2, values.end()));
  return format(r, date(r, static_cast<int>(values[0]), static_cast<int>(values[1])),
                static_cast<int>(form));
}

std::string month_name(const Random& r, int month) {
  return r.list<"calendar.month">()[static_cast<size_t>(month - 1)];
}

std::string format(const Random& r, const Date& d, int form) {
  auto two = [](int v) { return (v < 10 ? "0" : "") + std::to_string(v); };
  const std::string month = month_name(r, d.month), short_month = month.substr(0, 3);
  return fill(r.list<"calendar.date">()[static_cast<size_t>(form)],
              {{"d", std::to_string(d.day)},
               {"dd", two(d.day)},
               {"m", std::to_string(d.month)},
               {"mm", two(d.month)},
               {"mon", short_month},
               {"MON", upper(short_month)},
               {"month", month},
               {"yy", two(d.year % 100)},
               {"yyyy", std::to_string(d.year)}});
}

std::string clock(Random& r, bool twelve) {
  const int hour = twelve ? r.between(1, 12) : r.between(7, 22), minute = r.between(0, 59);
  std::string text = (hour < 10 && !twelve ? "0" : "") + std::to_string(hour) + ":" +
                     (minute < 10 ? "0" : "") + std::to_string(minute);
  if (r.chance(0.5F)) {
    const int second = r.between(0, 59);
    text += (second < 10 ? ":0" : ":") + std::to_string(second);
  }
  if (twelve) text += r.chance(0.5F) ? " AM" : " PM";
  return text;
}

std::string number(Random& r, int low, int high) { return std::to_string(r.between(low, high)); }

std::string digits(Random& r, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += static_cast<char>('0' + r.between(i == 0 ? 1 : 0, 9));
  return text;
}

std::string pattern(Random& r, const std::string& form) {
  std::string text;
  for (char c : form) {
    if (c == '#')
      text += static_cast<char>('0' + r.between(0, 9));
    else if (c == '@')
      text += static_cast<char>('A' + r.between(0, 25));
    else
      text += c;
  }
  return text;
}

std::string grouped(long value) {
  std::string text = std::to_string(value < 0 ? -value : value);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return value < 0 ? "-" + text : text;
}

std::string money(int cents, bool thousands) {
  const int whole = std::abs(cents) / 100, part = std::abs(cents) % 100;
  std::string text = thousands ? grouped(whole) : std::to_string(whole);
  text += (part < 10 ? ".0" : ".") + std::to_string(part);
  return cents < 0 ? "-" + text : text;
}

std::string strange(Random& r, const std::string& text) {
  if (r.strangeness <= 0 || !r.chance(r.strangeness)) return text;
  static const std::string vowels = "aeiouy", consonants = "bcdfghjklmnpqrstvwxz";
  const float change = r.chance(0.5F) ? 0.25F : 1.0F;  // a few letters, or a new word
  const bool unspeakable = r.chance(0.15F);
  std::string out = text;
  for (char& c : out) {
    const bool high = c >= 'A' && c <= 'Z';
    if ((!high && (c < 'a' || c > 'z')) || !r.chance(change)) continue;
    const char plain = static_cast<char>(high ? c + 32 : c);
    const bool vowel = vowels.find(plain) != std::string::npos;
    const std::string& from = unspeakable ? (r.chance(0.2F) ? vowels : consonants)
                              : vowel     ? vowels
                                          : consonants;
    const char other = from[r.next() % from.size()];
    c = static_cast<char>(high ? other - 32 : other);
  }
  return out;
}

std::string given_name(Random& r) { return strange(r, r.pick<"people.given">()); }
std::string surname(Random& r) { return strange(r, r.pick<"people.surname">()); }

std::string person(Random& r) {
  std::string name = given_name(r) + " ";
  if (r.chance(0.4F)) name += std::string(1, static_cast<char>('A' + r.between(0, 25))) + ". ";
  name += surname(r);
  if (r.chance(0.2F)) name = r.pick<"people.title">() + " " + name;
  return name;
}

std::string company(Random& r, Land land) {
  std::string name = strange(r, expand(r, r.pick<"firm.company">()));
  if (r.chance(0.7F))
    name +=
        by_land<"firm.form.us", "firm.form.uk", "firm.form.malaysia", "firm.form.euro">(r, land);
  return name;
}

std::string shop(Random& r, Land land) {
  if (r.chance(0.35F)) return upper(company(r, land));
  std::string name = strange(r, expand(r, r.pick<"firm.shop">()));
  if (land == Land::malaysia && r.chance(0.6F)) name += r.pick<"firm.shop-form">();
  return upper(name);
}

std::string street(Random& r, Land land) {
  const std::string house = number(r, 1, land == Land::us ? 4900 : 240);
  switch (land) {
    case Land::malaysia:
      return (r.chance(0.5F) ? "NO. " : "LOT ") + house + (r.chance(0.3F) ? "-A, " : ", ") +
             r.pick<"place.road.malaysia">() + " " +
             strange(r, r.pick<"place.road-name.malaysia">()) + " " + number(r, 1, 30) +
             (r.chance(0.4F) ? "/" + number(r, 1, 12) : "");
    case Land::us:
      return house + " " + strange(r, r.pick<"place.street.us">());
    case Land::uk:
      return house + " " + surname(r) + " " + r.pick<"place.street.uk">();
    default:
      return surname(r) + r.pick<"place.street.euro">() + house;
  }
}

std::string city(Random& r, Land land) {
  return strange(
      r,
      by_land<"place.city.us", "place.city.uk", "place.city.malaysia", "place.city.euro">(r, land));
}

std::string city_line(Random& r, Land land) {
  return expand(r, r.list<"place.city-line">()[static_cast<size_t>(land)], land);
}

std::string phone(Random& r, Land land) {
  return pattern(r, by_land<"phone.us", "phone.uk", "phone.malaysia", "phone.euro">(r, land));
}

std::string email(Random& r, const std::string& name, const std::string& firm) {
  std::string who, where;
  for (char c : lower(name))
    if ((c >= 'a' && c <= 'z') || (c == ' ' && !who.empty())) who += c == ' ' ? '.' : c;
  for (char c : lower(firm))
    if (c >= 'a' && c <= 'z' && where.size() < 12) where += c;
  if (who.size() > 14) who.resize(14);
  while (!who.empty() && who.back() == '.') who.pop_back();
  return who + "@" + where + r.pick<"net.mail">();
}

std::string website(const std::string& firm, Random& r) {
  std::string where;
  for (char c : lower(firm))
    if (c >= 'a' && c <= 'z' && where.size() < 14) where += c;
  return "www." + where + r.pick<"net.web">();
}

std::string sentence(Random& r) {
  std::string text =
      r.pick<"prose.subject">() + " " + r.pick<"prose.verb">() + " " + r.pick<"prose.object">();
  if (r.chance(0.7F)) text += " " + r.pick<"prose.tail">();
  if (r.chance(0.2F))
    text += ", and " + lower(r.pick<"prose.subject">()) + " " + r.pick<"prose.verb">() + " " +
            r.pick<"prose.object">();
  return text + ".";
}

std::string paragraph_text(Random& r, int sentences) {
  std::string text;
  for (int i = 0; i < sentences; ++i) text += (i ? " " : "") + sentence(r);
  return text;
}

std::string currency(const Random& r, Land land) {
  return r.list<"place.currency">()[static_cast<size_t>(land)];
}

Land any_land(Random& r) { return static_cast<Land>(r.weighted({0.4F, 0.15F, 0.3F, 0.15F})); }

Good good(const Row& row) { return {row[0], to_number(row[1]), to_number(row[2])}; }
Good any_good(Random& r) { return good(r.pick(r.table<"goods.all", 3>())); }

std::string topic(Random& r) { return strange(r, r.pick<"prose.topic">()); }

}  // namespace arrcoc::scenes
