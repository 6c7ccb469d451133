#include "lab/train/pool.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "arrcoc/error.h"
#include "models/tiny/page.h"

namespace arrcoc::training {

using at::Tensor;

using tiny::kPatchBytes;
using tiny::kWide;

at::Tensor send(const at::Tensor& host, at::Device device) {
  if (device.is_cpu()) return host;
  return (host.is_pinned() ? host : host.pin_memory()).to(device, host.scalar_type(), true);
}

Pool::Pool(int slots, int canvas, at::Device device, at::ScalarType type)
    : canvas_(canvas), device_(device), type_(type), samples_(static_cast<size_t>(slots)) {
  if (canvas < 32 || (canvas & (canvas - 1)) != 0)
    throw Error(ErrorCode::bad_argument,
                "canvas must be a power of two from 32, not " + std::to_string(canvas));
  for (int64_t side = grid(); side >= 1; side /= 2) {
    offsets_.push_back(rows_);
    rows_ += side * side;
  }
  patches_ = at::zeros({slots * rows_, kPatchBytes}, at::TensorOptions(device).dtype(at::kByte));
  texture_ =
      at::zeros({slots, canvas / tiny::kStride, canvas / tiny::kStride, tiny::kTextureChannels},
                at::TensorOptions(device).dtype(type));
}

int64_t Pool::row_of(int level, int row, int col) const {
  if (level < 0) return row_of(0, row / 2, col / 2);
  return offsets_[static_cast<size_t>(level)] + static_cast<int64_t>(row) * (grid() >> level) + col;
}

void Pool::put(const std::vector<int>& slots,
               const std::vector<std::shared_ptr<const Sample>>& samples) {
  at::NoGradGuard no_grad;
  constexpr size_t kTogether = 8;  // floats of 8 pictures at a time are enough to keep it busy
  for (size_t first = 0; first < slots.size(); first += kTogether) {
    const size_t last = std::min(slots.size(), first + kTogether);
    std::vector<Tensor> canvases;
    std::vector<float> sizes;
    for (size_t i = first; i < last; ++i) {
      canvases.push_back(send(samples[i]->pixels, device_));
      sizes.push_back(static_cast<float>(samples[i]->geometry.width));
      sizes.push_back(static_cast<float>(samples[i]->geometry.height));
    }
    const int64_t count = static_cast<int64_t>(last - first);
    Tensor canvas = at::stack(canvases);
    Tensor extent = send(at::tensor(sizes, at::kFloat).view({count, 2}), device_);
    Tensor texture = tiny::page_texture(canvas, extent).to(type_);
    std::vector<Tensor> levels;
    for (size_t level = 0; level < offsets_.size(); ++level) {
      if (level > 0) canvas = tiny::halve(canvas);
      levels.push_back(tiny::patches_of(canvas));
      if (canvas.size(1) == 16) break;
    }
    Tensor all = at::cat(levels, 1);
    for (int64_t i = 0; i < count; ++i) {
      const int slot = slots[first + static_cast<size_t>(i)];
      patches_.narrow(0, slot * rows_, rows_).copy_(all[i]);
      texture_[slot].copy_(texture[i]);
      // The pixels now live on the device; labels and questions stay here.
      auto kept = std::make_shared<Sample>(*samples[first + static_cast<size_t>(i)]);
      kept->pixels = Tensor();
      samples_[static_cast<size_t>(slot)] = std::move(kept);
    }
  }
}

tiny::Page Pool::page(const std::vector<int>& slots) const {
  std::vector<int64_t> index(slots.begin(), slots.end());
  Tensor which = send(at::tensor(index, at::kLong), device_);
  const int64_t native = static_cast<int64_t>(grid()) * grid();
  Tensor patches = patches_.view({static_cast<int64_t>(samples_.size()), rows_, kPatchBytes})
                       .narrow(1, 0, native)
                       .index_select(0, which);
  std::vector<float> sizes;
  for (int slot : slots) {
    sizes.push_back(static_cast<float>(sample(slot).geometry.width));
    sizes.push_back(static_cast<float>(sample(slot).geometry.height));
  }
  tiny::Page page;
  page.pixels = tiny::page_pixels_of_patches(patches, grid(), grid());
  page.texture = texture_.index_select(0, which);
  page.extent =
      send(at::tensor(sizes, at::kFloat).view({static_cast<int64_t>(slots.size()), 2}), device_);
  return page;
}

namespace {

// Quadrant (which: 2*row+col) of each patch [M,24*24*3], enlarged twice, with its own margin.
Tensor enlarge(const Tensor& patches, const Tensor& which) {
  const int64_t m = patches.size(0);
  Tensor image = patches.view({m, kWide, kWide, 3}).permute({0, 3, 1, 2}).to(at::kFloat);
  Tensor large = at::upsample_bilinear2d(image, {2 * kWide, 2 * kWide}, false);
  std::vector<Tensor> quadrants;
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t col = 0; col < 2; ++col)
      quadrants.push_back(large.narrow(2, kMargin + row * kPatch, kWide)
                              .narrow(3, kMargin + col * kPatch, kWide)
                              .permute({0, 2, 3, 1})
                              .reshape({m, 1, kPatchBytes}));
  Tensor index = which.view({m, 1, 1}).expand({m, 1, kPatchBytes});
  return at::cat(quadrants, 1).gather(1, index).squeeze(1).add(0.5).clamp(0, 255).to(at::kByte);
}

}  // namespace

tiny::Look Pool::look(const std::vector<int>& slots, const std::vector<std::vector<Cell>>& cells,
                      const std::vector<int>& octaves, at::Tensor* glyphs) const {
  const int64_t questions = static_cast<int64_t>(slots.size());
  size_t longest = 1;
  for (const auto& list : cells) longest = std::max(longest, list.size());
  const int64_t n = static_cast<int64_t>((longest + 15) / 16 * 16);
  Tensor rows = at::zeros({questions, n}, at::kLong);
  Tensor places = at::zeros({questions, n, 5}, at::kFloat);  // x, y, scale, relevance, real
  Tensor sizes = at::empty({questions, 2}, at::kFloat);
  Tensor labels = glyphs ? at::full({questions, n, tiny::kGlyphSlots}, -1, at::kLong) : Tensor();
  int64_t* row = rows.data_ptr<int64_t>();
  float* place = places.data_ptr<float>();
  int64_t* label = glyphs ? labels.data_ptr<int64_t>() : nullptr;
  at::parallel_for(0, questions, 32, [&](int64_t begin, int64_t end) {
    for (int64_t q = begin; q < end; ++q) {
      const Sample& s = sample(slots[static_cast<size_t>(q)]);
      const float zoom = static_cast<float>(1 << octaves[static_cast<size_t>(q)]);
      sizes.data_ptr<float>()[2 * q] = zoom * static_cast<float>(s.geometry.width);
      sizes.data_ptr<float>()[2 * q + 1] = zoom * static_cast<float>(s.geometry.height);
      const auto& list = cells[static_cast<size_t>(q)];
      for (size_t i = 0; i < list.size(); ++i) {
        const Cell& cell = list[i];
        const int64_t at = q * n + static_cast<int64_t>(i);
        const float side = static_cast<float>(Geometry::side(cell.level)) * zoom;
        row[at] = slots[static_cast<size_t>(q)] * rows_ + row_of(cell.level, cell.row, cell.col);
        float* p = place + at * 5;
        p[0] = (static_cast<float>(cell.col) + 0.5F) * side;
        p[1] = (static_cast<float>(cell.row) + 0.5F) * side;
        p[2] = static_cast<float>(cell.level + octaves[static_cast<size_t>(q)]);
        p[3] = cell.relevance;
        p[4] = 1;
        if (label && cell.level <= 0) {
          const int width = cell.level == 0 ? grid() : 2 * grid();
          const auto& from = cell.level == 0 ? s.tokens : s.halves;
          const uint8_t* symbols =
              &from[(static_cast<size_t>(cell.row) * width + cell.col) * tiny::kGlyphSlots];
          for (int k = 0; k < tiny::kGlyphSlots; ++k)
            label[at * tiny::kGlyphSlots + k] = symbols[k];
        }
      }
    }
  });
  std::vector<int64_t> enlarged, quadrant;
  for (int64_t q = 0; q < questions; ++q)
    for (size_t i = 0; i < cells[static_cast<size_t>(q)].size(); ++i) {
      const Cell& cell = cells[static_cast<size_t>(q)][i];
      if (cell.level >= 0) continue;
      enlarged.push_back(q * n + static_cast<int64_t>(i));
      quadrant.push_back(2 * (cell.row % 2) + cell.col % 2);
    }

  tiny::Look look;
  Tensor patches = patches_.index_select(0, send(rows.view({-1}), device_));
  if (!enlarged.empty()) {
    Tensor where = send(at::tensor(enlarged, at::kLong), device_);
    Tensor which = send(at::tensor(quadrant, at::kLong), device_);
    patches.index_copy_(0, where, enlarge(patches.index_select(0, where), which));
  }
  look.patches = patches.view({questions, n, kPatchBytes});
  Tensor sent = send(places, device_);
  look.centre = sent.narrow(2, 0, 2);
  look.scale = sent.select(2, 2);
  look.relevance = sent.select(2, 3);
  look.real = sent.select(2, 4).gt(0.5);
  look.extent = send(sizes, device_);
  if (glyphs) *glyphs = send(labels, device_);
  return look;
}

}  // namespace arrcoc::training
