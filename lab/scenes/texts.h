// What load_texts() reads.
#pragma once

#include "lab/scenes/words.h"

namespace arrcoc::scenes {

struct WrittenText {
  struct Asked {
    std::string question, answer;
    size_t at = 0;  // byte of the text
  };
  std::string title, text;
  std::vector<Asked> asked;
};

struct WrittenTable {
  struct Asked {
    std::string question;
    size_t row = 0, column = 0;  // of the cell that answers
  };
  std::string title;
  Row heads;
  std::vector<Row> rows;
  std::vector<Asked> asked;
};

class Texts {
 public:
  std::vector<WrittenText> texts;
  std::vector<WrittenTable> tables;
};

}  // namespace arrcoc::scenes
