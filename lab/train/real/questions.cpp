#include "lab/train/real/questions.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lab/train/real/teller.h"
#include "lab/train/real/words.h"

namespace arrcoc::training::real {
namespace {

class Reading : public Teller {
 public:
  using Teller::Teller;

  std::vector<Ask> ask(int most) {
    struct Way {
      float share;
      std::optional<Ask> (Reading::*make)();
    };
    static constexpr Way kWays[] = {
        {0.10F, &Reading::find},  {0.05F, &Reading::after}, {0.05F, &Reading::below},
        {0.06F, &Reading::line},  {0.22F, &Reading::value}, {0.15F, &Reading::cell},
        {0.11F, &Reading::usual}, {0.09F, &Reading::nth},   {0.05F, &Reading::corner},
        {0.12F, &Reading::kind},
    };
    std::vector<Ask> out;
    if (words_.size() < 2) return out;
    for (int tries = 0; tries < 3 * most && static_cast<int>(out.size()) < most; ++tries) {
      float at = dice_.uniform();
      const Way* way = &kWays[0];
      for (const Way& each : kWays)
        if ((at -= each.share) < 0) {
          way = &each;
          break;
        }
      // A page has few labels and many words: give the rarer ways a fair chance.
      for (int again = 0; again < 8; ++again)
        if (std::optional<Ask> made = (this->*way->make)()) {
          const bool known = std::any_of(out.begin(), out.end(), [&](const Ask& ask) {
            return ask.intent == made->intent && ask.answer == made->answer;
          });
          if (known) continue;
          out.push_back(std::move(*made));
          break;
        }
    }
    return out;
  }

 private:
  std::optional<Ask> find() {
    static const char* const kFind[] = {"find %",          "where is \"%\"?",      "%",
                                        "find the word %", "where does it say %?", "\"%\""};
    const size_t first = any(words_.size());
    size_t last = first;
    for (size_t more = any(4);
         more > 0 && last + 1 < words_.size() && words_[last + 1].line == words_[first].line;
         --more)
      ++last;
    const std::string text = page_.joined(first, last);
    const auto name = key(text);
    if (!name || !page_.sure(first, last)) return {};
    return made(Task::find, fill(kFind, *name), text, {page_.around(first, last)}, {}, "real.find",
                0);
  }

  std::optional<Ask> after() {
    static const char* const kAfter[] = {"what comes after %?",        "which word follows \"%\"?",
                                         "what is to the right of %?", "what is next to \"%\"?",
                                         "what does it say after %?",  "what is the word after %?"};
    const size_t i = any(words_.size() - 1);
    size_t first = i;
    if (first > 0 && words_[first - 1].line == words_[i].line && dice_.chance(0.5F)) --first;
    if (words_[i + 1].line != words_[i].line || !page_.sure(first, i + 1)) return {};
    const auto name = key(page_.joined(first, i));
    if (!name) return {};
    size_t last = i + 1;
    while (last + 1 < words_.size() && words_[last + 1].line == words_[i].line &&
           letters(page_.joined(i + 1, last)).size() < 4)
      ++last;
    return made(Task::after, fill(kAfter, *name), page_.joined(i + 1, last),
                {page_.around(i + 1, last)}, {page_.around(first, i)}, "real.after", 0);
  }

  std::optional<Ask> below() {
    static const char* const kBelow[] = {"what is below %?",         "what is under \"%\"?",
                                         "what stands below %?",     "what is written under %?",
                                         "what is entered under %?", "what comes below \"%\"?"};
    const Segment& s = some();
    const auto name = key(s.text);
    const Segment* other = page_.below(s);
    if (!name || !other || !other->sure || !s.sure || other->text.size() > 48 ||
        letters(other->text) == letters(s.text))
      return {};
    return made(Task::after, fill(kBelow, *name), other->text, {other->box}, {s.box}, "real.below");
  }

  // A whole line, by its beginning, or the rest of it.
  std::optional<Ask> line() {
    static const char* const kWhole[] = {"what does the line that starts with % say?",
                                         "read the line that begins with \"%\"",
                                         "read the line with %",
                                         "which line contains \"%\"?",
                                         "what is the full text of the line with %?",
                                         "what is written in the line with \"%\"?"};
    static const char* const kRest[] = {"how does the line go on after %?", "% ...",
                                        "what follows \"%\"?", "what does it say about %?",
                                        "complete: %"};
    const Segment& s = some();
    if (!s.sure || s.last == s.first) return {};
    const size_t upto = std::min(s.last - 1, s.first + any(2));
    const auto name = key(page_.joined(s.first, upto));
    if (!name) return {};
    if (dice_.chance(0.5F))
      return made(Task::after, fill(kWhole, *name), s.text, {s.box}, {}, "real.line");
    return made(Task::after, fill(kRest, *name), page_.joined(upto + 1, s.last),
                {page_.around(upto + 1, s.last)}, {page_.around(s.first, upto)}, "real.rest");
  }

  // "Label: value" within a segment, or the segment right of a label.
  std::optional<Ask> value() {
    static const char* const kValue[] = {"what is the %?",
                                         "what is the % mentioned?",
                                         "what is the % given?",
                                         "%?",
                                         "what is written next to %?",
                                         "what is the % in the document?",
                                         "what is the value of %?",
                                         "what is entered for %?",
                                         "mention the %",
                                         "what does it say for %?",
                                         "which % is mentioned?",
                                         "what is given as %?",
                                         "what is the % as per the document?",
                                         "what is mentioned under %?",
                                         "what is %?"};
    const Segment& s = some();
    if (!s.sure) return {};
    for (size_t i = s.first; i < s.last; ++i) {
      const std::string& text = words_[i].text;
      if (text.back() != ':' && text != "-" && text != "=") continue;
      const std::string label = trimmed(page_.joined(s.first, i), " .,:;*-=_|#");
      const auto name = digit_share(label) < 0.4F ? key(label) : std::nullopt;
      if (!name) return {};
      return made(Task::after, special(label, fill(kValue, *name)), page_.joined(i + 1, s.last),
                  {page_.around(i + 1, s.last)}, {page_.around(s.first, i)}, "real.value");
    }
    const Segment* other = page_.right_of(s);
    const std::string label = trimmed(s.text, " .,:;*-=_|#");
    if (!other || !other->sure || label.size() < 3 || digit_share(label) > 0.3F ||
        other->text.size() > 48 || other->box.x0 - s.box.x1 > 0.5F * static_cast<float>(width_))
      return {};
    const bool colon = s.text.back() == ':';
    // Without a colon, words beside words may be columns of a text.
    if (!colon && digit_share(other->text) < 0.3F &&
        (s.last - s.first > 2 || other->last - other->first > 3 || dice_.chance(0.5F)))
      return {};
    const auto name = key(label);
    if (!name) return {};
    return made(Task::after, special(label, fill(kValue, *name)), other->text, {other->box},
                {s.box}, "real.value");
  }

  // Labels that people ask about in their own words.
  std::string special(const std::string& label, std::string question) {
    const std::string name = lower(label);
    static const char* const kTo[] = {"to whom is it addressed?", "who is the memo to?",
                                      "who is the recipient?", "to whom is this memo sent?",
                                      "who is this sent to?"};
    static const char* const kFrom[] = {"who is the sender?", "who is the memo from?",
                                        "from whom is this?", "who sent this?",
                                        "who is this letter from?"};
    static const char* const kSubject[] = {
        "what is the subject?", "what is it about?", "what is the subject of the letter?",
        "what is the subject of the memo?", "what is this document regarding?"};
    if (!dice_.chance(0.6F)) return question;
    if (name == "to") return fill(kTo, "");
    if (name == "from") return fill(kFrom, "");
    if (name == "subject" || name == "re" || name == "subj") return fill(kSubject, "");
    return question;
  }

  // A figure in a table: its row's label at the left, its column's heading above.
  std::optional<Ask> cell() {
    static const char* const kCell[] = {"what is the % for @?",
                                        "what is the % of @?",
                                        "what is the value of % for @?",
                                        "how much is the % of @?",
                                        "what is @ for %?",
                                        "what is the value of @ in %?",
                                        "what is the @ in the % column?",
                                        "@, %?",
                                        "what is the % in the row of @?",
                                        "how many % are there for @?",
                                        "what was the % of @?",
                                        "what is the amount of % for @?"};
    const Segment& s = some();
    if (!s.sure || digit_share(s.text) < 0.5F || s.text.size() > 24) return {};
    const Segment* row = page_.row_label(s);
    const Segment* head =
        page_.heading(s, 0.4F * static_cast<float>(height_), 0.5F * static_cast<float>(width_));
    if (!row || !head || !row->sure || !head->sure) return {};
    const auto a = key(head->text), b = key(row->text);
    if (!a || !b) return {};
    return made(Task::after, fill(kCell, *a, *b), s.text, {s.box}, {row->box, head->box},
                "real.cell", 2);
  }

  // What every reader of letters and pages is asked: date, title, page number, who to whom.
  std::optional<Ask> usual() {
    static constexpr std::optional<Ask> (Reading::*kWays[])() = {
        &Reading::date, &Reading::title, &Reading::page_number, &Reading::address,
        &Reading::letter};
    return (this->*kWays[any(std::size(kWays))])();
  }

  std::optional<Ask> date() {
    static const char* const kDate[] = {"what is the date?",
                                        "what is the date mentioned?",
                                        "what is the date on the document?",
                                        "what is the date of the letter?",
                                        "when is it dated?",
                                        "which date is mentioned?",
                                        "what is the date mentioned in the document?",
                                        "what date is given?",
                                        "what is the date mentioned at the top?"};
    static const char* const kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                          "jul", "aug", "sep", "oct", "nov", "dec"};
    std::vector<Run> found;
    for (size_t i = 0; i < words_.size(); ++i) {
      const std::string plain = lower(words_[i].text);
      int separators = 0, digits = 0, others = 0;
      for (char c : trimmed(plain)) {
        if (c == '/' || c == '-' || c == '.')
          ++separators;
        else if (c >= '0' && c <= '9')
          ++digits;
        else
          ++others;
      }
      if (separators == 2 && digits >= 4 && digits <= 8 && others == 0) {
        found.push_back({i, i});
        continue;
      }
      const bool month = std::any_of(std::begin(kMonths), std::end(kMonths),
                                     [&](const char* m) { return plain.rfind(m, 0) == 0; });
      if (!month || plain.size() > 10 || i + 2 >= words_.size()) continue;
      const std::string day = letters(words_[i + 1].text), year = letters(words_[i + 2].text);
      if (words_[i + 2].line == words_[i].line && digit_share(day) > 0.4F && day.size() <= 4 &&
          digit_share(year) == 1.0F && year.size() == 4)
        found.push_back({i, i + 2});
    }
    if (found.size() != 1 || !page_.sure(found[0].first, found[0].last)) return {};
    const Run& run = found[0];
    return made(Task::after, fill(kDate, ""), page_.joined(run.first, run.last),
                {page_.around(run.first, run.last)}, {}, "real.date");
  }

  std::optional<Ask> title() {
    static const char* const kTitle[] = {"what is the title of the document?",
                                         "what is the title?",
                                         "what is the main heading?",
                                         "what is the heading of the page?",
                                         "what is the title of the page?",
                                         "what is the heading of the document?",
                                         "what is the headline?"};
    const Segment *best = nullptr, *second = nullptr;
    for (const Segment& s : page_.segments()) {
      if (digit_share(s.text) > 0.5F || letters(s.text).size() < 4) continue;
      if (!best || s.em > best->em)
        second = best, best = &s;
      else if (!second || s.em > second->em)
        second = &s;
    }
    if (!best || !second || !best->sure || best->text.size() > 56 || best->em < 1.3F * page_.em() ||
        best->em < 1.15F * second->em || best->box.y0 > 0.35F * static_cast<float>(height_))
      return {};
    return made(Task::after, fill(kTitle, ""), best->text, {best->box}, {}, "real.title");
  }

  std::optional<Ask> page_number() {
    static const char* const kBottom[] = {"what is the page number?",
                                          "what is the page number at the bottom?",
                                          "what is the number at the bottom of the page?",
                                          "what is the page number of this document?"};
    static const char* const kTop[] = {"what is the page number?",
                                       "what is the number at the top of the page?"};
    const Segment* found = nullptr;
    int count = 0;
    for (const Segment& s : page_.segments()) {
      const float y = 0.5F * (s.box.y0 + s.box.y1) / static_cast<float>(height_);
      if (digit_share(s.text) < 1.0F || letters(s.text).size() > 3 || (y > 0.08F && y < 0.92F))
        continue;
      found = &s;
      ++count;
    }
    if (count != 1 || !found->sure) return {};
    const bool top = found->box.y0 < 0.5F * static_cast<float>(height_);
    return made(Task::after, top ? fill(kTop, "") : fill(kBottom, ""), found->text, {found->box},
                {}, "real.page");
  }

  // Numbers and names that are told by how they look: telephone, e-mail, web page, zip code.
  std::optional<Ask> address() {
    static const char* const kPhone[] = {
        "what is the phone number?", "what is the telephone number?",
        "what is the telephone number mentioned?", "what is the contact number?",
        "which number can be called?"};
    static const char* const kMail[] = {"what is the email address?", "what is the email id?",
                                        "what is the e-mail address mentioned?"};
    static const char* const kWeb[] = {"what is the website?", "which website is mentioned?",
                                       "what is the web address?", "what is the url?"};
    static const char* const kZip[] = {"what is the zip code?", "what is the zip code mentioned?",
                                       "what is the pin code?",
                                       "what is the zip code in the address?"};
    std::vector<std::pair<Run, Phrases>> found;
    int kinds[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < words_.size(); ++i) {
      const std::string text = trimmed(words_[i].text), plain = lower(text);
      const auto digits = [&](const std::string& t) {
        return std::count_if(t.begin(), t.end(), [](char c) { return c >= '0' && c <= '9'; });
      };
      if (plain.find("industrydocuments") != std::string::npos) continue;  // the archive's own mark
      if (plain.find('@') != std::string::npos && plain.find('.') != std::string::npos) {
        ++kinds[0];
        found.push_back({{i, i}, kMail});
      } else if (plain.rfind("www.", 0) == 0 || plain.rfind("http", 0) == 0) {
        ++kinds[1];
        found.push_back({{i, i}, kWeb});
      } else if (text.size() >= 5 && text.size() <= 10 && digits(text) >= 5 &&
                 digit_share(text) == 1.0F && i > 0 && letters(words_[i - 1].text).size() == 2 &&
                 letters(words_[i - 1].text) != "no" && digit_share(words_[i - 1].text) == 0) {
        ++kinds[2];
        found.push_back({{i, i}, kZip});
      } else if (digits(text) == 10 && digit_share(text) == 1.0F &&
                 text.find('-') != std::string::npos) {
        ++kinds[3];
        found.push_back({{i, i}, kPhone});
      } else if (i + 1 < words_.size() && digits(text) == 3 && words_[i].text[0] == '(' &&
                 digits(words_[i + 1].text) == 7 && words_[i + 1].line == words_[i].line) {
        ++kinds[3];
        found.push_back({{i, i + 1}, kPhone});
      }
    }
    std::erase_if(found, [&](const auto& f) {
      const int kind = f.second.data() == kMail  ? 0
                       : f.second.data() == kWeb ? 1
                       : f.second.data() == kZip ? 2
                                                 : 3;
      return kinds[kind] != 1 || !page_.sure(f.first.first, f.first.last);
    });
    if (found.empty()) return {};
    const auto& [run, phrases] = found[any(found.size())];
    return made(Task::after, fill(phrases, ""), page_.joined(run.first, run.last),
                {page_.around(run.first, run.last)}, {}, "real.address");
  }

  std::optional<Ask> letter() {
    static const char* const kDear[] = {"to whom is the letter addressed?", "who is the letter to?",
                                        "who is addressed in the letter?",
                                        "to whom is this letter written?",
                                        "to whom is the letter written?"};
    static const char* const kSigned[] = {
        "who is the letter from?",   "who signed the letter?",       "who wrote the letter?",
        "from whom is this letter?", "who has signed the document?", "who is the sender?"};
    for (const Segment& s : page_.segments()) {
      const std::string first = letters(words_[s.first].text);
      if (first == "dear" && s.last > s.first && s.last - s.first <= 4 && s.sure)
        if (dice_.chance(0.5F))
          return made(Task::after, fill(kDear, ""), page_.joined(s.first + 1, s.last),
                      {page_.around(s.first + 1, s.last)}, {words_[s.first].box}, "real.dear");
      if (first != "sincerely" && first != "yours" && first != "regards" && first != "cordially" &&
          first != "respectfully")
        continue;
      const Segment* name = nullptr;
      for (const Segment& other : page_.segments()) {
        const float down = (other.box.y0 - s.box.y1) / s.em;
        if (down < 0.5F || down > 9 || std::abs(other.box.x0 - s.box.x0) > 8 * s.em) continue;
        const size_t count = other.last - other.first + 1;
        if (count < 2 || count > 5 || digit_share(other.text) > 0) continue;
        if (!name || other.box.y0 < name->box.y0) name = &other;
      }
      if (name && name->sure)
        return made(Task::after, fill(kSigned, ""), name->text, {name->box}, {s.box},
                    "real.signed");
    }
    return {};
  }
};

}  // namespace

std::vector<Ask> reading_asks(const std::vector<Word>& words, int width, int height, int most,
                              Dice& dice) {
  return Reading(words, width, height, dice).ask(most);
}

}  // namespace arrcoc::training::real
