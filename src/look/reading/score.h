// Evidence for every word: where the question's words stand on the page, and what follows them.
#pragma once

#include <vector>

#include "arrcoc/query.h"
#include "look/reading/layout.h"
#include "look/reading/match.h"

namespace arrcoc::reading {

// One place on the page where a word of the question was found.
struct Hit {
  int term = 0;
  int word = 0;
  float strength = 0;  // similarity times the reader's confidence
};

struct Found {
  std::vector<Term> terms;
  std::vector<Hit> hits;
  std::vector<float> matched;  // per word: its best strength, 0 when no question word
};

// Looks the question's words up on the page. A term's weight falls with the number of its hits:
// a word that is everywhere says little.
Found find_terms(const Page& page, const Query& query);

// Per word, in [0,1]: the share of the question (by weight) that labels it, from its own phrase,
// from the left in its row, or from above in its column; other directions count less.
std::vector<float> label_evidence(const Page& page, const Found& found, const Query& query);

// Kinds whose answers are single words with a shape of their own.
bool is_numeric(AnswerKind kind);

// "which side ...", "what age group ...": one of several short labels is wanted, and not the
// sentence that repeats the question.
bool is_choice(const Query& query);

// How strongly a label at `from` speaks about something at `to`, in [0,1]: most to the right in
// its row, then below in its column, less to the left and above. `line` is the height of a line
// and `width` that of the page.
float across(const Box& from, const Box& to, float line, float width);

// Per word, in [0,1]: how well its shape, size and place suit the kind of answer.
std::vector<float> kind_prior(const Page& page, const Found& found, const Query& query);

// Per word, factors around 1 from words like "top", "bottom right", "first", "largest", and from
// look-alikes ("cash" beside an amount when the total is asked for).
std::vector<float> hints(const Page& page, const Query& query);

}  // namespace arrcoc::reading
