// What every way of asking about the words of a page needs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/train/dice.h"
#include "lab/train/real/layout.h"
#include "lab/train/sample.h"

namespace arrcoc::training::real {

using Phrases = std::span<const char* const>;

std::string trimmed(std::string_view text, std::string_view ends = " .,:;*-_|'\"");

class Asker {
 public:
  // words: arranged, in pixels of a page of this size; they must outlive it.
  Asker(const std::vector<Word>& words, int width, int height, Dice& dice)
      : page_(words), words_(words), width_(width), height_(height), dice_(dice) {}

 protected:
  size_t any(size_t count) { return static_cast<size_t>(dice_.below(static_cast<int>(count))); }
  const Segment& some() { return page_.segments()[any(page_.segments().size())]; }
  // The phrase as it is written or in lower case; nothing when it stands there more than once.
  std::optional<std::string> key(const std::string& text);
  // One of the phrases, with a for % and b for @.
  std::string fill(Phrases phrases, const std::string& a, const std::string& b = "");
  std::optional<Ask> made(Task task, const std::string& question, const std::string& answer,
                          std::vector<Box> boxes, std::vector<Box> evidence, const char* intent,
                          int complexity = 1);

  Layout page_;
  const std::vector<Word>& words_;
  int width_, height_;
  Dice& dice_;
};

}  // namespace arrcoc::training::real
