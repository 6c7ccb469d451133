// A few rows of one thread that go through several sublayers in 8 bits (strips.cpp).
#pragma once

#include <functional>
#include <vector>

#include "models/tiny/attend_cpu.h"
#include "models/tiny/prepared.h"

namespace arrcoc::tiny {

// work(0) to work(strips - 1): whichever thread is free takes the next one.
void each_strip(int64_t strips, const std::function<void(int64_t)>& work);

class Strip {
 public:
  Strip(const Prepared& of, const Parameters& w, int64_t width, int64_t rows)
      : of_(of), w_(w), width_(width), rows_(static_cast<size_t>(rows)) {}
  float*& row(int64_t i) { return rows_[static_cast<size_t>(i)]; }  // they may lie anywhere
  int64_t count() const { return static_cast<int64_t>(rows_.size()); }
  int64_t room() const { return padded_rows(count()); }

  // What a product reads of the normalised rows: bytes or floats.
  const void* read(const Norm& norm, int weight, const Shelf& shelf) const;
  // Queries, keys and values of the normalised rows, to `out` with room.
  void ask(const Norm& norm, const Attention& attention, float* out) const;
  // rows += attention of queries that were asked before. Those from begins[run] to begins[run + 1]
  // share keys and values: head(run, h).
  using Heads = std::function<AttendHead(int64_t run, int64_t h)>;
  void attend(const Attention& attention, const std::vector<int64_t>& begins, const Heads& head);
  // The same of queries that look at the memories of pages, one after the other from first_page;
  // mask [pages,1,1,S], contiguous. shares (optional, [rows,told]): what they give the first keys.
  void look_up(const Sublayers::Other& other, const Tensor& mask,
               const std::vector<int64_t>& begins, int64_t first_page, Tensor* shares = nullptr);
  // rows += mlp(norm(rows))
  void inner(const Norm& norm, const Mlp& mlp);

 private:
  void add(const Linear& last, const void* in);

  const Prepared& of_;
  const Parameters& w_;
  int64_t width_;
  std::vector<float*> rows_;
};

}  // namespace arrcoc::tiny
