#include "lab/train/batch.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace arrcoc::training {
namespace {

using at::Tensor;

constexpr uint8_t kContext = 3;

void begin(Batch& batch, const Pool& pool, const std::vector<int>& slots) {
  batch.pool = &pool;
  batch.slots = slots;
  if (!slots.empty()) batch.grid = pool.sample(slots.front()).canvas / 16;
}

void add(Batch& batch, int picture, const Ask& ask) {
  batch.page_of.push_back(picture);
  batch.slot_of.push_back(batch.slots[static_cast<size_t>(picture)]);
  batch.asks.push_back(&ask);
}

// Symbols of questions and answers as tensors; lengths in multiples of 16 and 8, so that few
// different shapes occur and attention kernels find aligned rows.
void finish(Batch& batch, at::Device device) {
  size_t longest_question = 1, longest_answer = 1;
  for (const Ask* ask : batch.asks) {
    longest_question = std::max(longest_question, ask->question.size());
    if (ask->task != Task::find) longest_answer = std::max(longest_answer, ask->answer.size() + 1);
  }
  const int64_t q = static_cast<int64_t>(batch.size());
  const int64_t t = static_cast<int64_t>((longest_question + 15) / 16 * 16);
  const int64_t l =
      std::min<int64_t>(static_cast<int64_t>((longest_answer + 7) / 8 * 8), tiny::kMaxAnswer + 1);
  Tensor question = at::zeros({q, t}, at::kLong);
  Tensor previous = at::zeros({q, l}, at::kLong), expected = at::zeros({q, l}, at::kLong);
  Tensor pages = at::empty({q}, at::kLong), weight = at::empty({q}, at::kFloat);
  for (int64_t i = 0; i < q; ++i) {
    const Ask& ask = *batch.asks[static_cast<size_t>(i)];
    std::copy(ask.question.begin(), ask.question.end(), question.data_ptr<int64_t>() + i * t);
    pages.data_ptr<int64_t>()[i] = batch.page_of[static_cast<size_t>(i)];
    weight.data_ptr<float>()[i] = answer_weight(ask);
    int64_t* before = previous.data_ptr<int64_t>() + i * l;
    int64_t* after = expected.data_ptr<int64_t>() + i * l;
    before[0] = tiny::kEnd;
    if (ask.task == Task::find) continue;
    for (size_t k = 0; k < ask.answer.size(); ++k) {
      if (static_cast<int64_t>(k) + 1 < l) before[k + 1] = ask.answer[k];
      after[k] = ask.answer[k];
    }
    after[ask.answer.size()] = tiny::kEnd;
  }
  batch.question = send(question, device);
  batch.previous = send(previous, device);
  batch.expected = send(expected, device);
  batch.pages = send(pages, device);
  batch.weight = send(weight, device);
}

void mark(uint8_t* target, int grid, const Sample& sample, const std::vector<Box>& boxes,
          uint8_t value) {
  const Grid real = sample.geometry.grid(0);
  const float fx = sample.frame_x(), fy = sample.frame_y();
  for (const Box& native : boxes) {
    const Box box{native.x0 * fx, native.y0 * fy, native.x1 * fx, native.y1 * fy};
    // A box that only grazes a row of cells does not ask for it.
    const float inset_y = std::min(2.0F, 0.15F * box.height());
    const float inset_x = std::min(2.0F, 0.15F * box.width());
    const CellRange range =
        touched({box.x0 + inset_x, box.y0 + inset_y, box.x1 - inset_x, box.y1 - inset_y}, 16,
                real.rows, real.cols);
    for (int r = range.r0; r < range.r1; ++r)
      for (int c = range.c0; c < range.c1; ++c) {
        uint8_t& cell = target[static_cast<size_t>(r) * grid + c];
        cell = std::max(cell, value);
      }
  }
}

// Cells that nothing else was said about.
void mark_free(uint8_t* target, int grid, const Sample& sample, const std::vector<Box>& boxes,
               uint8_t value) {
  if (boxes.empty()) return;
  std::vector<uint8_t> own(static_cast<size_t>(grid) * grid, 0);
  mark(own.data(), grid, sample, boxes, value);
  for (size_t i = 0; i < own.size(); ++i)
    if (own[i] != 0 && target[i] == 0) target[i] = value;
}

// Targets of the tension policy: small print wants particulars, one place wants focus, an easy
// question may exploit what is obvious.
void tensions_of(const Ask& ask, const Geometry& geometry, float* out) {
  Box hull{1e9F, 1e9F, -1e9F, -1e9F};
  float height = 0;
  int count = 0;
  for (const auto* boxes : {&ask.answer_boxes, &ask.evidence_boxes})
    for (const Box& box : *boxes) {
      hull = {std::min(hull.x0, box.x0), std::min(hull.y0, box.y0), std::max(hull.x1, box.x1),
              std::max(hull.y1, box.y1)};
      height += box.height();
      ++count;
    }
  const float diagonal =
      std::hypot(static_cast<float>(geometry.width), static_cast<float>(geometry.height));
  const float spread = count ? std::hypot(hull.width(), hull.height()) / diagonal : 1.0F;
  out[0] = count ? std::clamp(height / static_cast<float>(count) / 64, 0.1F, 0.9F) : 0.8F;
  out[1] = ask.complexity == 0 ? 0.7F : ask.complexity == 1 ? 0.5F : 0.3F;
  out[2] = std::clamp(1 - spread, 0.1F, 0.9F);
}

// What is known of each picture, and characters of some of its cells.
void add_pages(const Pool& pool, const Batch& batch, uint64_t seed, PageLabels& out) {
  const int64_t g = batch.grid, p = static_cast<int64_t>(batch.slots.size());
  const int64_t k = std::max<int64_t>(16, g * g / 4);
  Tensor inside = at::zeros({p, g, g}, at::kByte), text = at::empty({p, g, g}, at::kByte);
  Tensor index = at::empty({p, k}, at::kLong);
  Tensor labels = at::empty({p, k, tiny::kCellSlots}, at::kLong);
  at::parallel_for(0, p, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Sample& sample = pool.sample(batch.slots[static_cast<size_t>(i)]);
      Dice own(seed, static_cast<uint64_t>(i));
      const Grid real = sample.geometry.grid(0);
      uint8_t* in = inside.data_ptr<uint8_t>() + i * g * g;
      for (int r = 0; r < real.rows; ++r)
        std::memset(in + r * g, 1, static_cast<size_t>(real.cols));
      std::memcpy(text.data_ptr<uint8_t>() + i * g * g, sample.text.data(), sample.text.size());
      for (int64_t j = 0; j < k; ++j) {
        // Three of four where characters are, the rest anywhere.
        const int inks = j * 4 < k * 3 ? static_cast<int>(sample.inked.size()) : 0;
        const int cell = inks > 0 ? sample.inked[static_cast<size_t>(own.below(inks))]
                                  : own.below(static_cast<int>(2 * g * g));
        index.data_ptr<int64_t>()[i * k + j] = cell;
        const uint8_t* symbols = &sample.cells[static_cast<size_t>(cell) * tiny::kCellSlots];
        for (int s = 0; s < tiny::kCellSlots; ++s)
          labels.data_ptr<int64_t>()[(i * k + j) * tiny::kCellSlots + s] = label_of(symbols[s]);
      }
    }
  });
  out.inside = send(inside, pool.device()).gt(0);
  out.text = send(text, pool.device());
  out.cell_index = send(index, pool.device());
  out.cell_labels = send(labels, pool.device());
}

// How boxes are to be taken, and names of things.
void add_real(const Pool& pool, const Batch& batch, PageLabels& out) {
  const int64_t g = batch.grid, q = static_cast<int64_t>(batch.size());
  const int64_t p = static_cast<int64_t>(batch.slots.size());
  Tensor aims = at::zeros({3, q}, at::kFloat);
  for (int64_t i = 0; i < q; ++i) {
    const Aim aim = batch.asks[static_cast<size_t>(i)]->aim;
    if (aim != Aim::none) aims.data_ptr<float>()[static_cast<int64_t>(aim) * q + i] = 1;
  }
  Tensor names = at::full({p, g, g / 2}, -1, at::kLong);
  bool any = false;
  for (int64_t i = 0; i < p; ++i) {
    const Sample& sample = pool.sample(batch.slots[static_cast<size_t>(i)]);
    if (sample.things.empty()) continue;
    any = true;
    const Grid real = sample.geometry.grid(0);
    for (int r = 0; r < real.rows; ++r)
      for (int c = 0; 2 * c < real.cols; ++c)
        names.data_ptr<int64_t>()[(i * g + r) * (g / 2) + c] =
            thing_at(sample, (static_cast<float>(c) + 0.5F) * 32 / sample.frame_x(),
                     (static_cast<float>(r) + 0.5F) * 16 / sample.frame_y(),
                     512 / (sample.frame_x() * sample.frame_y()));
  }
  const Tensor sent = send(aims, pool.device());
  out.place = sent[0];
  out.object = sent[1];
  out.loose = sent[2];
  if (any) out.names = send(names, pool.device());
}

}  // namespace

// Names and counts are short; they would drown in the letters of documents.
float answer_weight(const Ask& ask) {
  return ask.aim == Aim::object || ask.intent == "real.what" ? 3.0F : 1.0F;
}

Batch draw(const Pool& pool, const std::vector<int>& slots, int questions, const WordShares& words,
           Dice& dice, int distinct) {
  Batch batch;
  begin(batch, pool, slots);
  batch.each = questions;
  for (size_t p = 0; p < slots.size(); ++p) {
    const Sample& sample = pool.sample(slots[p]);
    // Each question of the scene once, in random order, before any comes again.
    std::vector<int> order;
    for (int i = 0; i < questions; ++i) {
      if (distinct > 0 && i >= distinct) {
        add(batch, static_cast<int>(p),
            *batch.asks[batch.asks.size() - static_cast<size_t>(distinct)]);
        continue;
      }
      const bool about_words =
          !sample.words.empty() &&
          (sample.asks.empty() || dice.chance(sample.real ? words.real : words.scenes));
      if (about_words) {
        add(batch, static_cast<int>(p),
            sample.words[static_cast<size_t>(dice.below(static_cast<int>(sample.words.size())))]);
        continue;
      }
      if (order.empty())
        for (size_t k = 0; k < sample.asks.size(); ++k) order.push_back(static_cast<int>(k));
      const size_t pick = static_cast<size_t>(dice.below(static_cast<int>(order.size())));
      add(batch, static_cast<int>(p), sample.asks[static_cast<size_t>(order[pick])]);
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(pick));
    }
  }
  finish(batch, pool.device());
  return batch;
}

Batch joined(const std::vector<const Batch*>& batches) {
  Batch out;
  out.pool = batches.front()->pool;
  for (const Batch* batch : batches) {
    const int first = static_cast<int>(out.slots.size());
    out.slots.insert(out.slots.end(), batch->slots.begin(), batch->slots.end());
    for (size_t i = 0; i < batch->size(); ++i) add(out, first + batch->page_of[i], *batch->asks[i]);
  }
  return out;  // its tensors are made of parts
}

Batch part_of(const Batch& batch, const std::vector<size_t>& questions, at::Device device) {
  Batch part;
  part.pool = batch.pool;
  part.slots = batch.slots;
  part.grid = batch.grid;
  for (size_t i : questions) add(part, batch.page_of[i], *batch.asks[i]);
  finish(part, device);
  return part;
}

Batch all_of(const Pool& pool, const std::vector<int>& slots, int questions) {
  Batch batch;
  begin(batch, pool, slots);
  for (size_t p = 0; p < slots.size(); ++p) {
    const Sample& sample = pool.sample(slots[p]);
    for (size_t i = 0; i < sample.asks.size() && static_cast<int>(i) < questions; ++i)
      add(batch, static_cast<int>(p), sample.asks[i]);
  }
  finish(batch, pool.device());
  return batch;
}

PageLabels page_labels(const Pool& pool, const Batch& batch, Dice& dice) {
  const at::Device device = pool.device();
  const int grid = batch.grid;
  const int64_t g = grid, q = static_cast<int64_t>(batch.size());
  Tensor target = at::zeros({q, g, g}, at::kByte);
  Tensor tier = at::empty({q}, at::kLong), tensions = at::empty({q, 3}, at::kFloat);
  at::parallel_for(0, q, 32, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Ask& ask = *batch.asks[static_cast<size_t>(i)];
      const Sample& sample = pool.sample(batch.slot_of[static_cast<size_t>(i)]);
      uint8_t* map = target.data_ptr<uint8_t>() + i * g * g;
      mark(map, grid, sample, ask.evidence_boxes, 1);
      mark(map, grid, sample, ask.answer_boxes, 2);
      mark_free(map, grid, sample, ask.context_boxes, kContext);
      tier.data_ptr<int64_t>()[i] = tier_of(ask, sample.native);
      tensions_of(ask, sample.native, tensions.data_ptr<float>() + i * 3);
    }
  });
  PageLabels out;
  out.target = send(target, device);
  out.tier = send(tier, device);
  out.tensions = send(tensions, device);
  add_pages(pool, batch, dice.next(), out);
  const bool real = std::any_of(batch.slots.begin(), batch.slots.end(),
                                [&](int slot) { return pool.sample(slot).real; });
  if (real) add_real(pool, batch, out);
  return out;
}

}  // namespace arrcoc::training
