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

// Slots for pictures of one kind.
struct Shelf {
  int slots = 0;
  int canvas = 1024;  // pixels along the square canvas that the realizer sees, a power of two
  int native = 0;     // and along the one that tokens are cut from; 0: the same canvas
};

class Pool {
 public:
  Pool(std::vector<Shelf> shelves, at::Device device, at::ScalarType type);
  Pool(int slots, int canvas, at::Device device, at::ScalarType type, int native = 0)
      : Pool({Shelf{slots, canvas, native}}, device, type) {}

  int slots() const { return static_cast<int>(samples_.size()); }
  int slots(int shelf) const { return shelves_[static_cast<size_t>(shelf)].slots; }
  int first(int shelf) const { return places_[static_cast<size_t>(shelf)].first; }
  int grid(int shelf = 0) const { return shelves_[static_cast<size_t>(shelf)].canvas / 16; }
  at::Device device() const { return device_; }
  const Sample& sample(int slot) const { return *samples_[static_cast<size_t>(slot)]; }
  bool filled(int slot) const { return samples_[static_cast<size_t>(slot)] != nullptr; }

  // All slots on one shelf.
  void put(const std::vector<int>& slots,
           const std::vector<std::shared_ptr<const Sample>>& samples);

  // The realizer's input for pictures in `slots`, all on canvases of one size.
  tiny::Page page(const std::vector<int>& slots) const;
  // Patches and places of chosen cells, one list a question, padded to a multiple of 16 tokens.
  // glyphs (optional) receives [Q,N,kGlyphSlots] int64 labels, -1 where none are asked for; names
  // (optional) [Q,N] which thing a token of a photograph shows, -1 where none is known.
  // octaves (one a question): the picture is shown as if it were 2^octaves times as large natively.
  tiny::AnswererInput look(const std::vector<int>& slots,
                           const std::vector<std::vector<Cell>>& cells,
                           const std::vector<int>& octaves, at::Tensor* glyphs,
                           at::Tensor* names = nullptr) const;

 private:
  struct Place {                   // where the pictures of a shelf lie
    int first = 0;                 // slot
    int64_t rows = 0;              // patches of one picture
    int64_t base = 0;              // first patch of the shelf
    std::vector<int64_t> offsets;  // first patch of each level
    std::vector<int> columns;      // cells a row of each level
    at::Tensor texture;            // [slots,canvas/4,canvas/4,13]
    at::Tensor frames;             // [slots,canvas/4,canvas/4,48] uint8, where native is apart
    int64_t of(int level, int row, int col) const {
      if (level < 0) return of(0, row / 2, col / 2);
      return offsets[static_cast<size_t>(level)] +
             static_cast<int64_t>(row) * columns[static_cast<size_t>(level)] + col;
    }
  };
  struct Chosen;
  void fill(Chosen& out, int64_t at, int slot, const Cell& cell, int octaves) const;
  size_t shelf_of(int slot) const;
  int64_t slots_of(size_t shelf) const { return shelves_[shelf].slots; }

  std::vector<Shelf> shelves_;
  std::vector<Place> places_;
  at::Device device_;
  at::ScalarType type_;
  at::Tensor patches_;  // [patches of all slots,1728] uint8
  std::vector<std::shared_ptr<const Sample>> samples_;
};

// Host -> device without waiting for the device.
at::Tensor send(const at::Tensor& host, at::Device device);

}  // namespace arrcoc::training
