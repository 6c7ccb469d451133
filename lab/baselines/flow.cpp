#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "lab/baselines/reducers.h"

namespace arrcoc::reducing {

namespace {

// Query rows whose softmax is in memory at a time: 512 x 4,300 floats are 9 MB.
constexpr int64_t kRows = 512;

}  // namespace

void keep(Flow& flow, const at::Tensor& numbers) {
  const at::Tensor sorted = std::get<0>(at::sort(numbers));
  const int64_t n = flow.tokens(), t = flow.states.size(0) - n;
  const at::Tensor rows = at::cat({sorted, at::arange(n, n + t, sorted.options())});
  flow.states = flow.states.index_select(0, rows);
  for (at::Tensor* part : {&flow.size, &flow.centre, &flow.scale, &flow.first})
    *part = part->index_select(0, sorted);
}

void merge(Flow& flow, const at::Tensor& from, const at::Tensor& to) {
  if (from.numel() == 0) return;
  const at::Tensor weight = flow.size;
  const at::Tensor total = weight.index_add(0, to, weight.index_select(0, from));
  const auto mean = [&](const at::Tensor& values) {  // [N,...]
    std::vector<int64_t> shape(static_cast<size_t>(values.dim()), 1);
    shape[0] = -1;
    const at::Tensor sums = values * weight.view(shape);
    return sums.index_add(0, to, sums.index_select(0, from)) / total.view(shape);
  };
  const int64_t n = flow.tokens();
  flow.states = at::cat(
      {mean(flow.states.narrow(0, 0, n)), flow.states.narrow(0, n, flow.states.size(0) - n)});
  flow.centre = mean(flow.centre);
  flow.scale = mean(flow.scale);
  flow.size = total;
  const at::Tensor stays =
      at::ones({n}, from.options().dtype(at::kBool)).index_fill(0, from, false);
  keep(flow, stays.nonzero().squeeze(1));
}

at::Tensor attention_received(const LayerSight& sight, int64_t row, int64_t count) {
  const int64_t heads = sight.keys.size(0);
  const double factor = 1.0 / std::sqrt(static_cast<double>(sight.keys.size(2)));
  at::Tensor sum = at::zeros({sight.tokens}, sight.keys.options());
  for (int64_t h = 0; h < heads; ++h) {
    const at::Tensor keys = sight.keys[h].t();
    for (int64_t begin = row; begin < row + count; begin += kRows) {
      const at::Tensor queries =
          sight.queries[h].narrow(0, begin, std::min(kRows, row + count - begin));
      const at::Tensor shares = at::softmax(at::mm(queries * factor, keys), 1);
      sum += shares.narrow(1, 0, sight.tokens).sum(0);
    }
  }
  return sum / static_cast<double>(heads * std::max<int64_t>(1, count));
}

at::Tensor token_keys(const LayerSight& sight) {
  const at::Tensor keys = sight.keys.narrow(1, 0, sight.tokens).mean(0);
  return keys / keys.norm(2, 1, true).clamp_min(1e-6);
}

}  // namespace arrcoc::reducing
