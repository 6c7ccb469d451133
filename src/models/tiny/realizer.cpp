#include "models/tiny/realizer.h"

#include <ATen/core/grad_mode.h>

#include <cmath>

#include "models/tiny/history.h"
#include "models/tiny/prepared.h"
#include "models/tiny/recompute.h"

namespace arrcoc::tiny {
namespace {

constexpr int kStemInputs = 64;  // 48 pixels, 13 texture channels, 3 zeros: a multiple of 8
constexpr int kHeadWidth = 32;
constexpr int kPlaceWaves = 8;  // 32, 64, ... 4096 pixels
constexpr int kPlace = 4 * kPlaceWaves + 4 * 4 + 2;

// Position of every 16x32 cell: in pixels (waves), and relative to the picture's size (waves).
Tensor place_features(const Tensor& extent, int64_t rows, int64_t cols) {
  const auto options = extent.options();
  Tensor y = at::arange(rows, options).add(0.5).mul(kCellHeight).view({1, rows, 1});
  Tensor x = at::arange(cols, options).add(0.5).mul(kWordWidth).view({1, 1, cols});
  y = y.expand({extent.size(0), rows, cols});
  x = x.expand({extent.size(0), rows, cols});
  Tensor u = x / extent.select(1, 0).view({-1, 1, 1}), v = y / extent.select(1, 1).view({-1, 1, 1});
  return at::cat({waves(x, 32, kPlaceWaves), waves(y, 32, kPlaceWaves), waves(u, 0.25, 4),
                  waves(v, 0.25, 4), u.unsqueeze(-1), v.unsqueeze(-1)},
                 -1);
}

// true for cells that hold some of the picture: [P,count].
Tensor inside(const Tensor& length, int64_t count, int side) {
  Tensor starts = at::arange(count, length.options()).mul(side);
  return starts.unsqueeze(0).lt(length.unsqueeze(1));
}

// Each row `repeat` times in a row: [P,...] -> [P*repeat,...].
Tensor repeat_rows(const Tensor& x, int64_t repeat) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.insert(sizes.begin() + 1, repeat);
  Tensor all = x.unsqueeze(1).expand(sizes);
  sizes.erase(sizes.begin() + 1);
  sizes[0] *= repeat;
  return all.reshape(sizes);
}

// The rows with the strongest cells, in their order: logits [Q,rows,wide], masks of rows beyond the
// picture [Q,rows] and of columns beyond it [Q,cols] -> [Q,kept].
Tensor likeliest_rows(const Tensor& logits, const Tensor& outside, const Tensor& beyond,
                      int64_t kept) {
  const int64_t q = logits.size(0), rows = logits.size(1), cols = beyond.size(1);
  Tensor cells = logits.view({q, rows, cols, -1}).amax(3) + beyond.unsqueeze(1);
  Tensor best = cells.amax(2) + outside;
  return std::get<0>(std::get<1>(best.topk(kept, 1)).sort(1));
}

}  // namespace

Tensor relevance_of(const Tensor& logits) {
  Tensor z = logits.to(at::kFloat);
  Tensor top = z.amax({1, 2}, true);
  return at::sigmoid(top) * (z - top).mul(kSharpness).exp();
}

RealizerNet::Axial::Axial(Layout& layout, const std::string& name, int64_t width, int heads,
                          int64_t hidden, float gain)
    : norm1(layout, name + ".norm1", width),
      norm2(layout, name + ".norm2", width),
      norm3(layout, name + ".norm3", width),
      row(layout, name + ".row", width, width, heads, gain),
      column(layout, name + ".column", width, width, heads, gain),
      mlp(layout, name + ".mlp", width, hidden, gain) {}

Tensor RealizerNet::Axial::operator()(const Parameters& w, const Tensor& x, const Tensor& row_mask,
                                      const Tensor& column_mask) const {
  const int64_t b = x.size(0), rows = x.size(1), cols = x.size(2), d = x.size(3);
  if (w.fast) {
    const Tensor y = x.is_contiguous() ? x : x.contiguous();
    run(w, y, b, rows, cols, row_mask, column_mask, {});
    return y;
  }
  Tensor n = norm1(w, x).view({b * rows, cols, d});
  Tensor y = x + row(w, n, row.remember(w, n), row_mask).view({b, rows, cols, d});
  n = norm2(w, y).transpose(1, 2).reshape({b * cols, rows, d});
  y = y + column(w, n, column.remember(w, n), column_mask).view({b, cols, rows, d}).transpose(1, 2);
  return y + mlp(w, norm3(w, y));
}

RealizerNet::RealizerNet(const Shape& s) : shape_(s) {
  const int64_t c4 = s.stem, c8 = 2 * s.stem;
  stem1_ = Conv(layout_, "stem1", kStemInputs, c4, {1, 1}, {1, 1});
  stem2_ = Conv(layout_, "stem2", c4, c8, {3, 3}, {2, 2});
  norm2_ = Norm(layout_, "stem2_norm", c8);
  stem3_ = Conv(layout_, "stem3", c8, c8, {3, 3}, {1, 1}, 0.7F);
  norm3_ = Norm(layout_, "stem3_norm", c8);
  stem4_ = Conv(layout_, "stem4", c8, s.cell, {3, 3}, {2, 1});
  norm5_ = Norm(layout_, "stem5_norm", s.cell);
  stem5_ = Conv(layout_, "stem5", s.cell, s.cell, {3, 3}, {1, 1}, 0.7F);
  norm6_ = Norm(layout_, "stem6_norm", s.cell);
  stem6_ = Conv(layout_, "stem6", s.cell, s.cell, {3, 3}, {1, 1}, 0.7F);
  glyph_ = Linear(layout_, "glyph", s.cell, kCellSlots * kSymbols);
  text_ = Linear(layout_, "text", s.cell, 1);
  word_norm_ = Norm(layout_, "word_norm", s.cell);
  word_ = Conv(layout_, "word", s.cell, s.page, {1, 11}, {1, 4});
  place_ = Linear(layout_, "place", kPlace, s.page);
  const float page_gain = 1 / std::sqrt(3.0F * static_cast<float>(s.page_layers));
  for (int i = 0; i < s.page_layers; ++i)
    page_blocks_.emplace_back(layout_, "page." + std::to_string(i), s.page, s.page / kHeadWidth,
                              3 * s.page, page_gain);
  narrow_ = Linear(layout_, "narrow", s.page, s.ask);

  symbols_ = layout_.add("symbols", {kSymbols, s.ask}, Init::normal, 0.5F);
  places_ = layout_.add("places", {kMaxQuestion, s.ask}, Init::normal, 0.1F);
  ngram_ = Conv(layout_, "ngram", s.ask, s.ask, {1, 5}, {1, 1}, 1.0F);
  const float question_gain = 1 / std::sqrt(2.0F * static_cast<float>(s.question_layers));
  for (int i = 0; i < s.question_layers; ++i)
    question_layers_.emplace_back(layout_, "question." + std::to_string(i), s.ask,
                                  s.ask / kHeadWidth, 4 * s.ask, question_gain);
  if (s.lookups > 0) {
    index_norm_ = Norm(layout_, "lookup.norm0", s.ask);
    lookup_norm_ = Norm(layout_, "lookup.norm1", s.ask);
    lookup_ = Attention(layout_, "lookup", s.ask, s.ask, s.ask / kHeadWidth, 0.2F);
  }
  question_norm_ = Norm(layout_, "question_norm", s.ask);
  const float ask_gain = 1 / std::sqrt(4.0F * static_cast<float>(s.ask_layers));
  for (int i = 0; i < s.ask_layers; ++i) {
    const std::string name = "ask." + std::to_string(i);
    cross_norms_.emplace_back(layout_, name + ".norm0", s.ask);
    cross_.emplace_back(layout_, name + ".cross", s.ask, s.ask, s.ask / kHeadWidth, 1.0F);
    ask_blocks_.emplace_back(layout_, name, s.ask, s.ask / kHeadWidth, 2 * s.ask, ask_gain);
  }
  final_ = Norm(layout_, "final", s.ask);
  relevance_ = Linear(layout_, "relevance", s.ask, kWordWidth / kCellHeight, 0.3F);
  tier_ = Linear(layout_, "tier", 2 * s.ask, kTiers, 0.3F);
  tensions_ = Linear(layout_, "tensions", 2 * s.ask, 3, 0.3F);
}

int64_t PageFeatures::bytes() const {
  int64_t sum = 0;
  for (const Tensor* t :
       {&cells, &words, &text, &row_mask, &column_mask, &index.keys, &index.values})
    if (t->defined()) sum += static_cast<int64_t>(t->nbytes());
  return sum;
}

Tensor RealizerNet::stem(const Parameters& w, const Page& page, at::ScalarType type) const {
  Tensor pixels = page.pixels.to(type).div(127.5).sub(1);
  std::vector<int64_t> rest = pixels.sizes().vec();
  rest.back() = kStemInputs - 48 - kTextureChannels;
  Tensor x = at::cat({pixels, page.texture.to(type), at::zeros(rest, pixels.options())}, 3);
  x = at::gelu(stem1_(w, x));
  x = norm2_(w, stem2_(w, x));
  x = x + stem3_(w, at::gelu(x));
  x = at::gelu(stem4_(w, norm3_(w, x)));
  x = x + stem5_(w, at::gelu(norm5_(w, x)));
  x = x + stem6_(w, at::gelu(norm6_(w, x)));
  return word_norm_(w, x);
}

PageFeatures RealizerNet::read(const Parameters& w, const Page& page, at::ScalarType type) const {
  Tensor text;
  const Tensor x = w.fast ? fast_stem(w, page, text) : stem(w, page, type);
  PageFeatures out;
  if (!w.fast) {
    out.cells = x;
    text = text_(w, x);
  }
  const int64_t p = x.size(0), rows = x.size(1), glyph_cols = x.size(2);
  const int64_t cols = glyph_cols * kGlyphWidth / kWordWidth;
  out.text = text.view({p, rows, glyph_cols / 2, 2}).mean(3);
  out.row_mask = additive_mask(inside(page.extent.select(1, 0), cols, kWordWidth), type);
  out.column_mask = additive_mask(inside(page.extent.select(1, 1), rows, kCellHeight), type);
  const Tensor places = place_(w, place_features(page.extent, rows, cols).to(type));
  Tensor words = w.fast ? fast_words(w, x, places) : word_(w, at::gelu(x)) + places;
  Tensor row_mask = repeat_rows(out.row_mask, rows);
  Tensor column_mask = repeat_rows(out.column_mask, cols);
  for (const Axial& block : page_blocks_) words = block(w, words, row_mask, column_mask);
  out.words = narrow_(w, words);
  if (shape_.lookups > 0) {
    out.index = lookup_.remember(w, index_norm_(w, out.words).flatten(1, 2));
    out.index = {out.index.keys.contiguous(), out.index.values.contiguous()};
  }
  return out;
}

Tensor RealizerNet::look_up(const Parameters& w, const PageFeatures& page, const Tensor& asked,
                            const Tensor& page_of, int64_t each, Tensor* logits) const {
  KeysValues index = page.index;
  // Cells beyond the picture are not to be found.
  Tensor outside = (page.column_mask.transpose(2, 3) + page.row_mask).flatten(2).unsqueeze(2);
  Tensor x = lookup_norm_(w, asked);
  const int64_t q = x.size(0), t = x.size(1), d = x.size(2);
  if (each > 0) {  // all questions of a page are one long one
    x = x.view({-1, each * t, d});
  } else {
    index = {index.keys.index_select(0, page_of), index.values.index_select(0, page_of)};
    outside = outside.index_select(0, page_of);
  }
  if (logits) {
    Tensor own = lookup_.query(w, x).narrow(2, 0, kHeadWidth).to(at::kFloat);
    Tensor keys = index.keys.select(1, 0).to(at::kFloat);
    *logits = at::matmul(own, keys.transpose(1, 2)) / std::sqrt(static_cast<double>(kHeadWidth));
    *logits = (*logits + outside.squeeze(1)).view({q, t, -1});
  }
  return lookup_(w, x, index, outside).view({q, t, d});
}

Tensor RealizerNet::glyphs(const Parameters& w, const Tensor& cells) const {
  std::vector<int64_t> sizes = cells.sizes().vec();
  sizes.back() = kCellSlots;
  sizes.push_back(kSymbols);
  return glyph_(w, cells).view(sizes);
}

Tensor RealizerNet::ask_block(const Parameters& w, size_t i, const Tensor& x, const Tensor& asked,
                              const Tensor& word_mask, const Tensor& row_mask,
                              const Tensor& column_mask) const {
  const int64_t q = x.size(0), cols = x.size(2), d = x.size(3);
  const KeysValues words = cross_[i].remember(w, asked);
  if (w.fast) {
    ask_blocks_[i].run(w, x, q, x.size(1), cols, row_mask, column_mask,
                       {&cross_norms_[i], &cross_[i], &words, word_mask});
    return x;
  }
  const Tensor n = cross_norms_[i](w, x).view({q, -1, d});
  const Tensor met = x + cross_[i](w, n, words, word_mask).view(x.sizes());
  const auto part = [&block = ask_blocks_[i], row_mask, column_mask](const Parameters& w,
                                                                     const Tensor& x) {
    return block(w, x, row_mask, column_mask);
  };
  return recompute_ ? recomputed(part, *w.tensors, met) : part(w, met);
}

Tensor RealizerNet::spell(const Parameters& w, const Tensor& symbols, const Tensor& mask) const {
  const Tensor chars = at::embedding(w[symbols_], symbols);
  Tensor x =
      chars + ngram_(w, chars.unsqueeze(1)).squeeze(1) + w[places_].narrow(0, 0, symbols.size(1));
  if (w.fast) return w.fast->layers(w, pointers_to(question_layers_), x, mask);
  for (const Layer& layer : question_layers_) x = layer(w, x, mask);
  return x;
}

Tensor RealizerNet::hear(const Parameters& w, const PageFeatures& page, const Tensor& question,
                         const Tensor& mask, const Tensor& page_of, int64_t each,
                         const Recalled* recalled, Tensor& looked_up) const {
  Tensor asked = spell(w, question, mask);
  if (recalled) {
    const Tensor& said = recalled->past.said;
    const Tensor written = additive_mask(said.ne(kPad), mask.scalar_type());
    // Where nothing was said there is nothing to look at, however many pads stand there.
    const Tensor any = said.ne(kPad).any(1).view({-1, 1, 1});
    asked = asked + recalled->net.words(recalled->w, asked, spell(w, said, written), written) * any;
  }
  if (shape_.lookups > 0)
    asked = asked + look_up(w, page, asked, page_of, each,
                            at::GradMode::is_enabled() ? &looked_up : nullptr);
  return question_norm_(w, asked);
}

Judgement RealizerNet::judge(const Parameters& w, const PageFeatures& page, const Tensor& question,
                             const Tensor& page_of, int64_t each, const Recalled* recalled) const {
  const int64_t q = question.size(0);
  const int64_t rows = page.words.size(1), cols = page.words.size(2);
  const at::ScalarType type = page.words.scalar_type();

  Tensor real = question.ne(kPad);
  Tensor word_mask = additive_mask(real, type);
  Judgement out;
  const Tensor asked = hear(w, page, question, word_mask, page_of, each, recalled, out.looked_up);

  const auto of_questions = [&](const Tensor& t) {
    return each > 0 ? repeat_rows(t, each) : t.index_select(0, page_of);
  };
  Tensor x = of_questions(page.words);
  if (w.fast) x = scratch(x.sizes().vec(), at::kFloat).copy_(x);  // blocks work in place
  Tensor past;                                                    // of the rows that go on
  if (recalled) {
    past = recalled->past.cells;
    x = x + recalled->net.cells(recalled->w, past);
  }
  const auto logits = [&](const Tensor& seen) {
    Tensor z = relevance_(w, seen);
    return recalled ? z + recalled->net.logits(recalled->w, seen, past) : z;
  };
  Tensor row_mask = repeat_rows(of_questions(page.row_mask), rows);
  Tensor column_mask = repeat_rows(of_questions(page.column_mask), cols);
  const int64_t kept = rows_kept(rows, shape_.lookups), wide = cols * (kWordWidth / kCellHeight);
  Tensor which;  // [q,kept] rows that go on
  for (size_t i = 0; i < ask_blocks_.size(); ++i) {
    if (i == 1 && kept < rows) {
      out.first = logits(final_(w, x)).view({q, rows, wide});
      Tensor outside = column_mask.view({q, cols, rows}).select(1, 0);
      Tensor beyond = row_mask.view({q, rows, cols}).select(1, 0);
      which = likeliest_rows(out.first.detach(), outside, beyond, kept);
      const auto chosen = [&](const Tensor& all) {
        return all.gather(1, which.view({q, kept, 1, 1}).expand({q, kept, cols, all.size(3)}));
      };
      x = chosen(x);
      if (recalled) past = chosen(past);
      row_mask = repeat_rows(of_questions(page.row_mask), kept);
      column_mask = repeat_rows(outside.gather(1, which).view({q, 1, 1, kept}), cols);
    }
    x = ask_block(w, i, x, asked, word_mask, row_mask, column_mask);
  }
  x = final_(w, x);
  out.relevance = logits(x).view({q, -1, wide});
  if (which.defined())
    out.relevance = out.first.scatter(1, which.unsqueeze(2).expand({q, kept, wide}), out.relevance);
  Tensor weight = real.to(type).unsqueeze(2);
  Tensor summary = (asked * weight).sum(1) / weight.sum(1).clamp_min(1);
  // The strongest cell of each channel, among cells of the picture.
  Tensor outside = row_mask.view({q, -1, cols}).select(1, 0).view({q, 1, cols, 1}) +
                   column_mask.view({q, cols, -1}).select(1, 0).view({q, -1, 1, 1});
  Tensor peak = (x + outside).amax({1, 2});
  Tensor both = at::cat({summary, peak}, 1);
  out.tier = tier_(w, both);
  out.tensions = at::sigmoid(tensions_(w, both));
  return out;
}

}  // namespace arrcoc::tiny
