// How the words of a page stand to each other: segments, neighbours, what is written once.
#pragma once

#include <string>
#include <vector>

#include "lab/train/real/words.h"

namespace arrcoc::training::real {

// Words [first, last] of one line without a wide gap between them.
struct Segment {
  size_t first = 0, last = 0;
  Box box;
  std::string text;
  float em = 0;
  bool sure = true;  // every word was read with confidence
};

class Layout {
 public:
  // words: arranged; they must outlive it.
  explicit Layout(const std::vector<Word>& words);

  const std::vector<Segment>& segments() const { return segments_; }
  float em() const { return em_; }  // of ordinary print

  // Of words [first, last].
  std::string joined(size_t first, size_t last) const;
  Box around(size_t first, size_t last) const;
  bool sure(size_t first, size_t last) const;
  // A lower-case text stands exactly once on the page.
  bool once(const std::string& text) const;

  // The nearest segment right of this one at its height, or shortly below it; null: none.
  const Segment* right_of(const Segment& segment) const;
  const Segment* below(const Segment& segment) const;
  // For a figure in a table: the nearest text left of it, and the nearest heading above.
  const Segment* row_label(const Segment& figure) const;
  const Segment* heading(const Segment& figure, float longest_way, float widest) const;

 private:
  const std::vector<Word>& words_;
  std::vector<Segment> segments_;
  std::string text_;  // of the whole page, lower case, words apart by one space
  float em_ = 0;
};

}  // namespace arrcoc::training::real
