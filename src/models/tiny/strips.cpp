// Transformer layers in 8 bits, a strip of rows at a time: each thread takes the next strip through
// several sublayers, whose states, queries and hidden values stay in its core's cache. Rows are
// independent everywhere but in attention, which strips hold whole sequences for, or whose keys
// and values all strips have written before: where strips end changes no bit.
#include "models/tiny/strips.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>

namespace arrcoc::tiny {
namespace {

constexpr int64_t kStrip = 128;   // rows of a strip, about: hidden values of 400 KB
constexpr int64_t kRounded = 16;  // rows of products come in these
constexpr int64_t kWorth = 48;    // rows that are worth a thread of their own

}  // namespace

void each_strip(int64_t strips, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next{0};
  at::parallel_for(0, std::min<int64_t>(strips, at::get_num_threads()), 1,
                   [&](int64_t begin, int64_t end) {
                     for (; begin < end; ++begin)
                       for (int64_t i = next++; i < strips; i = next++) work(i);
                   });
}

namespace {

// Strips of `units` of `rows` rows each: so many that every thread gets as many.
int64_t strips_of(int64_t units, int64_t rows) {
  const int64_t threads = at::get_num_threads(), all = units * rows;
  int64_t strips = (all + kStrip - 1) / kStrip;
  if (strips < threads && all >= threads * kWorth) strips = threads;
  if (strips > 1) strips = (strips + threads - 1) / threads * threads;
  return std::min(strips, units);
}

// The part `i` of `parts` of `units`.
int64_t begin_of(int64_t i, int64_t parts, int64_t units) { return i * units / parts; }

AttendBench& bench() {
  thread_local AttendBench one;
  return one;
}

const float* mask_of(const Tensor& mask, int64_t which, int64_t length) {
  return mask.defined() ? mask.data_ptr<float>() + which * length : nullptr;
}

}  // namespace

const void* Strip::read(const Norm& norm, int weight, const Shelf& shelf) const {
  const bool whole = of_.whole(weight);
  uint8_t* const bytes = whole ? shelf.bytes(room() * width_) : nullptr;
  float* const floats = whole ? nullptr : shelf.floats(room() * width_);
  RowWork work;
  work.weight = w_[norm.weight].data_ptr<float>();
  work.bias = w_[norm.bias].data_ptr<float>();
  work.scale = of_.scale(weight);
  for (int64_t i = 0; i < count(); ++i)
    work_row(rows_[static_cast<size_t>(i)], width_, work, whole ? nullptr : floats + i * width_,
             whole ? bytes + i * width_ : nullptr);
  return whole ? static_cast<const void*>(bytes) : floats;
}

void Strip::ask(const Norm& norm, const Attention& attention, float* out) const {
  const Shelf shelf;
  of_.pair(attention.query.weight).share(read(norm, attention.query.weight, shelf), count(), out);
}

void Strip::attend(const Attention& attention, const std::vector<int64_t>& begins,
                   const Heads& head) {
  const Shelf shelf;
  const int64_t each = width_ / attention.heads;
  const bool whole = of_.whole(attention.out.weight);
  const Scale scale = of_.scale(attention.out.weight);
  uint8_t* const bytes = whole ? shelf.bytes(room() * width_) : nullptr;
  float* const floats = whole ? nullptr : shelf.floats(room() * width_);
  for (size_t run = 0; run + 1 < begins.size(); ++run)
    for (int64_t h = 0; h < attention.heads; ++h) {
      const int64_t rows = begins[run + 1] - begins[run], at = begins[run] * width_ + h * each;
      bench().take(head(static_cast<int64_t>(run), h));
      if (whole)
        bench().attend(0, rows, scale, bytes + at, width_);
      else
        bench().attend(0, rows, floats + at, width_);
    }
  add(attention.out, whole ? static_cast<const void*>(bytes) : floats);
}

void Strip::look_up(const Sublayers::Other& other, const Tensor& mask,
                    const std::vector<int64_t>& begins, int64_t first_page, Tensor* shares) {
  const Attention& attention = *other.attention;
  const Tensor &keys = other.past->keys, &values = other.past->values;
  const int64_t length = keys.size(2), each = width_ / attention.heads;
  const Shelf shelf;
  float* const q = shelf.floats(room() * width_);
  of_.dense(attention.query.weight)
      .share(read(*other.norm, attention.query.weight, shelf), count(), q);
  attend(attention, begins, [&](int64_t run, int64_t h) {
    const int64_t page = first_page + run, first = begins[static_cast<size_t>(run)];
    const auto start = [&](const Tensor& t) {
      return t.data_ptr<float>() + page * t.stride(0) + h * t.stride(1);
    };
    AttendHead out{q + first * width_ + h * each,
                   width_,
                   start(keys),
                   keys.stride(2),
                   start(values),
                   values.stride(2),
                   length,
                   mask_of(mask, page, length),
                   each};
    if (shares) {
      out.told = out.shares_step = shares->size(1);
      out.shares = shares->data_ptr<float>() + first * out.told;
      out.part = 1.0F / static_cast<float>(attention.heads);
    }
    return out;
  });
}

void Strip::inner(const Norm& norm, const Mlp& mlp) {
  const Shelf shelf;
  const Dense& first = of_.dense(mlp.in.weight);
  const int64_t width = first.outputs();
  float* const hidden = shelf.floats(room() * width);
  const bool whole = of_.whole(mlp.out.weight);
  first.share(read(norm, mlp.in.weight, shelf), count(), hidden, {false, !whole, nullptr});
  if (!whole) return add(mlp.out, hidden);
  uint8_t* const bytes = shelf.bytes(room() * width);
  light(hidden, count() * width, of_.scale(mlp.out.weight), bytes);
  add(mlp.out, bytes);
}

void Strip::add(const Linear& last, const void* in) {
  const Shelf shelf;
  float* const out = shelf.floats(room() * width_);
  of_.dense(last.weight).share(in, count(), out);
  for (int64_t i = 0; i < count(); ++i) add_row(out + i * width_, width_, row(i));
}

namespace {

// Sequences [first,last): queries, keys and values together, then each looks at its own.
void look_around(Strip& strip, const Sublayers::Self& self, const Tensor& mask, int64_t first,
                 int64_t length, int64_t width) {
  const int64_t each = width / self.attention->heads;
  const Shelf shelf;
  float* const all = shelf.floats(strip.room() * 3 * width);
  strip.ask(*self.norm, *self.attention, all);
  std::vector<int64_t> begins;
  for (int64_t row = 0; row <= strip.count(); row += length) begins.push_back(row);
  strip.attend(*self.attention, begins, [&](int64_t run, int64_t h) {
    const float* q = all + run * length * 3 * width + h * each;
    return AttendHead{q,
                      3 * width,
                      q + width,
                      3 * width,
                      q + 2 * width,
                      3 * width,
                      length,
                      mask_of(mask, first + run, length),
                      each};
  });
}

int64_t work_of(const Attention& attention, const Prepared& of, int64_t rows, int64_t width,
                int64_t length, bool pair) {
  const Dense& first = pair ? of.pair(attention.query.weight) : of.dense(attention.query.weight);
  return rows * (width * first.outputs() + 2 * length * width + width * width);
}
int64_t work_of(const Mlp& mlp, const Prepared& of, int64_t rows, int64_t width) {
  return 2 * rows * width * of.dense(mlp.in.weight).outputs();
}

}  // namespace

void Prepared::through(const Parameters& w, const Tensor& y, const Sequences& among,
                       const Sublayers& sub) const {
  const int64_t width = y.size(-1), rows = among.count * among.length;
  const auto dense_mask = [](const Tensor& mask) {
    return mask.defined() ? mask.contiguous() : mask;
  };
  const Tensor others = dense_mask(sub.other.mask), own = dense_mask(sub.self.mask);
  int64_t work = 0;
  if (sub.other.norm)
    work += work_of(*sub.other.attention, *this, rows, width, sub.other.past->keys.size(2), false);
  if (sub.self.norm) work += work_of(*sub.self.attention, *this, rows, width, among.length, true);
  if (sub.inner.norm) work += work_of(*sub.inner.mlp, *this, rows, width);
  count_work(work);
  const int64_t strips = strips_of(among.count, among.length);
  each_strip(strips, [&](int64_t i) {
    const int64_t first = begin_of(i, strips, among.count),
                  last = begin_of(i + 1, strips, among.count);
    Strip strip(*this, w, width, (last - first) * among.length);
    std::vector<int64_t> begins;  // of pages
    for (int64_t s = first, row = 0; s < last; ++s) {
      if (s == first || s % among.inner == 0) begins.push_back(row);
      for (int64_t k = 0; k < among.length; ++k)
        strip.row(row++) = y.data_ptr<float>() + among.row(s, k) * width;
    }
    begins.push_back(strip.count());
    if (sub.other.norm) strip.look_up(sub.other, others, begins, first / among.inner);
    if (sub.self.norm) look_around(strip, sub.self, own, first, among.length, width);
    if (sub.inner.norm) strip.inner(*sub.inner.norm, *sub.inner.mlp);
  });
}

Tensor Prepared::layers(const Parameters& w, const std::vector<const Layer*>& layers,
                        const Tensor& x, const Tensor& mask) const {
  const int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
  const Tensor y = scratch({batch, length, width}, at::kFloat).copy_(x);
  const Tensor own = mask.defined() ? mask.contiguous() : mask;
  // Strips begin at multiples of what products are rounded to: none writes into another's rows.
  const int64_t blocks = (length + kRounded - 1) / kRounded, room = blocks * kRounded;
  const int64_t strips = strips_of(blocks, kRounded);
  // Of the layer that looks and of the next one.
  const Tensor turns = scratch({2, batch * room, 3 * width}, at::kFloat);
  for (size_t i = 0; i <= layers.size(); ++i) {
    const Tensor seen = turns[(i + 1) % 2], next = turns[i % 2];
    if (i > 0)
      count_work(work_of(layers[i - 1]->attention, *this, batch * length, width, length, true) +
                 work_of(layers[i - 1]->mlp, *this, batch * length, width));
    each_strip(batch * strips, [&](int64_t which) {
      const int64_t b = which / strips, k = which % strips;
      const int64_t first = begin_of(k, strips, blocks) * kRounded,
                    last = std::min(length, begin_of(k + 1, strips, blocks) * kRounded);
      Strip strip(*this, w, width, last - first);
      for (int64_t r = first; r < last; ++r)
        strip.row(r - first) = y.data_ptr<float>() + (b * length + r) * width;
      if (i > 0) {
        const Layer& layer = *layers[i - 1];
        const int64_t each = width / layer.attention.heads;
        strip.attend(layer.attention, {0, last - first}, [&](int64_t, int64_t h) {
          const float* q = seen.data_ptr<float>() + b * room * 3 * width + h * each;
          return AttendHead{q + first * 3 * width,
                            3 * width,
                            q + width,
                            3 * width,
                            q + 2 * width,
                            3 * width,
                            length,
                            mask_of(own, b, length),
                            each};
        });
        strip.inner(layer.norm2, layer.mlp);
      }
      if (i < layers.size())
        strip.ask(layers[i]->norm1, layers[i]->attention,
                  next.data_ptr<float>() + (b * room + first) * 3 * width);
    });
  }
  return y;
}

}  // namespace arrcoc::tiny
