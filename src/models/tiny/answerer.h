// The network that reads tokens of any mix of scales and writes the answer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/tiny/layers.h"
#include "models/tiny/reducer.h"
#include "models/tiny/tiny.h"

namespace arrcoc::tiny {

// What the answerer sees of Q questions. Everything on one device.
struct AnswererInput {
  Tensor patches;    // [Q,N,1728] uint8, each patch with its margin [24][24][3]
  Tensor centre;     // [Q,N,2] float: x, y in native pixels
  Tensor scale;      // [Q,N] float: log2(native pixels per patch pixel)
  Tensor relevance;  // [Q,N] float in [0,1]; zero when not known
  Tensor extent;     // [Q,2] float: width, height of the picture in native pixels
  Tensor real;       // [Q,N] bool
  Tensor question;   // [Q,T] int64 symbols, kPad at the end
};

// What the encoder makes of it: tokens and question characters together.
struct Memory {
  Tensor states;   // [Q,N+T,width]
  Tensor mask;     // [Q,1,1,N+T] additive
  Tensor quality;  // [Q,N] in [0,1]
};

class Answerer {
 public:
  explicit Answerer(const Shape& shape);
  const Layout& layout() const { return layout_; }
  // Encoder layers keep their inputs only (see recompute.h).
  void set_recompute(bool on) { recompute_ = on; }

  // Without the adapter the encoder's tokens go to the decoder as they are.
  Memory encode(const Parameters& w, const AnswererInput& look, at::ScalarType type,
                bool adapter = true) const;
  // One question (Q = 1) and real tokens only, for inference: `reducer` leaves at most `budget`
  // tokens; flow says which. Pads of the question are left out of the memory.
  Memory encode_fewer(const Parameters& w, const AnswererInput& look, const Reducer& reducer,
                      int64_t budget, Flow& flow, bool adapter = true) const;
  // The two halves of a Q-Former (query_former.h): states of the tokens when there is no question,
  // [Q,N,width], `mask` becomes theirs; and states [Q,n,width] in the place of embedded tokens,
  // without any place, read together with a question [Q,T].
  Tensor encode_picture(const Parameters& w, const AnswererInput& look, at::ScalarType type,
                        Tensor& mask) const;
  Memory encode_given(const Parameters& w, const Tensor& given, const Tensor& question,
                      bool adapter = true) const;
  // Logits of the characters in each token, [Q,n,kGlyphSlots,kSymbols] for states [Q,n,width].
  Tensor glyphs(const Parameters& w, const Tensor& states) const;
  // Teacher forcing: previous symbols [Q,L] (kEnd first) -> logits [Q,L,kSymbols].
  Tensor write(const Parameters& w, const Memory& memory, const Tensor& previous) const;

  struct Written {
    std::vector<std::vector<uint8_t>> symbols;      // without the end mark
    std::vector<std::vector<float>> probabilities;  // of each symbol, and of the end mark last
    std::vector<std::vector<float>> focus;  // attention of the first `tokens` states, if any
  };
  // Greedy decoding with cached keys and values, at most `longest` symbols. With tokens > 0 it also
  // says which of the first so many states were looked at, mean over symbols, heads and layers.
  // `hear` is told every symbol of every answer as it is chosen.
  using OnSymbol = std::function<void(int64_t which, uint8_t symbol)>;
  Written write_greedy(const Parameters& w, const Memory& memory, int longest = kMaxAnswer,
                       int64_t tokens = 0, const OnSymbol& hear = {}) const;
  // The likeliest answer that a beam of `width` finds; the rest as above, but `hear` is told when
  // the answer is chosen, which is at its end.
  Written write_beam(const Parameters& w, const Memory& memory, int width, int longest = kMaxAnswer,
                     int64_t tokens = 0, const OnSymbol& hear = {}) const;

 private:
  struct DecoderLayer {
    Norm norm1, norm2, norm3;
    Attention self, cross;
    Mlp mlp;
  };

  // Keys and values of what was written and of what is read, one a layer.
  struct Decoding {
    std::vector<KeysValues> cross, self;
    Tensors written;  // of `self` in 8 bits: [rows,length,2,width]
  };
  struct Beams;
  // Probabilities [Q,kSymbols] of the symbol after `symbol` [Q,1] at that place. looked (optional,
  // [Q,tokens]): the attention of all layers is added.
  Tensor decode(const Parameters& w, const Memory& memory, const Tensor& symbol, int64_t place,
                Decoding& past, Tensor* looked) const;
  Tensor fast_decode(const Parameters& w, const Memory& memory, const Tensor& symbol, int64_t place,
                     Decoding& past, Tensor* looked) const;
  Tensor embed_question(const Parameters& w, const Tensor& question) const;  // [Q,T,width]
  Tensor through_layers(const Parameters& w, Tensor x, const Tensor& mask) const;
  // Pixels [Q,N,kPatchBytes] as they are, and those around, for the first layer: [Q,N,width].
  Tensor patches(const Parameters& w, const Tensor& patches, at::ScalarType type) const;
  Tensor fast_patches(const Parameters& w, const Tensor& patches) const;
  // Tokens and characters before the first layer, [Q,N+T,width]; where: place_features.
  Tensor embed(const Parameters& w, const AnswererInput& look, const Tensor& where,
               at::ScalarType type) const;
  Memory adapt(const Parameters& w, const Tensor& x, const Tensor& where, const Tensor& mask) const;

  Shape shape_;
  Layout layout_;
  bool recompute_ = false;
  Linear patch_, patch2_, place_;
  int ring_, symbols_, question_places_, answer_places_;
  std::vector<Layer> layers_;
  Linear level_, quality_, gate_;
  Layer context_;
  Norm token_norm_, memory_norm_;
  Linear glyph_;
  std::vector<DecoderLayer> decoder_;
  Norm final_;
  Linear out_;
};

}  // namespace arrcoc::tiny
