// What a question asks of time: word rules over data/words/moments.txt.
#include <algorithm>
#include <string_view>

#include "arrcoc/moments.h"
#include "base/text.h"
#include "base/words.h"

namespace arrcoc::filming {

namespace {

// data/words/moments.txt; what each section is for stands there.
struct Tables {
  WordFile file = word_file("moments");
  WordSet small = file.set("small"), article = file.set("article"), film = file.set("film");
  WordSet shot = file.set("shot"), frame = file.set("frame"), part = file.set("part");
  WordSet cut = file.set("cut"), switches = file.set("switches");
  std::vector<std::string_view> ordinals = file.list("ordinal");
  WordSet ordinal = file.set("ordinal"), final = file.set("final"), opening = file.set("opening");
  WordSet ending = file.set("ending"), beginning = file.set("beginning");
  WordSet any_thing = file.set("any thing"), fresh = file.set("new"), move = file.set("move");
  WordSet way = file.set("way"), left = file.set("left"), right = file.set("right");
  WordSet up = file.set("up"), down = file.set("down"), come = file.set("come");
  WordSet with_up = file.set("with up"), see = file.set("see"), leave = file.set("leave");
  WordSet away = file.set("away"), earlier = file.set("earlier"), later = file.set("later");
  WordSet late = file.set("late"), changed = file.set("changed"), instant = file.set("instant");
  WordSet many = file.set("many"), over_time = file.set("over time"), text = file.set("text");
  WordSet ends = file.set("ends"), joint = file.set("joint"), compound = file.set("compound");
  WordSet preposition = file.set("preposition"), before_name = file.set("before name");
  WordSet reading = file.set("reading");

  // Words that are no part of a name unless an article stands before them.
  bool deed(std::string_view word) const {
    return move.contains(word) || come.contains(word) || see.contains(word) || leave.contains(word);
  }
  bool known(std::string_view word) const {
    for (const WordSet* set :
         {&small,   &film,    &shot,      &frame,     &part,       &cut,   &switches, &ordinal,
          &final,   &opening, &ending,    &beginning, &any_thing,  &fresh, &way,      &left,
          &right,   &up,      &down,      &away,      &earlier,    &later, &late,     &changed,
          &instant, &many,    &over_time, &with_up,   &preposition})
      if (set->contains(word)) return true;
    return deed(word);
  }
  // After an article they still speak of the film.
  bool of_film(std::string_view word) const {
    for (const WordSet* set :
         {&film, &shot, &frame, &part, &cut, &ordinal, &final, &opening, &ending, &beginning,
          &any_thing, &fresh, &way, &left, &right, &changed, &instant, &many})
      if (set->contains(word)) return true;
    return false;
  }
};

const Tables& tables() { return read_once<Tables>(); }

// A word in lower case as it stands in the question, hyphens and all.
struct Token {
  std::string word;
  bool parted = false;  // a comma or the like stands before it
};

std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> out;
  bool parted = false;
  std::string piece;
  const auto close = [&] {
    std::string_view word = text::strip(piece, "?!.\"'()");
    if (word.ends_with("'s") && tables().small.contains(word.substr(0, word.size() - 2)))
      word.remove_suffix(2);  // "where's"
    if (!word.empty()) {
      out.push_back({std::string(word), parted});
      parted = false;
    }
    piece.clear();
  };
  for (size_t at = 0; at < text.size();) {
    const char32_t c = text::next_code_point(text, at);
    const bool mark = c == ',' || c == ':' || c == ';';
    if (mark || c == ' ' || c == '\t' || c == '\n') {
      close();
      parted = parted || mark;
    } else {
      text::append_utf8(piece, text::lower(c));
    }
  }
  close();
  return out;
}

// One slip of the fingers apart, the first letter being right: two letters swapped, one lost, one
// too many, one wrong.
bool slipped(std::string_view typed, std::string_view meant) {
  if (typed.empty() || meant.empty() || typed[0] != meant[0]) return false;
  size_t same = 0;
  const size_t least = std::min(typed.size(), meant.size());
  while (same < least && typed[same] == meant[same]) ++same;
  const auto rest = [](std::string_view text, size_t from) {
    return text.substr(std::min(from, text.size()));
  };
  const std::string_view a = rest(typed, same), b = rest(meant, same);
  if (a.size() == b.size() + 1) return rest(a, 1) == b;
  if (b.size() == a.size() + 1) return rest(b, 1) == a;
  if (a.size() != b.size() || a.empty()) return false;
  return rest(a, 1) == rest(b, 1) ||
         (a.size() > 1 && a[0] == b[1] && a[1] == b[0] && rest(a, 2) == rest(b, 2));
}

class Reader {
 public:
  explicit Reader(const std::string& text) : tokens_(tokens_of(text)) {
    for (size_t i = 0; i < tokens_.size(); ++i) mend(i);
    find_names();
  }

  std::optional<Plan> plan() const {
    for (const auto rule :
         {&Reader::shots, &Reader::which_shot, &Reader::open_change, &Reader::order, &Reader::when,
          &Reader::part, &Reader::ends_up, &Reader::direction, &Reader::count})
      if (std::optional<Plan> found = (this->*rule)()) return found;
    return std::nullopt;
  }

 private:
  const std::string& word(size_t i) const {
    static const std::string none;
    return i < tokens_.size() ? tokens_[i].word : none;
  }
  bool has(std::string_view one) const {
    return std::any_of(tokens_.begin(), tokens_.end(),
                       [&](const Token& t) { return t.word == one; });
  }
  // The first token of the set; tokens_.size(): none.
  size_t find(const WordSet& set, size_t from = 0) const {
    while (from < tokens_.size() && !set.contains(word(from))) ++from;
    return from;
  }
  bool has(const WordSet& set) const { return find(set) < tokens_.size(); }
  bool at_article(size_t i) const { return i > 0 && t.article.contains(word(i - 1)); }
  static bool asks_what(const std::string& word) {
    return word == "which" || word == "what" || word == "who" || word == "whose";
  }

  // Does token i begin a name, or go on with the one that is open?
  bool begins(size_t i) const {
    const std::string& w = word(i);
    if (t.text.contains(w) && !t.deed(w)) return true;
    return !t.known(w) || (at_article(i) && t.deed(w) && !t.of_film(w));
  }
  bool goes_on(size_t i) const {
    if (tokens_[i].parted) return false;
    const std::string& w = word(i);
    if (!t.known(w) || t.compound.contains(w)) return true;
    if (t.article.contains(w)) return word(i - 1) == "with" && continues(i);
    return t.joint.contains(w) &&
           (continues(i) || (w == "with" && t.article.contains(word(i + 1))));
  }

  bool continues(size_t i) const {
    return i + 1 < tokens_.size() && !tokens_[i + 1].parted && !t.known(word(i + 1));
  }

  // A mistyped word of how people ask; not where a name is expected.
  void mend(size_t i) {
    std::string& w = tokens_[i].word;
    const bool first = i == 0, open = !first && !t.known(word(i - 1));
    if (t.known(w) || t.text.contains(w) || w.size() < (open ? 5U : 4U)) return;
    if (tokens_[i].parted || (!first && t.before_name.contains(word(i - 1)))) return;
    if (first && slipped(w, "where")) w = "where";
    for (const auto* list : {&t.come, &t.leave, &t.move, &t.see, &t.with_up, &t.shot, &t.changed,
                             &t.many, &t.over_time, &t.way, &t.instant, &t.ending, &t.beginning}) {
      const auto meant = std::find_if(list->begin(), list->end(),
                                      [&](std::string_view one) { return slipped(w, one); });
      if (meant == list->end()) continue;
      w = *std::min_element(list->begin(), list->end(), [&](auto a, auto b) {
        return std::pair(!slipped(w, a), a) < std::pair(!slipped(w, b), b);
      });
      return;
    }
  }

  // Runs of words that are no part of how people ask about time.
  void find_names() {
    for (size_t i = 0; i < tokens_.size();) {
      if (!begins(i)) {
        ++i;
        continue;
      }
      const size_t first = i;
      std::string name = word(i++);
      while (i < tokens_.size() && goes_on(i)) name += " " + word(i++);
      // "which animal": the sort that is asked for is no name.
      if (first > 0 && asks_what(word(first - 1))) continue;
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    }
  }

  Plan about(Asks asks) const {
    Plan out;
    out.asks = asks;
    out.things = names_;
    return out;
  }

  bool asks_how_many() const {
    return has("many") || word(0) == "count" || (has("number") && has("of"));
  }
  // Something comes into view; "shows" and "turns" need their "up".
  bool comes() const {
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (t.come.contains(word(i)) || (t.with_up.contains(word(i)) && word(i + 1) == "up"))
        return true;
    return false;
  }
  bool leaves() const {
    const bool goes_away = has(t.away) && (has(t.move) || has("no") || has("not"));
    return has(t.leave) || goes_away;
  }
  bool denies() const { return has("not") || has("no"); }

  std::optional<Plan> shots() const {
    if (!asks_how_many() || !names_.empty() || has(t.any_thing)) return std::nullopt;
    const size_t shot = find(t.shot), cut = find(t.cut);
    if (shot == tokens_.size() && cut == tokens_.size()) return std::nullopt;
    return about(shot < cut ? Asks::shots : Asks::cuts);
  }

  std::optional<Plan> which_shot() const {
    if (names_.size() != 1) return std::nullopt;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (word(i) != "which" && word(i) != "what") continue;
      size_t next = i + 1;
      while (word(next) == "of" || t.article.contains(word(next))) ++next;
      if (t.shot.contains(word(next))) return about(Asks::shot);
    }
    return std::nullopt;
  }

  // "What appears?", "What is gone at the end?", "What changed?": no thing is named.
  std::optional<Plan> open_change() const {
    const bool what = std::any_of(tokens_.begin(), tokens_.end(),
                                  [](const Token& one) { return asks_what(one.word); });
    if (!what || !names_.empty()) return std::nullopt;
    const size_t start = find(t.beginning), end = find(t.ending), none = tokens_.size();
    if (start < none && end < none && denies())
      return about(start < end ? Asks::disappears : Asks::appears);
    if (has(t.switches) && (has("before") || has("after"))) return std::nullopt;
    if (has(t.changed)) return about(Asks::changed);
    if (leaves()) return about(Asks::disappears);
    const bool first_or_last = has("first") || has("last");  // of all that is there: nobody knows
    if (!first_or_last && (comes() || has(t.fresh))) return about(Asks::appears);
    return std::nullopt;
  }

  std::optional<Plan> order() const {
    if (names_.size() == 1 && (has(t.earlier) || has(t.later))) return order_of_joined();
    if (names_.size() < 2) return std::nullopt;
    const bool yes_or_no = word(0) == "does" || word(0) == "did" || word(0) == "is" ||
                           word(0) == "was" || word(0) == "do";
    if (yes_or_no && names_.size() == 2 && !has("or")) {
      if (has("before")) return about(Asks::before);
      if (has("after")) return about(Asks::after);
      return std::nullopt;
    }
    if (!has("or") && !has("and")) return std::nullopt;
    if (has(t.earlier)) return about(Asks::first);
    if (has(t.later)) return about(Asks::last);
    return std::nullopt;
  }

  // "Which came first, tiger or bus": "tiger and bus" without articles reads like one name.
  std::optional<Plan> order_of_joined() const {
    const std::string& both = names_[0];
    const size_t joint = both.find(" and ");
    if (joint == std::string::npos || !(word(0) == "which" || word(0) == "who"))
      return std::nullopt;
    Plan out = about(has(t.earlier) ? Asks::first : Asks::last);
    out.things = {both.substr(0, joint), both.substr(joint + 5)};
    return out;
  }

  std::optional<Plan> when() const {
    const size_t instant = find(t.instant);
    const bool at_what = instant > 0 && instant < tokens_.size() &&
                         (asks_what(word(instant - 1)) || word(instant - 1) == "many");
    const bool how_long = has("how") && has("long") && (has("until") || has("before"));
    if (names_.size() != 1 || !(has("when") || at_what || how_long)) return std::nullopt;
    const bool seen = has(t.see), last = has("last");
    if (leaves() || (seen && last) || (seen && denies())) return about(Asks::goes);
    if (comes() || seen) return about(Asks::comes);
    return std::nullopt;
  }

  std::optional<Plan> direction() const {
    if (names_.empty()) return std::nullopt;
    const bool moves = has(t.move);
    const bool way = has(t.way) && (moves || has("of"));
    const bool sides = (has(t.left) && has(t.right)) || (has(t.up) && has(t.down));
    if (!way && !(moves && (sides || has("where")))) return std::nullopt;
    return about(Asks::direction);
  }

  std::optional<Plan> count() const {
    if (!asks_how_many() || names_.size() != 1 || !has(t.over_time)) return std::nullopt;
    return about(Asks::count);
  }

  // "Where does the tiger end up?"
  std::optional<Plan> ends_up() const {
    const size_t end = find(t.ends);
    if (names_.size() != 1 || !has("where") || word(end + 1) != "up") return std::nullopt;
    Plan out = about(Asks::part);
    out.each = "Where is the " + names_[0] + "?";
    out.end = true;
    return out;
  }

  // A phrase that names a part of the film: tokens [from, to).
  struct Phrase {
    size_t from = 0, to = 0;
    std::optional<int> shot = std::nullopt;
    bool end = false;
  };

  // "in the first shot", "the second caption" (which keeps its noun), "in the last frame"
  std::optional<Phrase> numbered(size_t i) const {
    const std::string& w = word(i);
    const auto nth = std::find(t.ordinals.begin(), t.ordinals.end(), w);
    const bool last = t.final.contains(w), known = nth != t.ordinals.end();
    if (!known && !last && !t.opening.contains(w)) return std::nullopt;
    const int shot = last ? -1 : known ? static_cast<int>(nth - t.ordinals.begin()) : 0;
    const std::string& noun = word(i + 1);
    Phrase out{i, i + 2, shot, last};
    if (t.frame.contains(noun) || (t.part.contains(noun) && !t.shot.contains(noun))) {
      if (shot > 0) return std::nullopt;
      out.shot.reset();
    } else if (t.text.contains(noun)) {
      return Phrase{i, i + 1, shot, last};
    } else if (!t.shot.contains(noun)) {
      return std::nullopt;
    }
    return widened(out);
  }
  // "before the cut", "after the scene changes"
  std::optional<Phrase> beside_cut(size_t i) const {
    const bool before = word(i) == "before";
    if (!before && word(i) != "after") return std::nullopt;
    size_t at = i + 1;
    while (t.article.contains(word(at)) || word(at) == "first") ++at;
    size_t to = at + 1;
    if (t.shot.contains(word(at)) || t.frame.contains(word(at)))
      to = at + 2;
    else if (!t.cut.contains(word(at)))
      return std::nullopt;
    if (!t.switches.contains(word(to - 1)) && !t.cut.contains(word(to - 1))) return std::nullopt;
    return Phrase{i, to, before ? 0 : 1, !before};
  }
  // "at the end", "at the start of the film"; not "at the end of the street"
  std::optional<Phrase> at_end(size_t i) const {
    const bool end = t.ending.contains(word(i));
    if ((!end && !t.beginning.contains(word(i))) || !at_article(i)) return std::nullopt;
    Phrase out{i, i + 1, std::nullopt, end};
    const bool in = i >= 2 && t.small.contains(word(i - 2));
    if (!in) return std::nullopt;
    if (word(i + 1) == "of" && find(t.film, i) > i + 3) return std::nullopt;
    return widened(out);
  }
  // With the preposition and the article before it, and "of the film" behind it.
  Phrase widened(Phrase out) const {
    while (out.from > 0 && t.article.contains(word(out.from - 1))) --out.from;
    if (out.from > 0 && t.preposition.contains(word(out.from - 1))) --out.from;
    if (t.preposition.contains(word(out.to)) && find(t.film, out.to) <= out.to + 2)
      out.to = find(t.film, out.to) + 1;
    return out;
  }

  std::optional<Plan> part() const {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      std::optional<Phrase> found = beside_cut(i);
      if (!found) found = numbered(i);
      if (!found) found = at_end(i);
      if (!found) continue;
      Plan out = about(Asks::part);
      out.things.clear();
      out.shot = found->shot;
      out.end = found->end;
      for (size_t k = 0; k < tokens_.size(); ++k)
        if (k < found->from || k >= found->to) out.each += (out.each.empty() ? "" : " ") + word(k);
      if (out.each.empty()) return std::nullopt;
      if (names_.empty() && has(t.reading)) out.each = "what does the caption say";
      if (out.each.find(' ') == std::string::npos) out.each = "what does the " + out.each + " say";
      out.each += "?";
      out.each[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out.each[0])));
      return out;
    }
    return std::nullopt;
  }

  const Tables& t = tables();
  std::vector<Token> tokens_;
  std::vector<std::string> names_;
};

}  // namespace

std::optional<Plan> plan_of(const Query& query) { return Reader(query.text).plan(); }

}  // namespace arrcoc::filming
