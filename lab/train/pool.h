// Pictures on the device: patches of all mip levels and the texture, computed once per picture.
//
// A step draws its pictures from here at random, so the device never waits for the generator; how
// often a picture is used on average is the ratio of drawn to fresh pictures, which is logged.
#pragma once

#include <memory>
#include <vector>

#include "lab/train/sample.h"
#include "lab/train/tokens.h"
#include "models/tiny/answerer.h"
#include "models/tiny/realizer.h"

namespace arrcoc::training {

class Pool {
 public:
  // canvas: pixels along the square canvas, a power of two.
  Pool(int slots, int canvas, at::Device device, at::ScalarType type);

  int slots() const { return static_cast<int>(samples_.size()); }
  int canvas() const { return canvas_; }
  int grid() const { return canvas_ / 16; }
  at::Device device() const { return device_; }
  const Sample& sample(int slot) const { return *samples_[static_cast<size_t>(slot)]; }
  bool filled(int slot) const { return samples_[static_cast<size_t>(slot)] != nullptr; }

  void put(const std::vector<int>& slots,
           const std::vector<std::shared_ptr<const Sample>>& samples);

  // The realizer's input for pictures in `slots`.
  tiny::Page page(const std::vector<int>& slots) const;
  // Patches and places of chosen cells, one list a question, padded to a multiple of 16 tokens.
  // glyphs (optional) receives [Q,N,kGlyphSlots] int64 labels, -1 where none are asked for.
  // octaves (one a question): the picture is shown as if it were 2^octaves times as large natively.
  tiny::Look look(const std::vector<int>& slots, const std::vector<std::vector<Cell>>& cells,
                  const std::vector<int>& octaves, at::Tensor* glyphs) const;

 private:
  int64_t row_of(int level, int row, int col) const;

  int canvas_;
  at::Device device_;
  at::ScalarType type_;
  std::vector<int64_t> offsets_;  // first row of each level in one picture's patches
  int64_t rows_ = 0;              // patches of one picture
  at::Tensor patches_;            // [slots*rows,1728] uint8
  at::Tensor texture_;            // [slots,canvas/4,canvas/4,13]
  std::vector<std::shared_ptr<const Sample>> samples_;
};

// Host -> device without waiting for the device.
at::Tensor send(const at::Tensor& host, at::Device device);

}  // namespace arrcoc::training
