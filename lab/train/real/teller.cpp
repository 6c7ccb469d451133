#include "lab/train/real/teller.h"

#include <algorithm>

namespace arrcoc::training::real {
namespace {

constexpr float kWellRead = 75;     // confidence
constexpr size_t kLongestList = 6;  // items that are counted
constexpr const char* kOrder[] = {"first", "second", "third", "fourth", "fifth", "sixth"};
constexpr const char* kEdges = " .,:;*-_|'\"()";

bool one_of(const std::string& word, Phrases words) {
  return std::any_of(words.begin(), words.end(), [&](const char* w) { return word == w; });
}

// An office is among the words.
bool names_office(const std::string& text) {
  static const char* const kOffices[] = {
      "president", "director",   "manager",   "chairman",      "secretary", "editor",
      "professor", "treasurer",  "assistant", "coordinator",   "officer",   "supervisor",
      "counsel",   "attorney",   "chief",     "head",          "dean",      "associate",
      "executive", "member",     "scientist", "administrator", "ph.d",      "m.d",
      "doctor",    "specialist", "chair"};
  std::string word;
  for (char c : lower(text) + " ") {
    if (c != ' ' && c != ',' && c != '-' && c != '/') {
      word += c;
      continue;
    }
    if (one_of(trimmed(word), kOffices)) return true;
    word.clear();
  }
  return false;
}

bool joins_names(const Word& word) {
  static const char* const kSmall[] = {"of", "and", "for", "the"};
  return word.text == "&" || one_of(letters(word.text), kSmall);
}

}  // namespace

bool Teller::surely(size_t first, size_t last) const {
  for (size_t i = first; i <= last; ++i)
    if (words_[i].confidence < kWellRead) return false;
  return true;
}

bool Teller::capital(size_t word) const {
  const std::string text = trimmed(words_[word].text, " (\"'");
  return !text.empty() && text[0] >= 'A' && text[0] <= 'Z';
}

bool Teller::person(size_t first, size_t last) const {
  if (last <= first || last - first > 4 || !page_.sure(first, last)) return false;
  for (size_t i = first; i <= last; ++i)
    if (!capital(i) || digit_share(words_[i].text) > 0) return false;
  return true;
}

std::optional<Ask> Teller::nth() {
  static const char* const kNth[] = {"what is the @ item under %?",
                                     "what is the @ item listed under \"%\"?",
                                     "which is the @ one mentioned under %?",
                                     "what is the @ entry in the column %?",
                                     "what is the @ point under the heading '%'?",
                                     "mention the @ point under %",
                                     "what is the @ name listed under %?",
                                     "what is the @ value in the % column?",
                                     "what is given @ under the heading \"%\"?",
                                     "what comes @ under %?",
                                     "what is the @ % mentioned?",
                                     "what is the @ % listed?",
                                     "which is the @ % in the list?",
                                     "what is mentioned @ under %?"};
  const Segment& head = some();
  if (!head.sure || head.text.size() > 32 || head.last - head.first > 3 || !capital(head.first) ||
      digit_share(head.text) > 0.5F)
    return {};
  std::vector<const Segment*> items;
  const Segment* at = &head;
  while (items.size() <= kLongestList) {
    const Segment* next = page_.below(*at);
    if (!next || next->text.size() > 36 || next->last - next->first > 4 ||
        next->box.width() > 0.5F * static_cast<float>(width_) ||
        std::min(next->box.x1, head.box.x1) <= std::max(next->box.x0, head.box.x0))
      break;
    items.push_back(next);
    at = next;
  }
  const auto name = key(head.text);
  if (items.size() < 2 || !name) return {};
  const bool whole = items.size() <= kLongestList;  // its end is known
  const bool last = whole && dice_.chance(0.2F);
  const size_t which = last ? items.size() - 1 : any(std::min(items.size(), kLongestList));
  if (!items[which]->sure || letters(items[which]->text).empty()) return {};
  return made(Task::after, fill(kNth, *name, last ? "last" : kOrder[which]), items[which]->text,
              {items[which]->box}, {head.box}, "real.nth", 2);
}

std::optional<Ask> Teller::corner() {
  static const char* const kCorner[] = {"what is written at the % of the page?",
                                        "what is written at the % of the document?",
                                        "what is mentioned at the % of the page?",
                                        "what is the text at the % of the page?",
                                        "what is at the % corner?",
                                        "what is the word at the % of this page?",
                                        "what is written on the % of the document?",
                                        "what is mentioned at the % corner of the page?"};
  static const char* const kLine[] = {"what is the % line of the page?", "what is the % line?",
                                      "what is the % line in the document?",
                                      "what does the % line say?"};
  std::vector<const Segment*> lines, row;
  for (const Segment& s : page_.segments())  // without the archive's own mark
    if (lower(s.text).find("industrydocuments") == std::string::npos && letters(s.text).size() >= 2)
      lines.push_back(&s);
  if (lines.size() < 6) return {};
  const bool top = dice_.chance(0.65F);
  const Segment* edge = *std::min_element(lines.begin(), lines.end(), [&](auto* a, auto* b) {
    return top ? a->box.y0 < b->box.y0 : a->box.y1 > b->box.y1;
  });
  for (const Segment* s : lines)
    if (std::min(s->box.y1, edge->box.y1) - std::max(s->box.y0, edge->box.y0) >
        0.4F * std::min(s->box.height(), edge->box.height()))
      row.push_back(s);
  if (row.size() > 3) return {};
  const Segment& s = *row[any(row.size())];
  const float height = static_cast<float>(height_);
  if (!s.sure || s.text.size() > 50 || !surely(s.first, s.last) ||
      (digit_share(s.text) < 1.0F && letters(s.text).size() < 4) ||
      (!top && s.box.y0 < 0.6F * height))
    return {};
  if (row.size() == 1 && dice_.chance(0.4F))
    return made(Task::after, fill(kLine, top ? "first" : "last"), s.text, {s.box}, {}, "real.edge");
  const float x = 0.5F * (s.box.x0 + s.box.x1) / static_cast<float>(width_);
  std::string where = top ? "top" : "bottom";
  if (row.size() > 1 || dice_.chance(0.6F))
    where += x < 0.36F            ? " left"
             : x > 0.64F          ? " right"
             : dice_.chance(0.5F) ? " center"
                                  : " middle";
  return made(Task::after, fill(kCorner, where), s.text, {s.box}, {}, "real.corner");
}

std::optional<Ask> Teller::kind() {
  const size_t way = any(6);
  if (way < 2) return body();
  if (way < 4) return office();
  return way == 4 ? only() : caption();
}

std::optional<Ask> Teller::body() {
  static const char* const kBodies[] = {
      "university", "company",  "corporation", "association", "institute",  "foundation",
      "committee",  "council",  "hospital",    "department",  "society",    "college",
      "laboratory", "agency",   "commission",  "center",      "centre",     "board",
      "bureau",     "division", "office",      "journal",     "conference", "program",
      "bank",       "club",     "hotel",       "school",      "inc",        "ltd",
      "limited",    "corp"};
  static const char* const kFirms[] = {"inc", "ltd", "limited", "corp"};
  static const char* const kAsk[] = {"what is the name of the %?",
                                     "which % is mentioned?",
                                     "what is the name of the % mentioned?",
                                     "name the % mentioned",
                                     "what is the name of the % given?",
                                     "which is the % mentioned in the document?",
                                     "what % is mentioned?",
                                     "what is the % name?",
                                     "which % is it?",
                                     "what is the name of % at the top of the page?"};
  const std::string name = kBodies[any(std::size(kBodies))];
  std::vector<size_t> found;
  for (size_t i = 0; i < words_.size(); ++i)
    if (letters(words_[i].text) == name && capital(i)) found.push_back(i);
  if (found.size() != 1) return {};
  size_t first = found[0], last = first;
  const int line = words_[first].line;
  const auto ends = [&](size_t i) {
    return words_[i].text.back() == ',' || words_[i].text.back() == ':';
  };
  const auto belongs = [&](size_t i) {
    return words_[i].line == line && (capital(i) || joins_names(words_[i]));
  };
  while (first > 0 && belongs(first - 1) && !ends(first - 1)) --first;
  while (first < last && joins_names(words_[first])) ++first;
  while (last + 1 < words_.size() && belongs(last + 1) && !ends(last)) ++last;
  while (last > first && joins_names(words_[last])) --last;
  if (last == first || last - first > 6 || !page_.sure(first, last)) return {};
  return made(Task::after, fill(kAsk, one_of(name, kFirms) ? "company" : name),
              page_.joined(first, last), {page_.around(first, last)}, {}, "real.body");
}

std::optional<Teller::Post> Teller::post_of(const Segment& s) const {
  if (!s.sure || s.text.size() > 90 || !names_office(s.text)) return {};
  for (size_t i = s.first; i < s.last; ++i) {
    const bool comma = words_[i].text.back() == ',';
    if (!comma && words_[i + 1].text != "-") continue;
    const Post post{{s.first, i}, {comma ? i + 1 : i + 2, s.last}};
    if (!person(s.first, i) || names_office(page_.joined(s.first, i)) ||
        post.job.last < post.job.first)
      break;
    return post;
  }
  for (const Segment& above : page_.segments())
    if (page_.below(above) == &s && s.box.y0 - above.box.y1 < above.em &&
        person(above.first, above.last) && !names_office(above.text))
      return Post{{above.first, above.last}, {s.first, s.last}};
  return {};
}

std::optional<Ask> Teller::office() {
  static const char* const kWho[] = {"who is the %?",
                                     "what is the name of the %?",
                                     "who is %?",
                                     "who is mentioned as %?",
                                     "whose designation is %?",
                                     "which person is the %?",
                                     "who holds the position of %?"};
  static const char* const kWhat[] = {"what is the designation of %?",
                                      "what is the title of %?",
                                      "what is the position of %?",
                                      "who is %?",
                                      "what is %'s designation?",
                                      "what is the job title of %?",
                                      "what does % do?"};
  const auto& all = page_.segments();
  const size_t start = any(all.size());
  for (size_t k = 0; k < all.size(); ++k) {
    const auto post = post_of(all[(start + k) % all.size()]);
    if (!post || !names_office(page_.joined(post->job.first, post->job.last))) continue;
    const bool who = dice_.chance(0.6F);
    const Run &asked = who ? post->job : post->name, &answer = who ? post->name : post->job;
    const auto text = key(page_.joined(asked.first, asked.last));
    if (!text) continue;
    return made(Task::after, fill(who ? Phrases(kWho) : Phrases(kWhat), *text),
                page_.joined(answer.first, answer.last), {page_.around(answer.first, answer.last)},
                {page_.around(asked.first, asked.last)}, "real.office");
  }
  return {};
}

std::optional<Ask> Teller::only() {
  static const char* const kYear[] = {"what is the year mentioned?", "which year is mentioned?",
                                      "what is the year mentioned in the document?",
                                      "what year is it?", "which year is given?"};
  static const char* const kTime[] = {"what is the time mentioned?", "at what time?",
                                      "when does it begin?", "what time is given?",
                                      "what is the time given in the document?"};
  static const char* const kSum[] = {"what is the amount?", "what is the amount mentioned?",
                                     "how much is it?", "how much money is mentioned?",
                                     "what is the total amount?"};
  static const char* const kShare[] = {"what is the percentage mentioned?",
                                       "what percentage is given?",
                                       "which percentage is mentioned?", "how many percent?"};
  const Phrases all[] = {kYear, kTime, kSum, kShare};
  const size_t way = any(std::size(all));
  const auto fits = [&](const std::string& text) {
    const std::string plain = letters(text);
    if (plain.empty() || digit_share(plain) < 1.0F) return false;
    if (way == 0)
      return text == plain && text.size() == 4 &&
             (text.rfind("19", 0) == 0 || text.rfind("20", 0) == 0);
    if (way == 1)
      return text.find(':') != std::string::npos && plain.size() >= 3 && plain.size() <= 4;
    return text.size() >= 2 && (way == 2 ? text[0] == '$' : text.back() == '%');
  };
  std::vector<size_t> found;
  for (size_t i = 0; i < words_.size(); ++i)
    if (fits(trimmed(words_[i].text, kEdges))) found.push_back(i);
  if (found.size() != 1 || !page_.sure(found[0], found[0])) return {};
  size_t last = found[0];
  if (way == 1 && last + 1 < words_.size() && words_[last + 1].line == words_[last].line) {
    const std::string next = letters(words_[last + 1].text);
    if (next == "am" || next == "pm") ++last;
  }
  return made(Task::after, fill(all[way], ""), page_.joined(found[0], last),
              {page_.around(found[0], last)}, {}, "real.only");
}

const Segment* Teller::captioned(int& count) {
  static const char* const kNames[] = {"table",   "figure",  "exhibit", "appendix",
                                       "chapter", "section", "fig"};
  const Segment* found = nullptr;
  for (const Segment& s : page_.segments()) {
    if (s.last == s.first || !capital(s.first) || !one_of(letters(words_[s.first].text), kNames))
      continue;
    ++count;
    if (dice_.chance(1.0F / static_cast<float>(count))) found = &s;
  }
  return found;
}

std::optional<Ask> Teller::caption() {
  static const char* const kTitle[] = {"what is the title of %?", "what is % about?",
                                       "what does % show?", "what is the heading of %?",
                                       "what is given in %?"};
  static const char* const kNumber[] = {"what is the % number?", "which % is it?",
                                        "what is the number of the %?"};
  static const char* const kThe[] = {"what is the title of the %?", "what is the heading of the %?",
                                     "what does the % show?", "what is the name of the %?"};
  int count = 0;
  const Segment* found = captioned(count);
  if (!found || !found->sure) return {};
  const size_t first = found->first;
  const std::string what = letters(words_[first].text);
  const std::string number = trimmed(words_[first + 1].text, kEdges);
  if (number.empty() || number.size() > 6) return {};
  if (count == 1 && dice_.chance(0.4F))
    return made(Task::after, fill(kNumber, what), number, {words_[first + 1].box},
                {words_[first].box}, "real.number");
  const bool own = found->last > first + 1;  // the title stands beside its number
  const Segment* next = own ? nullptr : page_.below(*found);
  if (!own && (!next || !next->sure || next->text.size() > 56)) return {};
  const std::string text = own ? page_.joined(first + 2, found->last) : next->text;
  const Box box = own ? page_.around(first + 2, found->last) : next->box;
  const Box label = page_.around(first, first + 1);
  if (letters(text).size() < 4) return {};
  if (count == 1 && dice_.chance(0.5F))
    return made(Task::after, fill(kThe, what), text, {box}, {label}, "real.caption");
  const auto name = key(page_.joined(first, first + 1));
  if (!name) return {};
  return made(Task::after, fill(kTitle, *name), text, {box}, {label}, "real.caption");
}

}  // namespace arrcoc::training::real
