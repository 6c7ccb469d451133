// Questions that name an order, an edge of the page or what a thing is.
#pragma once

#include "lab/train/real/asker.h"

namespace arrcoc::training::real {

class Teller : public Asker {
 public:
  using Asker::Asker;

 protected:
  std::optional<Ask> nth();     // of what stands under a heading: a list or a column
  std::optional<Ask> corner();  // what stands at an edge of the page
  // What is told by what it is: a body, a person's office, the only year or sum, a table's title.
  std::optional<Ask> kind();

 private:
  std::optional<Ask> body();
  std::optional<Ask> office();
  std::optional<Ask> only();
  std::optional<Ask> caption();

  bool surely(size_t first, size_t last) const;  // read with more confidence than usual
  bool capital(size_t word) const;               // begins with a capital letter
  bool person(size_t first, size_t last) const;
  // Who and as what: "William Kovacs, Vice President", in one line or one above the other.
  struct Post {
    Run name{1, 0}, job{1, 0};
  };
  std::optional<Post> post_of(const Segment& segment) const;
  const Segment* captioned(int& count);
};

}  // namespace arrcoc::training::real
