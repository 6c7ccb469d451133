#include "models/kernels/kernels_dnnl.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <cstring>
#include <list>
#include <mutex>

#include "arrcoc/error.h"

#ifdef ARRCOC_HAVE_ONEDNN
#include <omp.h>

#include <dnnl.hpp>
#include <functional>
#include <iterator>
#include <memory>
#endif

namespace arrcoc::kernels {

#ifdef ARRCOC_HAVE_ONEDNN
namespace {

using dnnl::memory;
using dnnl::primitive_attr;
using Dims = memory::dims;
using Type = memory::data_type;
using Tag = memory::format_tag;

constexpr size_t kShapes = 16;              // of one product that are kept
constexpr int64_t kWorthThreads = 4 << 20;  // multiply-adds: 20 microseconds of one core

const dnnl::engine& engine() {
  static const dnnl::engine one(dnnl::engine::kind::cpu, 0);
  return one;
}

// Scratch of this thread, as large as any product has asked for.
void* bench(size_t bytes) {
  thread_local std::vector<char> kept;
  constexpr size_t kLine = 64;
  if (kept.size() < bytes + kLine) kept.resize(bytes + kLine);
  const auto address = reinterpret_cast<uintptr_t>(kept.data());
  return kept.data() + (kLine - address % kLine) % kLine;
}

// Of this thread.
const dnnl::stream& stream() {
  thread_local const dnnl::stream one(engine());
  return one;
}

memory at(const memory::desc& what, const void* where) {
  return memory(what, engine(), const_cast<void*>(where));
}

}  // namespace

struct PackedProduct::State {
  struct Shape {
    Size size;
    Finish finish;
    Scale bytes;
    int threads;
    dnnl::primitive primitive;
    memory::desc source, weights, target, scratch;
    memory packed;
    bool is(const Size& s, const Finish& f, int n) const {
      return size.batch == s.batch && size.rows == s.rows && size.cols == s.cols && threads == n &&
             finish.add == f.add && finish.gelu == f.gelu &&
             (finish.bytes != nullptr) == (f.bytes != nullptr) &&
             (!f.bytes || (bytes.step == f.bytes->step && bytes.zero == f.bytes->zero));
    }
  };

  Dims weight_dims, stride, padding;  // [outputs,inputs(,rows,cols)]
  bool whole = false;                 // bytes, not floats
  Scale input;
  std::vector<float> scales, bias;  // of outputs; the bias in units of the sums
  at::Tensor plain;                 // weights before packing; a matrix lets go of them then
  std::mutex mutex;
  std::list<std::shared_ptr<const Shape>> shapes;  // latest first
  std::vector<memory> packed;                      // by format

  bool matrix() const { return stride.empty(); }
  void take_weights(const Weights& given);
  primitive_attr attributes(const Finish& finish) const;
  std::shared_ptr<const Shape> make(const Size& size, const Finish& finish, int threads);
  template <class Descriptor>
  void take(Shape& shape, const Descriptor& descriptor);
  memory packed_as(const memory::desc& format);
  std::shared_ptr<const Shape> shape(const Size& size, const Finish& finish);
};

void PackedProduct::State::take_weights(const Weights& given) {
  const Weights w = whole ? in_int8(given) : given;
  plain = w.values.detach().contiguous();
  const at::Tensor b = w.bias.detach().to(at::kFloat).contiguous();
  const int64_t outputs = plain.size(0), each = plain.numel() / outputs;
  bias.assign(b.data_ptr<float>(), b.data_ptr<float>() + outputs);
  if (!whole) return;
  const auto* q = plain.data_ptr<int8_t>();
  const at::Tensor of_weights = w.scales.contiguous();
  scales.resize(static_cast<size_t>(outputs));
  for (int64_t n = 0; n < outputs; ++n) {
    int64_t sum = 0;
    for (int64_t i = 0; i < each; ++i) sum += q[n * each + i];
    const auto at = static_cast<size_t>(n);
    scales[at] = of_weights.data_ptr<float>()[n] * input.step;
    // scale (sum of q w + bias): a convolution is told the zero, for its padding is real zeros.
    bias[at] = bias[at] / scales[at] - (matrix() ? static_cast<float>(sum * input.zero) : 0.0F);
  }
}

primitive_attr PackedProduct::State::attributes(const Finish& finish) const {
  primitive_attr out;
  out.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (whole) out.set_output_scales(1 << 1, scales);
  if (whole && !matrix() && input.zero != 0) out.set_zero_points(DNNL_ARG_SRC, 0, {input.zero});
  dnnl::post_ops after;
  if (finish.add) after.append_sum(1.0F);
  if (finish.gelu) after.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
  if (finish.bytes)
    after.append_eltwise(1, dnnl::algorithm::eltwise_linear, 1 / finish.bytes->step,
                         static_cast<float>(finish.bytes->zero));
  // Without VNNI a byte may not pass 127: the conversion itself stops at 255 only.
  if (finish.bytes && finish.bytes->top < 255)
    after.append_eltwise(1, dnnl::algorithm::eltwise_clip, 0,
                         static_cast<float>(finish.bytes->top));
  out.set_post_ops(after);
  return out;
}

memory PackedProduct::State::packed_as(const memory::desc& format) {
  for (const memory& one : packed)
    if (one.get_desc() == format) return one;
  const Type type = whole ? Type::s8 : Type::f32;
  // A matrix is given as [inputs,outputs].
  const memory::desc given = matrix()
                                 ? memory::desc({weight_dims[1], weight_dims[0]}, type, Tag::ba)
                                 : memory::desc(weight_dims, type, Tag::oihw);
  memory out(format, engine());
  memory from = plain.defined() ? at(given, plain.data_ptr()) : packed.front();
  dnnl::reorder(from, out).execute(dnnl::stream(engine()), from, out);
  packed.push_back(out);
  if (matrix()) plain = at::Tensor();
  return out;
}

template <class Descriptor>
void PackedProduct::State::take(Shape& shape, const Descriptor& descriptor) {
  shape.source = descriptor.src_desc();
  shape.weights = descriptor.weights_desc();
  shape.target = descriptor.dst_desc();
  shape.scratch = descriptor.scratchpad_desc();
  shape.packed = packed_as(shape.weights);
}

std::shared_ptr<const PackedProduct::State::Shape> PackedProduct::State::make(const Size& size,
                                                                              const Finish& finish,
                                                                              int threads) {
  auto out = std::make_shared<Shape>();
  out->size = size;
  out->finish = finish;
  if (finish.bytes) out->bytes = *finish.bytes;
  out->threads = threads;
  const primitive_attr how = attributes(finish);
  const Type from = whole ? Type::u8 : Type::f32, weights = whole ? Type::s8 : Type::f32,
             to = finish.bytes ? Type::u8 : Type::f32;
  const int64_t outputs = weight_dims[0], inputs = weight_dims[1];
  if (matrix()) {
    const dnnl::matmul::desc product(
        {{size.batch, inputs}, from, Tag::ab}, {{inputs, outputs}, weights, Tag::any},
        {{1, outputs}, Type::f32, Tag::ab}, {{size.batch, outputs}, to, Tag::ab});
    const dnnl::matmul::primitive_desc descriptor(product, how, engine());
    take(*out, descriptor);
    out->primitive = dnnl::matmul(descriptor);
    return out;
  }
  const int64_t rows = (size.rows + 2 * padding[0] - weight_dims[2]) / stride[0] + 1,
                cols = (size.cols + 2 * padding[1] - weight_dims[3]) / stride[1] + 1;
  const dnnl::convolution_forward::desc product(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      {{size.batch, inputs, size.rows, size.cols}, from, Tag::nhwc},
      {weight_dims, weights, Tag::any}, {{outputs}, Type::f32, Tag::a},
      {{size.batch, outputs, rows, cols}, to, Tag::nhwc}, stride, padding, padding);
  const dnnl::convolution_forward::primitive_desc descriptor(product, how, engine());
  take(*out, descriptor);
  out->primitive = dnnl::convolution_forward(descriptor);
  return out;
}

std::shared_ptr<const PackedProduct::State::Shape> PackedProduct::State::shape(
    const Size& size, const Finish& finish) {
  const int threads = omp_get_max_threads();
  const std::scoped_lock lock(mutex);
  for (auto one = shapes.begin(); one != shapes.end(); ++one)
    if ((*one)->is(size, finish, threads)) {
      shapes.splice(shapes.begin(), shapes, one);
      return shapes.front();
    }
  shapes.push_front(make(size, finish, threads));
  if (shapes.size() > kShapes) shapes.pop_back();
  return shapes.front();
}

PackedProduct::PackedProduct(const Weights& weights, const std::vector<int64_t>& stride,
                             const std::vector<int64_t>& padding, const Scale* input)
    : state_(std::make_unique<State>()) {
  state_->weight_dims = weights.values.sizes().vec();
  state_->stride = stride;
  state_->padding = padding;
  state_->whole = input != nullptr;
  if (input) state_->input = *input;
  state_->take_weights(weights);
}
PackedProduct::PackedProduct(PackedProduct&&) noexcept = default;
PackedProduct::~PackedProduct() = default;
int64_t PackedProduct::inputs() const { return state_->weight_dims[1]; }
int64_t PackedProduct::outputs() const { return state_->weight_dims[0]; }
int64_t PackedProduct::input_bytes() const { return state_->whole ? 1 : sizeof(float); }

namespace {

// What a thread hands to a shape's primitive: only the addresses differ from call to call.
struct Bound {
  std::weak_ptr<const void> shape;
  memory source, bias, target, scratch;
};

Bound& bound_to(const std::shared_ptr<const void>& shape) {
  constexpr size_t kKept = 256;
  thread_local std::vector<Bound> all(kKept);
  return all[std::hash<const void*>{}(shape.get()) / 16 % kKept];
}

bool same(const std::weak_ptr<const void>& a, const std::shared_ptr<const void>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

void PackedProduct::run(const Size& size, const void* x, void* out, const Finish& finish) const {
  at::get_num_threads();  // libtorch tells OpenMP its number when a thread first asks
  const int threads = omp_get_max_threads();
  // Waking another thread takes longer than a small product, and threads that share rows are busy.
  const bool alone =
      threads > 1 && (omp_in_parallel() != 0 ||
                      (state_->matrix() && size.batch * inputs() * outputs() < kWorthThreads));
  if (alone) omp_set_num_threads(1);
  const std::shared_ptr<void> after(nullptr, [&](void*) {
    if (alone) omp_set_num_threads(threads);
  });
  const auto shape = state_->shape(size, finish);
  Bound& bound = bound_to(shape);
  if (!same(bound.shape, shape)) {
    const auto outputs = static_cast<int64_t>(state_->bias.size());
    const memory::desc bias = state_->matrix() ? memory::desc({1, outputs}, Type::f32, Tag::ab)
                                               : memory::desc({outputs}, Type::f32, Tag::a);
    bound = {shape, at(shape->source, x), at(bias, state_->bias.data()), at(shape->target, out),
             at(shape->scratch, bench(shape->scratch.get_size()))};
  }
  bound.source.set_data_handle(const_cast<void*>(x));
  bound.target.set_data_handle(out);
  bound.scratch.set_data_handle(bench(shape->scratch.get_size()));
  const dnnl_exec_arg_t given[] = {{DNNL_ARG_SRC, bound.source.get()},
                                   {DNNL_ARG_WEIGHTS, shape->packed.get()},
                                   {DNNL_ARG_BIAS, bound.bias.get()},
                                   {DNNL_ARG_DST, bound.target.get()},
                                   {DNNL_ARG_SCRATCHPAD, bound.scratch.get()}};
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(shape->primitive.get(), stream().get(), std::size(given), given),
      "could not execute a product");
}
#else

// Without oneDNN nobody gets here: no_fast_kernels says so.
struct PackedProduct::State {};
PackedProduct::PackedProduct(const Weights&, const std::vector<int64_t>&,
                             const std::vector<int64_t>&, const Scale*) {
  throw Error(ErrorCode::unsupported, no_fast_kernels());
}
PackedProduct::PackedProduct(PackedProduct&&) noexcept = default;
PackedProduct::~PackedProduct() = default;
int64_t PackedProduct::inputs() const { return 0; }
int64_t PackedProduct::outputs() const { return 0; }
int64_t PackedProduct::input_bytes() const { return 1; }
void PackedProduct::run(const Size&, const void*, void*, const Finish&) const {}
#endif

}  // namespace arrcoc::kernels
