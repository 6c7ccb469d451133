// Whether the fast kernels run on this machine, and with which instructions.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <exception>

#include "models/kernels/kernels_dnnl.h"

#ifdef ARRCOC_HAVE_ONEDNN
#include <omp.h>

#include <dnnl.hpp>
#endif

namespace arrcoc::kernels {

#ifdef ARRCOC_HAVE_ONEDNN
namespace {

thread_local sigjmp_buf back;
thread_local volatile sig_atomic_t trying = 0;

void on_illegal(int signal) {
  if (trying) siglongjmp(back, 1);
  std::signal(signal, SIG_DFL);  // somebody else's: happens again, and ends the program
}

// Known sums through a product and a convolution, on one thread: instructions that are not there
// must strike here.
bool sums_are_right() {
  constexpr int64_t kIn = 64, kOut = 32, kSide = 8;
  const at::Tensor ones = at::ones({kOut, kIn}), none = at::zeros({kOut});
  Scale scale;
  scale.step = 1;
  scale.zero = 1;
  scale.top = dnnl_top();
  const at::Tensor x = at::full({16, kIn}, 3, at::kByte), y = at::zeros({16, kOut});
  Dense({ones, none, {}}, &scale).run(x.data_ptr(), 16, y.data_ptr());
  const at::Tensor page = at::full({kSide, kSide, kIn}, 3, at::kByte),
                   sums = at::zeros({kSide, kSide, kOut});
  Convolution({ones.view({kOut, kIn, 1, 1}).expand({kOut, kIn, 3, 3}).contiguous(), none, {}},
              {1, 1}, {1, 1}, scale)
      .run(page.data_ptr<uint8_t>(), 1, kSide, kSide, sums.data_ptr());
  const auto near = [](const at::Tensor& t, double value) {
    return (t - value).abs().max().item<double>() < 1e-2 * value;
  };
  return near(y, 2 * kIn) && near(sums[0][0], 2 * 4 * kIn) && near(sums[3][3], 2 * 9 * kIn);
}

std::string attempt() {
  // AMX is reported by virtual machines that do not have it. Whoever sets the variable decides.
  if (!std::getenv("DNNL_MAX_CPU_ISA") && !std::getenv("ONEDNN_MAX_CPU_ISA"))
    dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_vnni);
  if (kernel_instructions().empty()) return "this processor has neither AVX2 nor AVX512";
  return tried(sums_are_right);
}

}  // namespace

std::string tried(const std::function<bool()>& work) {
  struct sigaction ours {};
  struct sigaction before {};
  ours.sa_handler = on_illegal;
  ours.sa_flags = SA_NODEFER;
  sigaction(SIGILL, &ours, &before);
  std::string problem;
  at::get_num_threads();  // libtorch tells OpenMP its number when a thread first asks
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);  // of this thread
  trying = 1;
  if (sigsetjmp(back, 1) == 0) {
    try {
      if (!work()) problem = "oneDNN's products are wrong on this machine";
    } catch (const std::exception& e) {
      problem = std::string("oneDNN: ") + e.what();
    }
  } else {
    problem = "this machine does not have the instructions that it reports (illegal instruction)";
  }
  trying = 0;
  omp_set_num_threads(threads);
  sigaction(SIGILL, &before, nullptr);
  return problem;
}

const std::string& no_fast_kernels() {
  static const std::string problem = attempt();
  return problem;
}

std::string kernel_instructions() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_avx2:
    case dnnl_cpu_isa_avx2_vnni:
      return "AVX2";
    case dnnl_cpu_isa_avx512_core:
      return "AVX512";
    case dnnl_cpu_isa_avx512_core_vnni:
    case dnnl_cpu_isa_avx512_core_bf16:
    case dnnl_cpu_isa_avx512_core_amx:
      return "AVX512-VNNI";
    default:
      return "";
  }
}

int dnnl_top() { return kernel_instructions() == "AVX512-VNNI" ? 255 : 127; }

#else

const std::string& no_fast_kernels() {
  static const std::string problem = "built without oneDNN";
  return problem;
}
std::string kernel_instructions() { return ""; }
int dnnl_top() { return 255; }
std::string tried(const std::function<bool()>&) { return no_fast_kernels(); }
#endif

}  // namespace arrcoc::kernels
