// The shape of a word on the page, whatever it says: money, a date, a time, a number, a name ...
#pragma once

#include <string>
#include <vector>

namespace arrcoc::reading {

// Each float in [0,1]: how much the word looks like one of these.
struct WordShape {
  float money = 0;
  float date = 0;
  float year = 0;
  float time = 0;
  float number = 0;
  float percent = 0;
  float phone = 0;
  float code = 0;        // an identifier: letters and digits mixed, or a long number
  float capital = 0;     // starts with a capital; 1 when all letters are
  bool person = false;   // Mr, Mrs, Dr, Prof ...
  bool company = false;  // Ltd, Inc, Sdn, Bhd, Enterprise ...: part of a company's name
  bool street = false;   // Jalan, Street, Road, Floor, Lot ...
  bool has_value = false;
  double value = 0;  // the number that it shows
  int digits = 0;
  int letters = 0;
};

// `text` as read.
WordShape shape_of(const std::string& text);

// Dates, phone numbers and times that run over several words ("2 July 1971", "(03) 8024 1112"):
// raises the shapes of the words that take part. Words of one printed line, left to right.
void join_shapes(const std::vector<std::string>& texts, std::vector<WordShape>& shapes);

}  // namespace arrcoc::reading
