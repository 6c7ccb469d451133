#include "lab/train/pool.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

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

Pool::Pool(std::vector<Shelf> shelves, at::Device device, at::ScalarType type)
    : shelves_(std::move(shelves)), device_(device), type_(type) {
  const auto bytes = at::TensorOptions(device).dtype(at::kByte);
  int64_t rows = 0;
  int slots = 0;
  for (Shelf& shelf : shelves_) {
    if (shelf.canvas < 32 || (shelf.canvas & (shelf.canvas - 1)) != 0)
      throw Error(ErrorCode::bad_argument,
                  "canvas must be a power of two from 32, not " + std::to_string(shelf.canvas));
    const bool apart = shelf.native != 0;
    if (!apart) shelf.native = shelf.canvas;
    Place place;
    place.first = slots;
    place.base = rows;
    const Geometry whole{shelf.native, shelf.native, 0};
    for (int level = 0; level <= whole.coarsest(); ++level) {
      place.offsets.push_back(place.rows);
      place.columns.push_back(whole.grid(level).cols);
      place.rows += whole.grid(level).cells();
    }
    const int64_t stem = shelf.canvas / tiny::kStride;
    place.texture = at::zeros({shelf.slots, stem, stem, tiny::kTextureChannels},
                              at::TensorOptions(device).dtype(type));
    if (apart) place.frames = at::zeros({shelf.slots, stem, stem, 48}, bytes);
    rows += place.rows * shelf.slots;
    slots += shelf.slots;
    places_.push_back(std::move(place));
  }
  patches_ = at::zeros({rows, kPatchBytes}, bytes);
  samples_.resize(static_cast<size_t>(slots));
}

size_t Pool::shelf_of(int slot) const {
  size_t shelf = 0;
  while (shelf + 1 < places_.size() && places_[shelf + 1].first <= slot) ++shelf;
  return shelf;
}

namespace {

// The last row and column go on until the sides of [B,h,w,c] are `side`.
Tensor extended(const Tensor& pictures, int64_t side) {
  Tensor out = pictures;
  for (int64_t axis = 1; axis <= 2; ++axis) {
    const int64_t more = side - out.size(axis);
    if (more <= 0) continue;
    std::vector<int64_t> sizes = out.sizes().vec();
    sizes[static_cast<size_t>(axis)] = more;
    out = at::cat({out, out.narrow(axis, out.size(axis) - 1, 1).expand(sizes)}, axis);
  }
  return out;
}

}  // namespace

void Pool::put(const std::vector<int>& slots,
               const std::vector<std::shared_ptr<const Sample>>& samples) {
  if (slots.empty()) return;
  at::NoGradGuard no_grad;
  const Place& place = places_[shelf_of(slots.front())];
  constexpr size_t kTogether = 8;  // floats of 8 pictures at a time are enough to keep it busy
  for (size_t first = 0; first < slots.size(); first += kTogether) {
    const size_t last = std::min(slots.size(), first + kTogether);
    std::vector<Tensor> canvases, natives;
    std::vector<float> sizes;
    for (size_t i = first; i < last; ++i) {
      canvases.push_back(send(samples[i]->pixels, device_));
      if (place.frames.defined()) natives.push_back(send(samples[i]->picture, device_));
      sizes.push_back(static_cast<float>(samples[i]->geometry.width));
      sizes.push_back(static_cast<float>(samples[i]->geometry.height));
    }
    const int64_t count = static_cast<int64_t>(last - first);
    Tensor canvas = at::stack(canvases);
    Tensor extent = send(at::tensor(sizes, at::kFloat).view({count, 2}), device_);
    Tensor texture = tiny::page_texture(canvas, extent).to(type_);
    Tensor frames = place.frames.defined() ? tiny::page_pixels(canvas) : Tensor();
    if (place.frames.defined()) canvas = at::stack(natives);
    std::vector<Tensor> levels;
    for (size_t level = 0; level < place.offsets.size(); ++level) {
      if (level > 0) canvas = tiny::halve(extended(canvas, canvas.size(1) + canvas.size(1) % 2));
      levels.push_back(tiny::patches_of(extended(canvas, int64_t{kPatch} * place.columns[level])));
    }
    Tensor all = at::cat(levels, 1);
    for (int64_t i = 0; i < count; ++i) {
      const int slot = slots[first + static_cast<size_t>(i)];
      const int64_t own = slot - place.first;
      patches_.narrow(0, place.base + own * place.rows, place.rows).copy_(all[i]);
      place.texture[own].copy_(texture[i]);
      if (frames.defined()) place.frames[own].copy_(frames[i]);
      // The pixels now live on the device; labels and questions stay here.
      auto kept = std::make_shared<Sample>(*samples[first + static_cast<size_t>(i)]);
      kept->pixels = kept->picture = Tensor();
      samples_[static_cast<size_t>(slot)] = std::move(kept);
    }
  }
}

tiny::Page Pool::page(const std::vector<int>& slots) const {
  // Shelf by shelf, then into the given order.
  std::vector<Tensor> pixels, textures;
  std::vector<int64_t> order(slots.size());
  int64_t next = 0;
  for (size_t shelf = 0; shelf < places_.size(); ++shelf) {
    const Place& place = places_[shelf];
    std::vector<int64_t> index;
    for (size_t i = 0; i < slots.size(); ++i)
      if (shelf_of(slots[i]) == shelf) {
        index.push_back(slots[i] - place.first);
        order[i] = next++;
      }
    if (index.empty()) continue;
    const Tensor which = send(at::tensor(index, at::kLong), device_);
    const int64_t g = grid(static_cast<int>(shelf));
    if (place.frames.defined()) {
      pixels.push_back(place.frames.index_select(0, which));
    } else {
      Tensor patches = patches_.narrow(0, place.base, place.rows * slots_of(shelf))
                           .view({slots_of(shelf), place.rows, kPatchBytes})
                           .narrow(1, 0, g * g)
                           .index_select(0, which);
      pixels.push_back(tiny::page_pixels_of_patches(patches, g, g));
    }
    textures.push_back(place.texture.index_select(0, which));
  }
  std::vector<float> sizes;
  for (int slot : slots) {
    sizes.push_back(static_cast<float>(sample(slot).geometry.width));
    sizes.push_back(static_cast<float>(sample(slot).geometry.height));
  }
  tiny::Page page;
  page.pixels = pixels.size() == 1 ? pixels[0] : at::cat(pixels);
  page.texture = textures.size() == 1 ? textures[0] : at::cat(textures);
  if (!std::is_sorted(order.begin(), order.end())) {
    const Tensor back = send(at::tensor(order, at::kLong), device_);
    page.pixels = page.pixels.index_select(0, back);
    page.texture = page.texture.index_select(0, back);
  }
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

// What the host knows of the chosen cells, [Q,N,..]: N is the longest list, in multiples of 16.
struct Pool::Chosen {
  Tensor rows, places, sizes;                // places: x, y, scale, relevance, real
  Tensor glyphs, names;                      // where wanted
  std::vector<int64_t> enlarged, quadrants;  // cells of level -1, and which quarter of their patch

  Chosen(const std::vector<std::vector<Cell>>& cells, bool glyphs_too, bool names_too) {
    size_t longest = 1;
    for (const auto& list : cells) longest = std::max(longest, list.size());
    const int64_t questions = static_cast<int64_t>(cells.size());
    const int64_t n = static_cast<int64_t>((longest + 15) / 16 * 16);
    rows = at::zeros({questions, n}, at::kLong);
    places = at::zeros({questions, n, 5}, at::kFloat);
    sizes = at::empty({questions, 2}, at::kFloat);
    if (glyphs_too) glyphs = at::full({questions, n, tiny::kGlyphSlots}, -1, at::kLong);
    if (names_too) names = at::full({questions, n}, -1, at::kLong);
    for (int64_t q = 0; q < questions; ++q)
      for (size_t i = 0; i < cells[static_cast<size_t>(q)].size(); ++i) {
        const Cell& cell = cells[static_cast<size_t>(q)][i];
        if (cell.level >= 0) continue;
        enlarged.push_back(q * n + static_cast<int64_t>(i));
        quadrants.push_back(2 * (cell.row % 2) + cell.col % 2);
      }
  }
};

// One cell; at: its index among all [Q,N].
void Pool::fill(Chosen& out, int64_t at, int slot, const Cell& cell, int octaves) const {
  const Sample& s = sample(slot);
  const Place& own = places_[shelf_of(slot)];
  const float wide = static_cast<float>(Geometry::side(cell.level));
  const float x = (static_cast<float>(cell.col) + 0.5F) * wide;
  const float y = (static_cast<float>(cell.row) + 0.5F) * wide;
  const float zoom = static_cast<float>(1 << octaves);
  out.rows.data_ptr<int64_t>()[at] =
      own.base + (slot - own.first) * own.rows + own.of(cell.level, cell.row, cell.col);
  float* place = out.places.data_ptr<float>() + at * 5;
  place[0] = x * zoom;
  place[1] = y * zoom;
  place[2] = static_cast<float>(cell.level + octaves);
  place[3] = cell.relevance;
  place[4] = 1;
  if (out.names.defined()) out.names.data_ptr<int64_t>()[at] = thing_at(s, x, y, wide * wide);
  if (!out.glyphs.defined() || cell.level > 0) return;
  const int width = cell.level == 0 ? s.columns : 2 * s.columns;
  const auto& from = cell.level == 0 ? s.tokens : s.halves;
  const uint8_t* symbols =
      &from[(static_cast<size_t>(cell.row) * width + cell.col) * tiny::kGlyphSlots];
  int64_t* labels = out.glyphs.data_ptr<int64_t>() + at * tiny::kGlyphSlots;
  for (int k = 0; k < tiny::kGlyphSlots; ++k) labels[k] = label_of(symbols[k]);
}

tiny::AnswererInput Pool::look(const std::vector<int>& slots,
                               const std::vector<std::vector<Cell>>& cells,
                               const std::vector<int>& octaves, at::Tensor* glyphs,
                               at::Tensor* names) const {
  const int64_t questions = static_cast<int64_t>(slots.size());
  Chosen chosen(cells, glyphs != nullptr, names != nullptr);
  const int64_t n = chosen.rows.size(1);
  at::parallel_for(0, questions, 32, [&](int64_t begin, int64_t end) {
    for (int64_t q = begin; q < end; ++q) {
      const size_t which = static_cast<size_t>(q);
      const Geometry& native = sample(slots[which]).native;
      const float zoom = static_cast<float>(1 << octaves[which]);
      chosen.sizes.data_ptr<float>()[2 * q] = zoom * static_cast<float>(native.width);
      chosen.sizes.data_ptr<float>()[2 * q + 1] = zoom * static_cast<float>(native.height);
      for (size_t i = 0; i < cells[which].size(); ++i)
        fill(chosen, q * n + static_cast<int64_t>(i), slots[which], cells[which][i],
             octaves[which]);
    }
  });
  tiny::AnswererInput look;
  Tensor patches = patches_.index_select(0, send(chosen.rows.view({-1}), device_));
  if (!chosen.enlarged.empty()) {
    Tensor where = send(at::tensor(chosen.enlarged, at::kLong), device_);
    Tensor which = send(at::tensor(chosen.quadrants, at::kLong), device_);
    patches.index_copy_(0, where, enlarge(patches.index_select(0, where), which));
  }
  look.patches = patches.view({questions, n, kPatchBytes});
  Tensor sent = send(chosen.places, device_);
  look.centre = sent.narrow(2, 0, 2);
  look.scale = sent.select(2, 2);
  look.relevance = sent.select(2, 3);
  look.real = sent.select(2, 4).gt(0.5);
  look.extent = send(chosen.sizes, device_);
  if (glyphs) *glyphs = send(chosen.glyphs, device_);
  if (names) *names = send(chosen.names, device_);
  return look;
}

}  // namespace arrcoc::training
