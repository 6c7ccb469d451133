#include "lab/scenes/words.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace arrcoc::scenes {
namespace {

using List = std::vector<std::string>;

const List kGiven = {
    "James",  "Mary",   "Robert", "Linda",  "Michael", "Susan",  "David",    "Karen",   "Thomas",
    "Nancy",  "Daniel", "Helen",  "Paul",   "Ruth",    "George", "Alice",    "Kenneth", "Joyce",
    "Edward", "Diane",  "Frank",  "Gloria", "Raymond", "Carol",  "Walter",   "Irene",   "Harold",
    "Martha", "Peter",  "Norma",  "Wei",    "Siti",    "Ahmad",  "Mei Ling", "Kumar",   "Farah",
    "Azlan",  "Priya",  "Hassan", "Chong",  "Amelia",  "Oliver", "Hannah",   "Lucas",   "Sofia",
    "Mateo",  "Ingrid", "Pierre", "Anna",   "Luca",    "Elena",  "Victor"};
const List kSurname = {
    "Smith",      "Johnson", "Williams", "Carter",    "Miller",   "Davis",   "Wilson",
    "Moore",      "Taylor",  "Anderson", "Jackson",   "Harris",   "Martin",  "Thompson",
    "Clark",      "Lewis",   "Walker",   "Hall",      "Young",    "King",    "Wright",
    "Hill",       "Green",   "Baker",    "Nelson",    "Mitchell", "Roberts", "Phillips",
    "Parker",     "Evans",   "Edwards",  "Collins",   "Stewart",  "Morris",  "Rogers",
    "Cook",       "Bell",    "Murphy",   "Reed",      "Sullivan", "Foster",  "Bennett",
    "Tan",        "Lim",     "Wong",     "Lee",       "Ng",       "Chan",    "Abdullah",
    "Ismail",     "Rahman",  "Singh",    "Kaur",      "Meyer",    "Keller",  "Rossi",
    "Dubois",     "Garcia",  "Novak",    "Larsen",    "Hofmann",  "Petrov",  "Whitfield",
    "Harrington", "Langley", "Ashworth", "Pemberton", "Okafor",   "Nakamura"};
const List kSyllables = {"ka",  "lo",  "mi",   "ra",  "ten",  "vo", "sun", "ber", "dal",
                         "pri", "nor", "wes",  "har", "gol",  "ma", "ri",  "sel", "tor",
                         "ban", "lu",  "fen",  "cor", "ju",   "pa", "sha", "eng", "hua",
                         "yon", "hin", "seng", "wah", "lian", "tek"};
const List kTrade = {"HARDWARE",     "TRADING",      "ENTERPRISE",  "RESTAURANT", "BOOKSTORE",
                     "STATIONERY",   "MINI MARKET",  "SUPERMARKET", "PHARMACY",   "BAKERY",
                     "CAFE",         "MOTOR PARTS",  "ELECTRICAL",  "FURNITURE",  "TEXTILES",
                     "OPTICAL",      "GROCERY",      "SEAFOOD",     "HOUSEWARE",  "PAINTS",
                     "TOYS & GIFTS", "AUTO SERVICE", "FASHION",     "COMPUTERS",  "MARKETING",
                     "KITCHEN",      "STEEL WORKS",  "TYRES",       "NURSERY",    "PET SHOP"};
const List kAdjective = {"Golden", "Happy",    "Lucky", "Royal", "Fresh",   "Sunny",
                         "Grand",  "Silver",   "Green", "Blue",  "City",    "Family",
                         "Modern", "Prime",    "Star",  "Ocean", "Eastern", "United",
                         "Global", "Northern", "Quick", "Best",  "Super",   "Mega"};
const List kNoun = {"Dragon", "Lotus",    "Palm",    "River",   "Harbour", "Valley",
                    "Garden", "Mountain", "Bridge",  "Lion",    "Tiger",   "Orchid",
                    "Pearl",  "Crown",    "Sunrise", "Meadow",  "Anchor",  "Falcon",
                    "Maple",  "Cedar",    "Summit",  "Horizon", "Village", "Corner"};
const List kStreetUs = {"Main Street",  "Oak Avenue",      "Maple Drive",   "Park Avenue",
                        "Elm Street",   "Washington Blvd", "Cedar Lane",    "Lake Road",
                        "Hill Street",  "River Road",      "Church Street", "Madison Avenue",
                        "Sunset Drive", "Broadway",        "Pine Street"};
const List kCityUs = {"Springfield", "Richmond", "Louisville", "Nashville", "Columbus",
                      "Denver",      "Atlanta",  "Portland",   "Cleveland", "Dallas",
                      "Memphis",     "Raleigh",  "Austin",     "Boston",    "Tucson",
                      "Omaha",       "Madison",  "Durham",     "Albany",    "Trenton"};
const List kStateUs = {"KY", "VA", "NC", "TN", "OH", "NY", "TX",
                       "CA", "MO", "IA", "GA", "CO", "NJ"};
const List kCityMy = {"KUALA LUMPUR", "JOHOR BAHRU", "PETALING JAYA", "SHAH ALAM",   "IPOH",
                      "MELAKA",       "SEREMBAN",    "KLANG",         "GEORGE TOWN", "KUANTAN",
                      "SUBANG JAYA",  "PUCHONG",     "KAJANG",        "CHERAS",      "BATU PAHAT",
                      "MUAR",         "SKUDAI",      "AMPANG"};
const List kRoadMy = {"JALAN", "LORONG", "PERSIARAN", "LEBUH", "JALAN TAMAN"};
const List kRoadNameMy = {"BUKIT",   "MAJU",    "SETIA",   "INDAH",   "PERMAI",
                          "MUTIARA", "HARMONI", "DAMAI",   "RIA",     "SENTOSA",
                          "MELATI",  "CEMPAKA", "KENANGA", "PERDANA", "BAHAGIA"};
const List kCityUk = {"Leeds",   "Bristol", "York", "Norwich", "Oxford",  "Cardiff", "Exeter",
                      "Glasgow", "Durham",  "Bath", "Lincoln", "Ipswich", "Reading", "Derby"};
const List kCityEu = {"Berlin",  "Lyon",   "Utrecht", "Wien", "Milano", "Gent",   "Porto",
                      "München", "Zürich", "Nantes",  "Köln", "Málaga", "Bruges", "Graz"};
const List kSubject = {
    "The committee",      "Our laboratory",      "The department",     "The sales staff",
    "This proposal",      "The enclosed report", "Your office",        "The research group",
    "The field survey",   "The board",           "Our agency",         "The project team",
    "The marketing plan", "Each division",       "The clinical study", "The new program"};
const List kVerb = {"has completed",
                    "will review",
                    "requested",
                    "is pleased to submit",
                    "has approved",
                    "expects to receive",
                    "discussed",
                    "would like to confirm",
                    "prepared",
                    "has considered",
                    "will forward",
                    "recommended",
                    "is now ready to begin"};
const List kObject = {"the results of the test",    "a revised budget",
                      "the attached schedule",      "all of the samples",
                      "the preliminary data",       "a summary of the meeting",
                      "the terms of the agreement", "additional copies of the form",
                      "the cost of the materials",  "an outline of the plan",
                      "the list of participants",   "the figures for last quarter",
                      "a complete set of records",  "the comments from the reviewers"};
const List kTail = {"before the end of the month",
                    "at your earliest convenience",
                    "as we agreed",
                    "during the next fiscal year",
                    "in accordance with the guidelines",
                    "for the period under review",
                    "without further delay",
                    "in three locations",
                    "under separate cover",
                    "with the usual distribution",
                    "at no additional charge"};

std::string coined(Random& r) {
  std::string word;
  for (int i = r.between(2, 3); i > 0; --i) word += r.pick(kSyllables);
  return cap(word);
}

}  // namespace

std::string upper(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 'a' && c <= 'z') text[i] = static_cast<char>(c - 32);
    // U+00E0..U+00FE but U+00F7 are lower-case letters; their second byte is 0xA0..0xBE.
    if (c == 0xC3 && i + 1 < text.size()) {
      const auto d = static_cast<unsigned char>(text[i + 1]);
      if (d >= 0xA0 && d <= 0xBE && d != 0xB7) text[i + 1] = static_cast<char>(d - 32);
      ++i;
    }
  }
  return text;
}

std::string lower(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 'A' && c <= 'Z') text[i] = static_cast<char>(c + 32);
    if (c == 0xC3 && i + 1 < text.size()) {
      const auto d = static_cast<unsigned char>(text[i + 1]);
      if (d >= 0x80 && d <= 0x9E && d != 0x97) text[i + 1] = static_cast<char>(d + 32);
      ++i;
    }
  }
  return text;
}

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

Date date(Random& r, int first_year, int last_year) {
  return {r.between(first_year, last_year), r.between(1, 12), r.between(1, 28)};
}

const char* month_name(int month) {
  static const std::array<const char*, 12> names = {
      "January", "February", "March",     "April",   "May",      "June",
      "July",    "August",   "September", "October", "November", "December"};
  return names[static_cast<size_t>(month - 1)];
}

std::string format(const Date& d, int form) {
  auto two = [](int v) { return (v < 10 ? "0" : "") + std::to_string(v); };
  const std::string dd = two(d.day), mm = two(d.month), yyyy = std::to_string(d.year);
  const std::string yy = two(d.year % 100), month = month_name(d.month);
  switch (form) {
    case 0:
      return dd + "/" + mm + "/" + yyyy;
    case 1:
      return dd + "-" + mm + "-" + yyyy;
    case 2:
      return dd + "/" + mm + "/" + yy;
    case 3:
      return dd + "-" + mm + "-" + yy;
    case 4:
      return dd + " " + month.substr(0, 3) + " " + yyyy;
    case 5:
      return yyyy + "-" + mm + "-" + dd;
    case 6:
      return dd + "." + mm + "." + yyyy;
    case 7:
      return month + " " + std::to_string(d.day) + ", " + yyyy;
    case 8:
      return std::to_string(d.day) + " " + month + " " + yyyy;
    case 9:
      return std::to_string(d.month) + "/" + std::to_string(d.day) + "/" + yy;
    case 10:
      return upper(dd + "-" + month.substr(0, 3) + "-" + yyyy);
    default:
      return month.substr(0, 3) + ". " + std::to_string(d.day) + ", " + yyyy;
  }
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

std::string given_name(Random& r) { return strange(r, r.pick(kGiven)); }
std::string surname(Random& r) { return strange(r, r.pick(kSurname)); }

std::string person(Random& r) {
  std::string name = given_name(r) + " ";
  if (r.chance(0.4F)) name += std::string(1, static_cast<char>('A' + r.between(0, 25))) + ". ";
  name += surname(r);
  if (r.chance(0.2F)) name = r.pick({"Dr. ", "Mr. ", "Mrs. ", "Ms. ", "Prof. "}) + name;
  return name;
}

std::string company(Random& r, Land land) {
  std::string name;
  switch (r.between(0, 4)) {
    case 0:
      name = r.pick(kSurname) + " & " + r.pick(kSurname);
      break;
    case 1:
      name = coined(r) + " " + title_case(lower(r.pick(kTrade)));
      break;
    case 2:
      name = r.pick(kAdjective) + " " + r.pick(kNoun);
      break;
    case 3:
      name = coined(r) + " " + coined(r);
      break;
    default:
      name = r.pick(kSurname) + " " + r.pick({"Brothers", "Associates", "Industries", "Group"});
  }
  name = strange(r, name);
  if (r.chance(0.7F)) {
    if (land == Land::malaysia)
      name += r.pick({" Sdn Bhd", " Sdn. Bhd.", " (M) Sdn Bhd", " S/B"});
    else if (land == Land::us)
      name += r.pick({", Inc.", " Inc.", " Corporation", " Company", " LLC", " Co."});
    else if (land == Land::uk)
      name += r.pick({" Ltd", " Limited", " PLC", " Ltd."});
    else
      name += r.pick({" GmbH", " S.A.", " B.V.", " AG", " S.r.l."});
  }
  return name;
}

std::string shop(Random& r, Land land) {
  if (r.chance(0.35F)) return upper(company(r, land));
  std::string name;
  switch (r.between(0, 4)) {
    case 0:
      name = coined(r) + " " + coined(r) + " " + r.pick(kTrade);
      break;
    case 1:
      name = r.pick(kAdjective) + " " + r.pick(kNoun) + " " + r.pick(kTrade);
      break;
    case 2:
      name = r.pick(kNoun) + " " + r.pick(kTrade);
      break;
    case 3:
      name = surname(r) + "'S " + r.pick(kTrade);
      break;
    default:
      name = r.pick({"KEDAI ", "RESTORAN ", "PASARAYA ", "SYARIKAT ", "THE "}) + coined(r) + " " +
             r.pick(kNoun);
  }
  name = strange(r, name);
  if (land == Land::malaysia && r.chance(0.6F))
    name += r.pick({" SDN BHD", " SDN. BHD.", " S/B", " ENTERPRISE"});
  return upper(name);
}

std::string street(Random& r, Land land) {
  const std::string number = std::to_string(r.between(1, land == Land::us ? 4900 : 240));
  switch (land) {
    case Land::malaysia:
      return (r.chance(0.5F) ? "NO. " : "LOT ") + number + (r.chance(0.3F) ? "-A, " : ", ") +
             r.pick(kRoadMy) + " " + strange(r, r.pick(kRoadNameMy)) + " " +
             std::to_string(r.between(1, 30)) +
             (r.chance(0.4F) ? "/" + std::to_string(r.between(1, 12)) : "");
    case Land::us:
      return number + " " + strange(r, r.pick(kStreetUs));
    case Land::uk:
      return number + " " + strange(r, r.pick(kSurname)) + " " +
             r.pick({"Road", "Lane", "Close", "Terrace"});
    default:
      return strange(r, r.pick(kSurname)) + r.pick({"straße ", "weg ", "laan ", "gasse "}) + number;
  }
}

std::string city(Random& r, Land land) {
  switch (land) {
    case Land::malaysia:
      return strange(r, r.pick(kCityMy));
    case Land::us:
      return strange(r, r.pick(kCityUs));
    case Land::uk:
      return strange(r, r.pick(kCityUk));
    default:
      return strange(r, r.pick(kCityEu));
  }
}

std::string city_line(Random& r, Land land) {
  switch (land) {
    case Land::malaysia:
      return digits(r, 5) + " " + strange(r, r.pick(kCityMy));
    case Land::us:
      return strange(r, r.pick(kCityUs)) + ", " + r.pick(kStateUs) + " " + digits(r, 5);
    case Land::uk:
      return strange(r, r.pick(kCityUk)) + " " + pattern(r, "@@# #@@");
    default:
      return digits(r, 5) + " " + strange(r, r.pick(kCityEu));
  }
}

std::string phone(Random& r, Land land) {
  switch (land) {
    case Land::malaysia:
      return pattern(r, r.pick({"0#-#### ####", "0#-########", "+60#-#######", "01#-#######"}));
    case Land::us:
      return pattern(r,
                     r.pick({"(###) ###-####", "###-###-####", "1-###-###-####", "###/###-####"}));
    case Land::uk:
      return pattern(r, r.pick({"0#### ######", "0###-#####", "+44 ### ### ####"}));
    default:
      return pattern(r, r.pick({"+49 ### #######", "0### / ######", "+31 ## #######"}));
  }
}

std::string email(Random& r, const std::string& name, const std::string& firm) {
  std::string who, where;
  for (char c : lower(name))
    if ((c >= 'a' && c <= 'z') || (c == ' ' && !who.empty())) who += c == ' ' ? '.' : c;
  for (char c : lower(firm))
    if (c >= 'a' && c <= 'z' && where.size() < 12) where += c;
  if (who.size() > 14) who.resize(14);
  while (!who.empty() && who.back() == '.') who.pop_back();
  return who + "@" + where + r.pick({".com", ".org", ".net", ".com.my", ".eu"});
}

std::string website(const std::string& firm, Random& r) {
  std::string where;
  for (char c : lower(firm))
    if (c >= 'a' && c <= 'z' && where.size() < 14) where += c;
  return "www." + where + r.pick({".com", ".com.my", ".net", ".org"});
}

std::string sentence(Random& r) {
  std::string text = r.pick(kSubject) + " " + r.pick(kVerb) + " " + r.pick(kObject);
  if (r.chance(0.7F)) text += " " + r.pick(kTail);
  if (r.chance(0.2F))
    text += ", and " + lower(r.pick(kSubject)) + " " + r.pick(kVerb) + " " + r.pick(kObject);
  return text + ".";
}

std::string paragraph_text(Random& r, int sentences) {
  std::string text;
  for (int i = 0; i < sentences; ++i) text += (i ? " " : "") + sentence(r);
  return text;
}

std::string currency(Land land) {
  switch (land) {
    case Land::malaysia:
      return "RM";
    case Land::us:
      return "$";
    case Land::uk:
      return "£";
    default:
      return "€";
  }
}

Land any_land(Random& r) { return static_cast<Land>(r.weighted({0.4F, 0.15F, 0.3F, 0.15F})); }

}  // namespace arrcoc::scenes
