// The network that looks: which cells of a page does a question need?
//
// The page part runs once per picture: full-resolution pixels by space-to-depth, strided dense
// convolutions down to cells of 16x8 pixels where characters are named (glyph loss), a row
// convolution that forms words in cells of 16x32, and axial blocks (attention along rows, then
// along columns). The question part matches those cells with the question's characters by
// cross-attention and spreads the match along rows and columns: values stand beside or below keys.
// Before that the question looks its own words up in the page, so that "agree" brings along where
// the legend names it and in which colour: no row or column joins a legend with its bars.
#pragma once

#include <algorithm>
#include <vector>

#include "models/tiny/prepared.h"
#include "models/tiny/tiny.h"

namespace arrcoc::tiny {

inline constexpr int kStride = 4;  // pixels per stem cell
inline constexpr int kTextureChannels = 13;
inline constexpr int kCellHeight = 16, kGlyphWidth = 8, kWordWidth = 32;

// P pictures on canvases of H x W pixels (multiples of 32), real content at the top left.
struct Page {
  Tensor pixels;   // [P,H/4,W/4,48] uint8: 4x4 pixels of RGB per stem cell
  Tensor texture;  // [P,H/4,W/4,13] compact channels, area-pooled
  Tensor extent;   // [P,2] float: width, height of the real content in pixels
};

struct PageFeatures {
  Tensor cells;        // [P,H/16,W/8,cell]: where characters are named; not in 8 bits
  Tensor words;        // [P,H/16,W/32,ask]
  Tensor text;         // [P,H/16,W/16] logits of the text mask
  Tensor row_mask;     // [P,1,1,W/32] additive, columns beyond the picture
  Tensor column_mask;  // [P,1,1,H/16] additive, rows beyond the picture
  KeysValues index;    // what questions look up, [P,heads,H/16*W/32,32]; undefined without lookups
  int64_t bytes() const;
};

// After the first question block only the likeliest rows of cells go on: they cost the most, and
// no budget could pay for more of them in detail. Parameters from before there were lookups go on
// with the share that they were trained with.
inline int64_t rows_kept(int64_t rows, int lookups) {
  return std::min(
      rows, lookups > 0 ? std::max<int64_t>(24, rows * 3 / 8) : std::max<int64_t>(32, rows / 2));
}

struct Judgement {
  Tensor relevance;  // [Q,H/16,W/16] logits
  Tensor first;      // the same after the first block; undefined where all rows went on
  Tensor looked_up;  // [Q,T,H/16*W/32] logits of the first head's lookup, with gradients only
  Tensor tier;       // [Q,kTiers] logits
  Tensor tensions;   // [Q,3] in [0,1]: compress, exploit, focus
};

inline constexpr double kSharpness = 0.6;  // of maps: 1 trusts the order of cells most
// Logits [Q,rows,cols] -> relevance in [0,1]: sigmoid(top) * exp(0.6 (z - top)). Where several
// cells would saturate near 1 it keeps their order and distance, so that a budget goes to the best
// cell first and the answerer sees which one that is.
Tensor relevance_of(const Tensor& logits);

struct Recalled;  // history.h

class RealizerNet {
 public:
  explicit RealizerNet(const Shape& shape);
  const Layout& layout() const { return layout_; }
  // Question blocks keep their inputs only (see recompute.h).
  void set_recompute(bool on) { recompute_ = on; }

  PageFeatures read(const Parameters& w, const Page& page, at::ScalarType type) const;
  // [.., cell] -> [.., kCellSlots, kSymbols] logits.
  Tensor glyphs(const Parameters& w, const Tensor& cells) const;
  // question [Q,T] symbols; page_of [Q] int64: which page each question asks about. each > 0 says
  // that every page has so many questions, one page after the other: then gradients of a page are
  // plain sums instead of scattered additions. recalled: what earlier passes saw and answered.
  Judgement judge(const Parameters& w, const PageFeatures& page, const Tensor& question,
                  const Tensor& page_of, int64_t each = 0,
                  const Recalled* recalled = nullptr) const;

 private:
  // Characters [Q,T] after the question's layers, [Q,T,ask]; then with what they mean here: the
  // last answer and what they found in the page.
  Tensor spell(const Parameters& w, const Tensor& symbols, const Tensor& mask) const;
  Tensor hear(const Parameters& w, const PageFeatures& page, const Tensor& question,
              const Tensor& mask, const Tensor& page_of, int64_t each, const Recalled* recalled,
              Tensor& looked_up) const;
  // The question's characters [Q,T,ask] look into the pages.
  Tensor look_up(const Parameters& w, const PageFeatures& page, const Tensor& asked,
                 const Tensor& page_of, int64_t each, Tensor* logits) const;
  struct Axial {  // rows, columns, MLP
    Norm norm1, norm2, norm3;
    Attention row, column;
    Mlp mlp;
    Axial(Layout& layout, const std::string& name, int64_t width, int heads, int64_t hidden,
          float gain);
    Tensor operator()(const Parameters& w, const Tensor& x, const Tensor& row_mask,
                      const Tensor& column_mask) const;
    // In 8 bits, x [b,rows,cols,d] in place; what its rows look at before.
    void run(const Parameters& w, const Tensor& x, int64_t b, int64_t rows, int64_t cols,
             const Tensor& row_mask, const Tensor& column_mask,
             const Sublayers::Other& before) const;
  };
  // Pixels to normalised cells, [P,H/16,W/8,cell].
  Tensor stem(const Parameters& w, const Page& page, at::ScalarType type) const;
  // The same in 8 bits: bytes of GELU(cells) for word_, and text_ of the cells [P,H/16,W/8]; then
  // what word_ makes of those bytes.
  Tensor fast_stem(const Parameters& w, const Page& page, Tensor& text) const;
  Tensor fast_cells(const Parameters& w, const Page& page) const;  // bytes of GELU(stem1)
  Tensor fast_words(const Parameters& w, const Tensor& packed, const Tensor& places) const;
  // The cells x [Q,rows,cols,ask] meet the question, then each other.
  Tensor ask_block(const Parameters& w, size_t i, const Tensor& x, const Tensor& asked,
                   const Tensor& word_mask, const Tensor& row_mask,
                   const Tensor& column_mask) const;
  Shape shape_;
  Layout layout_;
  bool recompute_ = false;
  Conv stem1_, stem2_, stem3_, stem4_, stem5_, stem6_, word_;
  Norm norm2_, norm3_, norm5_, norm6_, word_norm_;
  Linear place_, narrow_, glyph_, text_;
  std::vector<Axial> page_blocks_, ask_blocks_;
  int symbols_, places_;
  Conv ngram_;
  std::vector<Layer> question_layers_;
  Norm index_norm_, lookup_norm_;
  Attention lookup_;
  Norm question_norm_, final_;
  std::vector<Norm> cross_norms_;
  std::vector<Attention> cross_;
  Linear relevance_, tier_, tensions_;
};

}  // namespace arrcoc::tiny
