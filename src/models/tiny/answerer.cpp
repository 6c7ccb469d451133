#include "models/tiny/answerer.h"

#include <cmath>

#include "models/tiny/page.h"
#include "models/tiny/prepared.h"
#include "models/tiny/recompute.h"

namespace arrcoc::tiny {
namespace {

constexpr int kPixels = 768;                            // 16 * 16 * 3
constexpr int kRing = kWide * kWide - kPatch * kPatch;  // pixels of the margin
constexpr int kWaves = 11;  // wavelengths 16, 32, ... 16384 native pixels
constexpr int kPlace = 4 * kWaves + 6 + 6;

// Adds the look's own numbers as they are and as waves, so that neighbours at any scale are easy to
// tell: pixel position (waves), position in the picture, scale (waves of 2, 4, 8 octaves), size.
Tensor place_features(const AnswererInput& look) {
  Tensor x = look.centre.select(2, 0), y = look.centre.select(2, 1);
  Tensor width = look.extent.select(1, 0).unsqueeze(1),
         height = look.extent.select(1, 1).unsqueeze(1);
  Tensor longer = at::maximum(width, height).log2().sub(10).expand_as(x);
  Tensor plain = at::stack({x / width, y / height, look.scale / 6, look.scale.mul(0.25).square(),
                            look.relevance, longer},
                           -1);
  return at::cat({waves(x, 16, kWaves), waves(y, 16, kWaves), waves(look.scale, 2, 3), plain}, -1);
}

// Margin of patches [Q,N,24,24] as [Q,N,320]: above, below, left, right.
Tensor ring_of(const Tensor& wide) {
  const int64_t q = wide.size(0), n = wide.size(1), far = kMargin + kPatch;
  const auto flat = [&](const Tensor& part) { return part.reshape({q, n, -1}); };
  Tensor middle = wide.narrow(2, kMargin, kPatch);
  return at::cat({flat(wide.narrow(2, 0, kMargin)), flat(wide.narrow(2, far, kMargin)),
                  flat(middle.narrow(3, 0, kMargin)), flat(middle.narrow(3, far, kMargin))},
                 2);
}

}  // namespace

Answerer::Answerer(const Shape& shape) : shape_(shape) {
  const int64_t d = shape.width;
  const float gain = 1 / std::sqrt(2.0F * static_cast<float>(shape.encoder_layers + 1));
  // Pixels as they are and after per-patch contrast normalisation: faint print reads the same.
  patch_ = Linear(layout_, "patch", 2 * kPixels, d);
  // Letters reach over the patch's edge: brightness of the pixels around, at the same contrast.
  ring_ = layout_.add("ring", {d, kRing}, Init::normal, 0.02F);
  patch2_ = Linear(layout_, "patch2", d, d);
  place_ = Linear(layout_, "place", kPlace, d);
  symbols_ = layout_.add("symbols", {kSymbols, d}, Init::normal, 0.5F);
  question_places_ = layout_.add("question_places", {kMaxQuestion, d}, Init::normal, 0.2F);
  answer_places_ = layout_.add("answer_places", {kMaxAnswer + 1, d}, Init::normal, 0.2F);
  for (int i = 0; i < shape.encoder_layers; ++i)
    layers_.emplace_back(layout_, "encoder." + std::to_string(i), d, shape.heads, shape.mlp, gain);
  level_ = Linear(layout_, "adapter.level", kPlace, d, 0.5F);
  quality_ = Linear(layout_, "adapter.quality", d, 1);
  gate_ = Linear(layout_, "adapter.gate", d, d);
  context_ = Layer(layout_, "adapter.context", d, shape.heads, shape.mlp, gain);
  token_norm_ = Norm(layout_, "adapter.norm", d);
  memory_norm_ = Norm(layout_, "memory_norm", d);
  glyph_ = Linear(layout_, "glyph", d, kGlyphSlots * kSymbols);
  const float decoder_gain = 1 / std::sqrt(3.0F * static_cast<float>(shape.decoder_layers));
  for (int i = 0; i < shape.decoder_layers; ++i) {
    const std::string name = "decoder." + std::to_string(i);
    decoder_.push_back({Norm(layout_, name + ".norm1", d), Norm(layout_, name + ".norm2", d),
                        Norm(layout_, name + ".norm3", d),
                        Attention(layout_, name + ".self", d, d, shape.heads, decoder_gain),
                        Attention(layout_, name + ".cross", d, d, shape.heads, decoder_gain),
                        Mlp(layout_, name + ".mlp", d, shape.mlp, decoder_gain)});
  }
  final_ = Norm(layout_, "final", d);
  out_ = Linear(layout_, "out", d, kSymbols);
}

Tensor Answerer::patches(const Parameters& w, const Tensor& patches, at::ScalarType type) const {
  const int64_t q = patches.size(0), n = patches.size(1);
  Tensor wide = patches.view({q, n, kWide, kWide, 3});
  Tensor pixels = wide.narrow(2, kMargin, kPatch)
                      .narrow(3, kMargin, kPatch)
                      .to(type)
                      .div(127.5)
                      .sub(1)
                      .reshape({q, n, kPixels});
  Tensor mean = pixels.mean({2}, true);
  Tensor flat = pixels - mean;
  Tensor deviation = flat.square().mean({2}, true).add(1e-3).sqrt();
  Tensor around = ring_of(wide.to(type).mean({4})).div(127.5).sub(1);
  return patch_(w, at::cat({pixels, flat / deviation}, 2)) +
         at::linear((around - mean) / deviation, w[ring_]);
}

Tensor Answerer::embed(const Parameters& w, const AnswererInput& look, const Tensor& where,
                       at::ScalarType type) const {
  Tensor h = w.fast ? fast_patches(w, look.patches) : patches(w, look.patches, type);
  h = h + patch2_(w, at::gelu(h));
  h = h + place_(w, where);
  return at::cat({h, embed_question(w, look.question)}, 1);
}

Tensor Answerer::embed_question(const Parameters& w, const Tensor& question) const {
  return at::embedding(w[symbols_], question) + w[question_places_].narrow(0, 0, question.size(1));
}

Tensor Answerer::through_layers(const Parameters& w, Tensor x, const Tensor& mask) const {
  if (w.fast) return w.fast->layers(w, pointers_to(layers_), x, mask);
  for (const Layer& layer : layers_) {
    const auto part = [&layer, mask](const Parameters& w, const Tensor& x) {
      return layer(w, x, mask);
    };
    x = recompute_ ? recomputed(part, *w.tensors, x) : part(w, x);
  }
  return x;
}

Tensor Answerer::encode_picture(const Parameters& w, const AnswererInput& look, at::ScalarType type,
                                Tensor& mask) const {
  AnswererInput alone = look;
  alone.question = at::zeros({look.patches.size(0), 0}, look.patches.options().dtype(at::kLong));
  mask = additive_mask(look.real, type);
  return through_layers(w, embed(w, alone, place_features(look).to(type), type), mask);
}

Memory Answerer::encode_given(const Parameters& w, const Tensor& given, const Tensor& question,
                              bool adapter) const {
  const int64_t q = given.size(0), n = given.size(1);
  const Tensor real =
      at::cat({at::ones({q, n}, question.options().dtype(at::kBool)), question.ne(kPad)}, 1);
  const Tensor mask = additive_mask(real, given.scalar_type());
  const Tensor x = through_layers(w, at::cat({given, embed_question(w, question)}, 1), mask);
  if (!adapter)
    return {memory_norm_(w, x), mask, at::ones({q, n}, given.options().dtype(at::kFloat))};
  return adapt(w, x, at::zeros({q, n, kPlace}, given.options()), mask);
}

Memory Answerer::encode(const Parameters& w, const AnswererInput& look, at::ScalarType type,
                        bool adapter) const {
  Tensor where = place_features(look).to(type);
  Tensor x = embed(w, look, where, type);
  Tensor real = at::cat({look.real, look.question.ne(kPad)}, 1);
  Tensor mask = additive_mask(real, type);
  x = through_layers(w, x, mask);
  if (!adapter) return {memory_norm_(w, x), mask, at::ones_like(look.scale)};
  return adapt(w, x, where, mask);
}

// Quality adapter: what is this token worth at its level, given the others?
Memory Answerer::adapt(const Parameters& w, const Tensor& x, const Tensor& where,
                       const Tensor& mask) const {
  const int64_t n = where.size(1), t = x.size(1) - n;
  Tensor tokens = x.narrow(1, 0, n), words = x.narrow(1, n, t);
  Tensor levelled = tokens + level_(w, where);
  Tensor quality = at::sigmoid(quality_(w, levelled));
  Tensor mixed = context_(w, at::cat({levelled * quality, words}, 1), mask);
  Tensor seen = mixed.narrow(1, 0, n);
  Tensor gate = at::sigmoid(gate_(w, seen));
  Tensor out = gate * seen + (1 - gate) * token_norm_(w, seen);
  Memory memory;
  memory.states = memory_norm_(w, at::cat({out, mixed.narrow(1, n, t)}, 1));
  memory.mask = mask;
  memory.quality = quality.squeeze(2);
  return memory;
}

Memory Answerer::encode_fewer(const Parameters& w, const AnswererInput& given,
                              const Reducer& reducer, int64_t budget, Flow& flow,
                              bool adapter) const {
  // Pads are nobody's characters: a reducer must not see what they look at.
  AnswererInput look = given;
  look.question = given.question.narrow(1, 0, given.question.ne(kPad).sum().item<int64_t>());
  const int64_t n = look.patches.size(1), d = shape_.width, heads = shape_.heads;
  flow.states = embed(w, look, place_features(look), at::kFloat)[0];
  flow.size = at::ones({n}, flow.states.options());
  flow.centre = look.centre[0];
  flow.scale = look.scale[0];
  flow.first = at::arange(n, at::kLong);
  const auto plain_mask = [&] {
    return at::zeros({1, 1, 1, flow.states.size(0)}, flow.states.options());
  };
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const Tensor normal = layer.norm1(w, flow.states.unsqueeze(0));
    const KeysValues past = layer.attention.remember(w, normal);
    Tensor mask = plain_mask();
    if (reducer.proportional()) mask.view({-1}).narrow(0, 0, flow.tokens()) += flow.size.log();
    // As in Attention, but the queries are kept for the reducer instead of made twice.
    const Tensor queries =
        layer.attention.query(w, normal).view({1, -1, heads, d / heads}).transpose(1, 2);
    const Tensor seen = attend(queries, past.keys, past.values, mask, false);
    flow.states = flow.states + layer.attention.out(w, seen.transpose(1, 2).reshape({-1, d}));
    const LayerSight sight{static_cast<int>(i), static_cast<int>(layers_.size()), queries[0],
                           past.keys[0], flow.tokens()};
    reducer.inside(sight, flow, budget);
    flow.states = flow.states + layer.mlp(w, layer.norm2(w, flow.states));
    reducer.after(sight, flow, budget);
  }
  AnswererInput left = look;
  left.centre = flow.centre.unsqueeze(0);
  left.scale = flow.scale.unsqueeze(0);
  left.relevance = look.relevance.index_select(1, flow.first);
  const Tensor x = flow.states.unsqueeze(0), mask = plain_mask();
  if (!adapter) return {memory_norm_(w, x), mask, at::ones_like(left.scale)};
  return adapt(w, x, place_features(left), mask);
}

Tensor Answerer::glyphs(const Parameters& w, const Tensor& states) const {
  std::vector<int64_t> sizes = states.sizes().vec();
  sizes.back() = kGlyphSlots;
  sizes.push_back(kSymbols);
  return glyph_(w, states).view(sizes);
}

Tensor Answerer::write(const Parameters& w, const Memory& memory, const Tensor& previous) const {
  Tensor x =
      at::embedding(w[symbols_], previous) + w[answer_places_].narrow(0, 0, previous.size(1));
  for (const DecoderLayer& layer : decoder_) {
    Tensor n = layer.norm1(w, x);
    x = x + layer.self(w, n, layer.self.remember(w, n), {}, true);
    x = x + layer.cross(w, layer.norm2(w, x), layer.cross.remember(w, memory.states), memory.mask);
    x = x + layer.mlp(w, layer.norm3(w, x));
  }
  return out_(w, final_(w, x));
}

Tensor Answerer::decode(const Parameters& w, const Memory& memory, const Tensor& symbol,
                        int64_t place, Decoding& past, Tensor* looked) const {
  if (w.fast) return fast_decode(w, memory, symbol, place, past, looked);
  Tensor x = at::embedding(w[symbols_], symbol) + w[answer_places_].narrow(0, place, 1);
  for (size_t i = 0; i < decoder_.size(); ++i) {
    const DecoderLayer& layer = decoder_[i];
    Tensor n = layer.norm1(w, x), shares;
    KeysValues now = layer.self.remember(w, n);
    if (place > 0) {
      now.keys = at::cat({past.self[i].keys, now.keys}, 2);
      now.values = at::cat({past.self[i].values, now.values}, 2);
    }
    past.self[i] = now;
    x = x + layer.self(w, n, now, {});
    x = x + layer.cross(w, layer.norm2(w, x), past.cross[i], memory.mask, false,
                        looked ? &shares : nullptr);
    if (looked) *looked += shares.select(2, 0).narrow(2, 0, looked->size(1)).to(at::kFloat).mean(1);
    x = x + layer.mlp(w, layer.norm3(w, x));
  }
  return at::softmax(out_(w, final_(w, x)).select(1, 0).to(at::kFloat), -1);
}

namespace {

// symbols, probabilities [B,steps], focus [B,tokens], all on the CPU.
Answerer::Written collected(const Tensor& symbols, const Tensor& probabilities, const Tensor& focus,
                            int longest) {
  const int64_t batch = symbols.size(0), tokens = focus.size(1);
  Answerer::Written out;
  out.symbols.resize(batch);
  out.probabilities.resize(batch);
  out.focus.resize(batch);
  auto s = symbols.accessor<int64_t, 2>();
  auto p = probabilities.accessor<float, 2>();
  for (int64_t b = 0; b < batch; ++b) {
    out.focus[b].assign(focus[b].data_ptr<float>(), focus[b].data_ptr<float>() + tokens);
    for (int64_t i = 0; i < symbols.size(1); ++i) {
      out.probabilities[b].push_back(p[b][i]);
      if (s[b][i] == kEnd || i == longest) break;
      out.symbols[b].push_back(static_cast<uint8_t>(s[b][i]));
    }
  }
  return out;
}

void tell(const Tensor& symbol, const Answerer::OnSymbol& hear) {
  const Tensor chosen = symbol.to(at::kCPU);
  for (int64_t b = 0; b < chosen.size(0); ++b)
    if (const int64_t s = chosen[b][0].item<int64_t>(); s != kEnd) hear(b, static_cast<uint8_t>(s));
}

}  // namespace

Answerer::Written Answerer::write_greedy(const Parameters& w, const Memory& memory, int longest,
                                         int64_t tokens, const OnSymbol& hear) const {
  const int64_t batch = memory.states.size(0);
  Decoding past{{}, std::vector<KeysValues>(decoder_.size())};
  for (const DecoderLayer& layer : decoder_)
    past.cross.push_back(layer.cross.remember(w, memory.states));
  Tensor symbol = at::full({batch, 1}, kEnd, memory.states.options().dtype(at::kLong));
  Tensor ended = at::zeros({batch, 1}, symbol.options().dtype(at::kBool));
  Tensors symbols, probabilities;
  Tensor focus = at::zeros({batch, tokens}, memory.states.options().dtype(at::kFloat));
  Tensor written = at::zeros({batch, 1}, focus.options());
  for (int step = 0; step <= longest; ++step) {
    Tensor looked = at::zeros_like(focus);
    Tensor p = decode(w, memory, symbol, step, past, tokens > 0 ? &looked : nullptr);
    auto [best, which] = p.max(-1, true);
    symbol = which.masked_fill(ended, kEnd);
    symbols.push_back(symbol);
    probabilities.push_back(best);
    ended = ended.logical_or(symbol.eq(kEnd));
    // The end mark is read from no place in particular: it does not count.
    if (tokens > 0) {
      Tensor counts = ended.logical_not().to(at::kFloat);
      focus += looked * counts / static_cast<double>(decoder_.size());
      written += counts;
    }
    if (hear && step < longest) tell(symbol, hear);
    // Looking whether all have ended waits for the device; every fourth step is often enough.
    const bool here = batch == 1 && ended.is_cpu();
    if ((step % 4 == 3 || here) && ended.all().item<bool>()) break;
  }
  focus = (focus / written.clamp_min(1)).to(at::kCPU).contiguous();
  return collected(at::cat(symbols, 1).to(at::kCPU), at::cat(probabilities, 1).to(at::kCPU), focus,
                   longest);
}

// Rows of all answers' candidates, `width` an answer, likeliest first.
struct Answerer::Beams {
  Tensor symbols, probabilities;  // [B*width,steps]
  Tensor scores;                  // [B,width] sums of logarithms
  Tensor ended, written;          // [B*width,1]
  Tensor focus;                   // [B*width,tokens]

  Beams(int64_t batch, int64_t width, int64_t tokens, const at::TensorOptions& options)
      : symbols(at::zeros({batch * width, 0}, options.dtype(at::kLong))),
        probabilities(at::zeros({batch * width, 0}, options.dtype(at::kFloat))),
        scores(at::full({batch, width}, kNever, probabilities.options())),
        ended(at::zeros({batch * width, 1}, options.dtype(at::kBool))),
        written(at::zeros({batch * width, 1}, probabilities.options())),
        focus(at::zeros({batch * width, tokens}, probabilities.options())) {
    scores.select(1, 0).zero_();  // all candidates begin alike: one is enough
  }

  // The likeliest continuations by probabilities [B*width,kSymbols]; returns the rows they go on
  // from.
  Tensor go_on(const Tensor& next, const Tensor& looked) {
    const int64_t batch = scores.size(0), width = scores.size(1), rows = batch * width;
    Tensor only_end = at::full_like(next, kNever);
    only_end.select(1, kEnd).zero_();
    const Tensor logs = at::where(ended, only_end, next.clamp_min(1e-30).log());
    auto [best, which] =
        (scores.view({rows, 1}) + logs).view({batch, -1}).topk(width, 1, true, true);
    const Tensor first = at::arange(batch, which.options()).mul(width).unsqueeze(1);
    const Tensor from = (which.div(kSymbols, "floor") + first).view({rows});
    const Tensor symbol = which.remainder(kSymbols).view({rows, 1});
    scores = best.contiguous();
    symbols = at::cat({symbols.index_select(0, from), symbol}, 1);
    probabilities = at::cat(
        {probabilities.index_select(0, from), next.index_select(0, from).gather(1, symbol)}, 1);
    ended = ended.index_select(0, from).logical_or(symbol.eq(kEnd));
    const Tensor counts = ended.logical_not().to(at::kFloat);
    focus = focus.index_select(0, from) + looked.index_select(0, from) * counts;
    written = written.index_select(0, from) + counts;
    return from;
  }

  // Scores only fall: an answer whose likeliest candidate has ended is known.
  bool known() const { return ended.view(scores.sizes()).select(1, 0).all().item<bool>(); }

 private:
  static constexpr double kNever = -1e9;
};

Answerer::Written Answerer::write_beam(const Parameters& w, const Memory& memory, int width,
                                       int longest, int64_t tokens, const OnSymbol& hear) const {
  const int64_t batch = memory.states.size(0);
  const auto whole = memory.states.options().dtype(at::kLong);
  const Tensor answer_of = at::arange(batch * width, whole).div(width, "floor");
  Decoding past{{}, std::vector<KeysValues>(decoder_.size())};
  for (const DecoderLayer& layer : decoder_)
    past.cross.push_back(layer.cross.remember(w, memory.states));
  Memory wide;
  wide.mask = memory.mask;
  if (!w.fast) {  // in 8 bits all candidates of an answer read the same rows
    for (KeysValues& read : past.cross)
      read = {read.keys.index_select(0, answer_of), read.values.index_select(0, answer_of)};
    wide.mask = memory.mask.index_select(0, answer_of);
  }
  Beams beams(batch, width, tokens, memory.states.options());
  Tensor symbol = at::full({batch * width, 1}, kEnd, whole);
  for (int step = 0; step <= longest; ++step) {
    Tensor looked = at::zeros_like(beams.focus);
    const Tensor next = decode(w, wide, symbol, step, past, tokens > 0 ? &looked : nullptr);
    const Tensor from = beams.go_on(next, looked / static_cast<double>(decoder_.size()));
    if (w.fast) {
      for (Tensor& written : past.written) written = written.index_select(0, from);
    } else {
      for (KeysValues& written : past.self)
        written = {written.keys.index_select(0, from), written.values.index_select(0, from)};
    }
    symbol = beams.symbols.narrow(1, step, 1);
    const bool here = batch == 1 && symbol.is_cpu();
    if ((step % 4 == 3 || here) && beams.known()) break;
  }
  const Tensor best = at::arange(batch, whole).mul(width);
  const auto chosen = [&](const Tensor& rows) {
    return rows.index_select(0, best).to(at::kCPU).contiguous();
  };
  Written out = collected(chosen(beams.symbols), chosen(beams.probabilities),
                          chosen(beams.focus / beams.written.clamp_min(1)), longest);
  if (hear)
    for (int64_t b = 0; b < batch; ++b)
      for (uint8_t s : out.symbols[static_cast<size_t>(b)]) hear(b, s);
  return out;
}

}  // namespace arrcoc::tiny
