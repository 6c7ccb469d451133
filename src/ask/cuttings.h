// Patches that were cut once; the next pass gathers only what is new.
#pragma once

#include <map>
#include <tuple>

#include "arrcoc/tokens.h"

namespace arrcoc::esper {

class Cuttings {
 public:
  // The pyramid must outlive this.
  explicit Cuttings(const Pyramid& pyramid) : pyramid_(pyramid) {}
  // As cutting::realize gives it, raster order. reused: leaves that were cut before.
  TokenSequence cut(const Allocation& allocation, int& reused);

 private:
  using Key = std::tuple<int, int, int>;
  static Key key(const Leaf& leaf) { return {leaf.level, leaf.row, leaf.col}; }
  TokenSequence assembled(const Allocation& allocation) const;

  const Pyramid& pyramid_;
  std::map<Key, at::Tensor> rows_;  // [3,24,24]: the patch with what lies around it
};

}  // namespace arrcoc::esper
