// Qwen2-VL, Qwen2.5-VL and Qwen3-VL: a vision transformer over patches of any grid, and M-RoPE.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "arrcoc/error.h"
#include "base/cancel.h"
#include "models/hf/depth.h"
#include "models/hf/qwen_layout.h"
#include "models/hf/vlm.h"
#include "models/weights/graphs.h"

namespace arrcoc::hf {
namespace {

struct Shape {
  int64_t frames, rows, cols;  // in patches
  int64_t lasts = 1000;        // milliseconds a frame, of films
  bool film = false;
};

// Two linear layers with GELU over merge*merge patches; the norm before or after they are joined.
struct Merger {
  Norm norm;
  Linear first, second;
  int64_t unit = 4;
  bool joined_norm = false;
  at::Tensor operator()(const at::Tensor& x) const {
    at::Tensor joined = joined_norm ? norm(x.reshape({x.size(0) / unit, -1}))
                                    : norm(x).reshape({x.size(0) / unit, -1});
    return second(at::gelu(first(joined)));
  }
};

class Tower {
 public:
  Tower(const ModelConfig& model, Source& source);
  // levels: of each token that is encoded, where it leaves; empty: all at the end. sight: may be
  // null; its rows are the tokens.
  Visual operator()(const at::Tensor& values, const std::vector<Shape>& shapes,
                    const std::vector<int64_t>& keep, const std::vector<int64_t>& levels = {},
                    EncoderSight* sight = nullptr) const;
  const QwenVisionConfig& config() const { return c_; }

 private:
  struct Block {
    Norm norm1, norm2;
    Linear qkv, out;
    Mlp mlp;
  };
  Merger merger(const std::string& name, bool joined_norm, Source& source) const;
  Layout layout(const std::vector<Shape>& shapes, const std::vector<int64_t>& keep) const;
  at::Tensor table_rows(const std::vector<Shape>& shapes, const Layout& lie) const;
  at::Tensor block(const Block& block, const at::Tensor& x, const Rotary& rotary,
                   const Segments& segments) const;
  // All blocks over a choice of one picture's patches, as a graph.
  Visual chosen_patches(const at::Tensor& x, const Rotary& rotary) const;
  // The last block but one, or the last before it that sees the whole picture.
  int64_t watched_block() const;
  void watch(const Block& block, const at::Tensor& x, const Rotary& rotary,
             EncoderSight& sight) const;

  QwenVisionConfig c_;
  Family family_;
  Linear patch_;
  at::Tensor table_;  // learned positions, Qwen3
  at::Tensor frequencies_;
  std::vector<Block> blocks_;
  Merger merger_;
  std::vector<Merger> deepstack_;
  std::shared_ptr<Graphs> graphs_ = std::make_shared<Graphs>();
};

Tower::Tower(const ModelConfig& model, Source& source) : c_(model.qwen), family_(model.family) {
  bool three = family_ == Family::qwen3_vl;
  bool gated = family_ == Family::qwen2_5_vl;
  Activation act = activation(c_.act, model.file);
  patch_.weight = source
                      .get("visual.patch_embed.proj.weight",
                           {c_.hidden, c_.channels, c_.temporal, c_.patch, c_.patch})
                      .flatten(1);
  if (three) {
    patch_.bias = source.get("visual.patch_embed.proj.bias", {c_.hidden});
    table_ = source.get("visual.pos_embed.weight", {c_.positions, c_.hidden});
  }
  for (int64_t i = 0; i < c_.layers; ++i) {
    std::string at = "visual.blocks." + std::to_string(i) + ".";
    auto norm = [&](const char* name) {
      return gated ? source.rms_norm(at + name, c_.hidden, 1e-6)
                   : source.layer_norm(at + name, c_.hidden, 1e-6);
    };
    auto linear = [&](const char* name, int64_t in, int64_t out) {
      return source.linear(at + name, in, out);
    };
    Block block;
    block.norm1 = norm("norm1");
    block.norm2 = norm("norm2");
    block.qkv = linear("attn.qkv", c_.hidden, 3 * c_.hidden);
    block.out = linear("attn.proj", c_.hidden, c_.hidden);
    if (gated) {
      block.mlp = {linear("mlp.up_proj", c_.hidden, c_.intermediate),
                   linear("mlp.down_proj", c_.intermediate, c_.hidden), act,
                   linear("mlp.gate_proj", c_.hidden, c_.intermediate)};
    } else {
      block.mlp = {linear(three ? "mlp.linear_fc1" : "mlp.fc1", c_.hidden, c_.intermediate),
                   linear(three ? "mlp.linear_fc2" : "mlp.fc2", c_.intermediate, c_.hidden), act};
    }
    blocks_.push_back(std::move(block));
  }
  merger_ = merger("visual.merger.", false, source);
  for (size_t i = 0; i < c_.deepstack.size(); ++i)
    deepstack_.push_back(
        merger("visual.deepstack_merger_list." + std::to_string(i) + ".", true, source));
  frequencies_ = inverse_frequencies(c_.hidden / c_.heads / 2, c_.theta, patch_.weight.device());
}

Merger Tower::merger(const std::string& name, bool joined_norm, Source& source) const {
  Merger m;
  m.unit = c_.merge * c_.merge;
  m.joined_norm = joined_norm;
  int64_t wide = c_.hidden * m.unit;
  bool three = family_ == Family::qwen3_vl;
  std::string norm = name + (three ? "norm" : "ln_q");
  m.norm = family_ == Family::qwen2_5_vl
               ? source.rms_norm(norm, c_.hidden, 1e-6)
               : source.layer_norm(norm, joined_norm ? wide : c_.hidden, 1e-6);
  m.first = source.linear(name + (three ? "linear_fc1" : "mlp.0"), wide, wide);
  m.second = source.linear(name + (three ? "linear_fc2" : "mlp.2"), wide, c_.output);
  return m;
}

Layout Tower::layout(const std::vector<Shape>& shapes, const std::vector<int64_t>& keep) const {
  Layout out;
  int64_t side = c_.window ? c_.window / c_.merge / c_.patch : 1;  // tokens along a window
  int64_t token = 0, patch = 0, frames = 0, windows = 0;
  size_t next = 0;
  for (const Shape& shape : shapes) {
    int64_t rows = shape.rows / c_.merge;
    int64_t cols = shape.cols / c_.merge;
    int64_t across = (cols + side - 1) / side;
    int64_t down = (rows + side - 1) / side;
    for (int64_t t = 0; t < shape.frames; ++t, ++frames, windows += across * down) {
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c, ++token, patch += c_.merge * c_.merge) {
          if (!keep.empty()) {
            if (next >= keep.size() || keep[next] != token) continue;
            ++next;
          }
          out.token.push_back(token);
          out.frame.push_back(frames);
          out.window.push_back(windows + r / side * across + c / side);
          for (int64_t i = 0; i < c_.merge * c_.merge; ++i) {
            out.row.push_back(r * c_.merge + i / c_.merge);
            out.col.push_back(c * c_.merge + i % c_.merge);
            out.place.push_back(patch + i);
          }
        }
      }
    }
  }
  return out;
}

// The learned square of positions, read bilinearly where each patch lies in its grid.
at::Tensor Tower::table_rows(const std::vector<Shape>& shapes, const Layout& lie) const {
  auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(table_.size(0))));
  std::vector<at::Tensor> ys, xs;  // of each patch
  const at::Tensor row = at::tensor(lie.row, at::kLong), col = at::tensor(lie.col, at::kLong);
  const auto unit = static_cast<size_t>(c_.merge * c_.merge);
  size_t begin = 0;
  int64_t frames = 0;
  for (const Shape& shape : shapes) {
    frames += shape.frames;
    size_t end = begin;
    while (end < lie.frame.size() && lie.frame[end] < frames) ++end;
    auto axis = [&](int64_t count, const at::Tensor& at) {
      return at::linspace(0, static_cast<double>(side - 1), count, at::kFloat)
          .index_select(
              0, at.slice(0, static_cast<int64_t>(begin * unit), static_cast<int64_t>(end * unit)));
    };
    ys.push_back(axis(shape.rows, row));
    xs.push_back(axis(shape.cols, col));
    begin = end;
  }
  const at::Tensor y = at::cat(ys), x = at::cat(xs);
  at::Tensor y0 = y.to(at::kLong);
  at::Tensor x0 = x.to(at::kLong);
  at::Tensor y1 = (y0 + 1).clamp_max(side - 1);
  at::Tensor x1 = (x0 + 1).clamp_max(side - 1);
  at::Tensor dy = y - y0;
  at::Tensor dx = x - x0;
  auto corner = [&](const at::Tensor& rows, const at::Tensor& cols, const at::Tensor& weight) {
    return table_.index_select(0, (rows * side + cols).to(table_.device())) *
           weight.unsqueeze(1).to(table_.options());
  };
  return corner(y0, x0, (1 - dy) * (1 - dx)) + corner(y0, x1, (1 - dy) * dx) +
         corner(y1, x0, dy * (1 - dx)) + corner(y1, x1, dy * dx);
}

at::Tensor Tower::block(const Block& block, const at::Tensor& x, const Rotary& rotary,
                        const Segments& segments) const {
  at::Tensor parts = block.qkv(block.norm1(x)).reshape({x.size(0), 3, c_.heads, -1});
  at::Tensor turned = rotary(parts.narrow(1, 0, 2));  // queries and keys at once
  at::Tensor mixed = segments.attend(turned.select(1, 0), turned.select(1, 1), parts.select(1, 2));
  at::Tensor y = x + block.out(mixed.flatten(1));
  return y + block.mlp(block.norm2(y));
}

int64_t Tower::watched_block() const {
  int64_t out = std::max<int64_t>(0, c_.layers - 2);
  const auto whole = [&](int64_t layer) {
    return c_.window == 0 || std::count(c_.full_layers.begin(), c_.full_layers.end(), layer) > 0;
  };
  while (out > 0 && !whole(out)) --out;
  return whole(out) ? out : std::max<int64_t>(0, c_.layers - 2);
}

// Patches of a token are side by side: its attention is their sum, its key their mean.
void Tower::watch(const Block& block, const at::Tensor& x, const Rotary& rotary,
                  EncoderSight& sight) const {
  const at::Tensor parts = block.qkv(block.norm1(x)).reshape({x.size(0), 3, c_.heads, -1});
  const at::Tensor turned = rotary(parts.narrow(1, 0, 2)).permute({1, 2, 0, 3});  // [2,H,N,d]
  watch_attention(turned.narrow(0, 0, 1), turned.narrow(0, 1, 1), {}, sight);
  const int64_t unit = c_.merge * c_.merge;
  sight.looked = sight.looked.reshape({-1, unit}).sum(1);
  sight.keys = sight.keys.reshape({x.size(0) / unit, unit, -1}).mean(1);
}

Visual Tower::chosen_patches(const at::Tensor& x, const Rotary& rotary) const {
  const int64_t unit = c_.merge * c_.merge;
  const int64_t count = x.size(0), longest = bucket(count, 64 * unit);
  std::vector<at::Tensor> inputs = {x, rotary.cosine, rotary.sine};
  for (at::Tensor& t : inputs) {  // patches that are none, and that nobody looks at
    std::vector<int64_t> pad(static_cast<size_t>(2 * t.dim()), 0);
    pad.back() = longest - count;
    t = at::constant_pad_nd(t, pad);
  }
  const at::Tensor place = at::arange(longest, x.options().dtype(at::kLong));
  inputs.push_back(at::zeros({1, 1, 1, longest}, x.options())
                       .masked_fill(place.ge(count).view({1, 1, 1, -1}), -30000.0));
  const auto work = [&](const std::vector<at::Tensor>& in) {
    Rotary turn;
    turn.cosine = in[1];
    turn.sine = in[2];
    Segments whole({longest}, in[0].device());
    whole.mask = in[3];
    std::vector<at::Tensor> out(1 + deepstack_.size());
    at::Tensor y = in[0];
    for (size_t i = 0; i < blocks_.size(); ++i) {
      y = block(blocks_[i], y, turn, whole);
      for (size_t d = 0; d < deepstack_.size(); ++d)
        if (c_.deepstack[d] == static_cast<int64_t>(i)) out[1 + d] = deepstack_[d](y);
    }
    out[0] = merger_(y);
    return out;
  };
  std::vector<at::Tensor> made = graphs_->run(x.device(), "chosen patches", inputs, work);
  for (at::Tensor& rows : made) rows = rows.narrow(0, 0, count / unit);
  return {made[0], {made.begin() + 1, made.end()}};
}

Visual Tower::operator()(const at::Tensor& values, const std::vector<Shape>& shapes,
                         const std::vector<int64_t>& keep, const std::vector<int64_t>& levels,
                         EncoderSight* sight) const {
  Layout raster = layout(shapes, keep);
  if (!keep.empty() && raster.token.size() != keep.size())
    throw Error(ErrorCode::bad_argument, "kept visual tokens must be ascending and exist");
  if (!levels.empty() && levels.size() != raster.token.size())
    throw Error(ErrorCode::bad_argument, "every visual token that is encoded wants a level");
  at::Device device = patch_.weight.device();
  int64_t unit = c_.merge * c_.merge;
  bool windows = c_.window > 0;
  const bool alone = values.size(0) == static_cast<int64_t>(raster.place.size());
  if (alone) std::iota(raster.place.begin(), raster.place.end(), int64_t{0});
  std::vector<int64_t> order = window_order(raster, windows);
  Layout lie = reordered(raster, order, unit);

  at::Tensor pixels = values;
  if (windows || !alone)
    pixels = values.index_select(0, at::tensor(lie.place, at::kLong).to(values.device()));
  at::Tensor x = patch_(pixels.to(patch_.weight.options()));
  if (table_.defined()) x = x + table_rows(shapes, lie);
  auto angle = [&](const std::vector<int64_t>& at) {
    return at::tensor(at, at::kLong).to(device).to(at::kFloat).unsqueeze(1) * frequencies_;
  };
  // [N,1,1,D/2]
  Rotary rotary(at::cat({angle(lie.row), angle(lie.col)}, 1).unsqueeze(1).unsqueeze(1));
  const std::vector<int64_t> runs = run_lengths(lie.frame, unit);
  // A whole picture waits for the device, not for launches, and its graph would hold much memory.
  const bool few = !keep.empty() && levels.empty() && sight == nullptr && !windows;
  if (few && runs.size() == 1 && Graphs::available(device)) return chosen_patches(x, rotary);
  Segments whole(runs, device);
  Segments local = windows ? Segments(run_lengths(lie.window, unit), device) : whole;

  Leaving leaving(levels, lie.frame, unit);
  Visual out;
  out.deepstack.resize(deepstack_.size());
  for (size_t i = 0; i < blocks_.size() && x.size(0) > 0; ++i) {
    check_cancelled();
    auto layer = static_cast<int64_t>(i);
    bool full = std::count(c_.full_layers.begin(), c_.full_layers.end(), layer) > 0;
    if (sight != nullptr && layer == watched_block()) watch(blocks_[i], x, rotary, *sight);
    x = block(blocks_[i], x, rotary, windows && !full ? local : whole);
    for (size_t d = 0; d < deepstack_.size(); ++d)
      if (c_.deepstack[d] == layer)
        out.deepstack[d] = leaving.at(static_cast<int64_t>(d), deepstack_[d](x), x, rotary, whole);
  }
  out.rows = leaving.all(x.size(0) > 0 ? merger_(x) : at::Tensor());
  for (at::Tensor& set : out.deepstack)
    if (!set.defined()) set = at::zeros_like(out.rows);  // nobody came so far
  if (!windows) return out;
  const at::Tensor back = inverse(order).to(device);
  out.rows = out.rows.index_select(0, back);
  if (sight != nullptr) {
    sight->looked = sight->looked.index_select(0, back);
    sight->keys = sight->keys.index_select(0, back);
  }
  return out;
}

class Qwen : public Vlm {
 public:
  Qwen(const ModelConfig& config, Source& source) : Vlm(config, source), tower_(config, source) {
    if (config.qwen.output != config.decoder.hidden)
      throw Error(ErrorCode::bad_json, config.file +
                                           ": the vision tower gives rows of another width than "
                                           "the language model takes");
  }

  int64_t tokens(const at::Tensor& values, const at::Tensor& grid) const override {
    int64_t patches = 0;
    for (const Shape& shape : shapes(grid)) patches += shape.frames * shape.rows * shape.cols;
    const QwenVisionConfig& c = tower_.config();
    int64_t width = c.channels * c.temporal * c.patch * c.patch;
    if (values.dim() != 2 || values.size(0) != patches || values.size(1) != width)
      throw Error(ErrorCode::bad_argument, "pixel values must be [" + std::to_string(patches) +
                                               "," + std::to_string(width) + "] for this grid");
    return patches / (c.merge * c.merge);
  }

  Visual encode(const at::Tensor& values, const at::Tensor& grid,
                const std::vector<int64_t>& keep) const override {
    check(values, grid, keep);
    return tower_(values, shapes(grid), keep);
  }

  Visual encode_watched(const at::Tensor& values, const at::Tensor& grid,
                        EncoderSight& sight) const override {
    tokens(values, grid);
    return tower_(values, shapes(grid), {}, {}, &sight);
  }

  std::vector<int64_t> level_blocks() const override {
    const QwenVisionConfig& c = tower_.config();
    std::vector<int64_t> out;
    for (int64_t layer : c.deepstack) out.push_back(layer + 1);
    const bool ascend = std::is_sorted(out.begin(), out.end(), std::less_equal<>());
    if (out.empty() || !ascend || c.window > 0) return {};
    out.push_back(c.layers);
    return out;
  }

  Visual encode_depths(const at::Tensor& values, const at::Tensor& grid,
                       const std::vector<int64_t>& keep,
                       const std::vector<int64_t>& levels) const override {
    check(values, grid, keep);
    const auto last = static_cast<int64_t>(level_blocks().size()) - 1;
    if (last < 0) return Vlm::encode_depths(values, grid, keep, levels);  // refuses
    for (int64_t level : levels)
      if (level < 0 || level > last)
        throw Error(ErrorCode::bad_argument, "no level " + std::to_string(level) +
                                                 " of the encoder: 0 to " + std::to_string(last));
    return tower_(values, shapes(grid), keep, levels);
  }

  // Text runs on; a token (t,r,c) sits at start + (t,r,c), and what follows starts after the larger
  // of rows and columns. Films: time goes on by what a temporal patch lasts (Qwen2.5), or each
  // temporal patch stands by itself (Qwen3: between time stamps).
  at::Tensor positions(const at::Tensor& ids, const at::Tensor& grids) const override {
    std::vector<Shape> shown[2];  // pictures, films
    if (grids.defined()) shown[0] = shapes(grids);
    const size_t count = shown[0].size();
    shown[1] = films_of(shown[0]);
    at::Tensor flat = ids.to(at::kCPU).contiguous();
    auto id = flat.accessor<int64_t, 2>();
    at::Tensor out = at::empty({3, ids.size(0), ids.size(1)}, at::kLong);
    auto to = out.accessor<int64_t, 3>();
    size_t used[2] = {0, 0};
    for (int64_t b = 0; b < ids.size(0); ++b) {
      int64_t next = 0;
      for (int64_t i = 0; i < ids.size(1);) {
        const int64_t token = id[b][i];
        const bool film = token == config_.video_token;
        if (token != config_.image_token && !film) {
          for (int64_t axis = 0; axis < 3; ++axis) to[axis][b][i] = next;
          ++next;
          ++i;
          continue;
        }
        if (used[film] >= shown[film].size()) mismatch(count);
        const Shape& shape = shown[film][used[film]++];
        const int64_t rows = shape.rows / tower_.config().merge;
        const int64_t cols = shape.cols / tower_.config().merge;
        for (int64_t k = 0; k < shape.frames * rows * cols; ++k, ++i) {
          if (i >= ids.size(1) || id[b][i] != token) mismatch(count);
          to[0][b][i] = next + when(shape, k / (rows * cols));
          to[1][b][i] = next + k / cols % rows;
          to[2][b][i] = next + k % cols;
        }
        next += std::max(rows, cols);
      }
    }
    if (used[0] != shown[0].size() || used[1] != shown[1].size()) mismatch(count);
    return out;
  }

 private:
  // All patches of the grid, or those of the kept tokens alone.
  void check(const at::Tensor& values, const at::Tensor& grid,
             const std::vector<int64_t>& keep) const {
    const QwenVisionConfig& c = tower_.config();
    const auto kept = static_cast<int64_t>(keep.size()) * c.merge * c.merge;
    const int64_t width = c.channels * c.temporal * c.patch * c.patch;
    if (keep.empty() || values.sizes() != at::IntArrayRef({kept, width})) tokens(values, grid);
  }

  [[noreturn]] static void mismatch(size_t pictures) {
    throw Error(ErrorCode::bad_argument,
                "the image tokens of the prompt do not fit the grids of its " +
                    std::to_string(pictures) + " pictures");
  }

  // Position in time of a frame.
  int64_t when(const Shape& shape, int64_t frame) const {
    const int64_t second = tower_.config().second;
    return shape.film && second > 0 ? frame * second * shape.lasts / 1000 : frame;
  }

  // Takes the films out of the list.
  std::vector<Shape> films_of(std::vector<Shape>& all) const {
    std::vector<Shape> films, pictures;
    for (Shape shape : all) {
      const bool apart = shape.film && config_.family == Family::qwen3_vl;
      const int64_t times = apart ? shape.frames : 1;
      if (apart) shape.frames = 1;
      (shape.film ? films : pictures)
          .insert((shape.film ? films : pictures).end(), static_cast<size_t>(times), shape);
    }
    all = std::move(pictures);
    return films;
  }

  std::vector<Shape> shapes(const at::Tensor& grid) const {
    if (!grid.defined() || grid.dim() != 2 || (grid.size(1) != 3 && grid.size(1) != 5) ||
        grid.scalar_type() != at::kLong)
      throw Error(ErrorCode::bad_argument, "grids must be [pictures,3] or [pictures,5] int64");
    at::Tensor flat = grid.to(at::kCPU).contiguous();
    auto at = flat.accessor<int64_t, 2>();
    std::vector<Shape> out;
    int64_t merge = tower_.config().merge;
    for (int64_t i = 0; i < flat.size(0); ++i) {
      Shape shape = {at[i][0], at[i][1], at[i][2]};
      if (flat.size(1) == 5) {
        shape.lasts = std::clamp<int64_t>(at[i][3], 0, 1 << 30);
        shape.film = at[i][4] != 0;
      }
      if (shape.frames < 1 || shape.rows < 1 || shape.cols < 1 || shape.rows % merge ||
          shape.cols % merge || std::max({shape.frames, shape.rows, shape.cols}) > 1 << 20)
        throw Error(ErrorCode::bad_argument,
                    "a grid of " + std::to_string(shape.rows) + "x" + std::to_string(shape.cols) +
                        " patches is not a multiple of " + std::to_string(merge));
      out.push_back(shape);
    }
    return out;
  }

  Tower tower_;
};

}  // namespace

std::unique_ptr<Vlm> make_qwen(const ModelConfig& config, Source& source) {
  return std::make_unique<Qwen>(config, source);
}

}  // namespace arrcoc::hf
