// The pool's side of decoding apart; src/media/apart/main/ has the other.
#include <ATen/ops/empty.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "base/beside.h"
#include "media/apart/child.h"
#include "media/apart/protocol.h"
#include "media/codecs/headers.h"
#include "media/pool.h"

namespace arrcoc::media {

namespace {

namespace fs = std::filesystem;

// Memory of this size is kept from picture to picture, more goes back to the system.
constexpr uint64_t kKept = uint64_t{32} << 20;

std::string find_program(const std::string& given) {
  const auto runs = [](const fs::path& path) {
    std::error_code failed;
    return ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, failed);
  };
  if (given.empty()) {
    const fs::path found = find_beside({"arrcoc-decode", "libexec/arrcoc/arrcoc-decode"}, runs);
    if (!found.empty()) return found.string();
    throw Error(ErrorCode::not_found,
                "there is no arrcoc-decode beside this program: build or install it");
  }
  if (!runs(given)) throw Error(ErrorCode::not_found, given + ": no such program");
  return given;
}

// One line without control characters, whatever a broken process wrote.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

enum class End {
  reply,     // the process is well
  died,      // of something that may not have been the picture
  broken,    // of this picture
  too_long,  // over its time
  given_up,  // nobody waits any more
};

// A process when there is one. Of one user at a time.
class Decoder {
 public:
  explicit Decoder(const DecoderLimits& limits) : limits_(limits) {}

  bool fresh() const { return done_ == 0; }
  // Ended while nobody used it, which only then has something to say. It is forgotten.
  bool died() {
    if (!child_ || !child_->readable(std::chrono::milliseconds(0))) return false;
    child_.reset();
    return true;
  }
  uint32_t start() {
    if (child_ && done_ < limits_.pictures) return refused_;
    done_ = 0;
    child_.reset();
    Hello hello;
    child_ = Child::started(limits_.program, hello);
    base_ = hello.address_space;
    return refused_ = hello.refused;
  }

  // The planes go into `rgb`, a [3,h,w] tensor.
  End decode(const std::vector<uint8_t>& bytes, const std::string& name, const LoadOptions& options,
             at::Tensor& rgb);

 private:
  struct Reply {
    Outcome head;
    char text[kMostText];
  };
  void order(const Child& child, const std::vector<uint8_t>& bytes, const std::string& name,
             const LoadOptions& options);
  bool take(const Child& child, const Outcome& outcome, const LoadOptions& options,
            at::Tensor& rgb);

  const DecoderLimits& limits_;
  std::unique_ptr<Child> child_;
  uint32_t refused_ = 0;
  uint64_t base_ = 0, planes_at_ = 0;
  int done_ = 0;  // pictures
};

void Decoder::order(const Child& child, const std::vector<uint8_t>& bytes, const std::string& name,
                    const LoadOptions& options) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto most = static_cast<uint64_t>(3e6 * options.max_megapixels);
  planes_at_ = (bytes.size() + page - 1) / page * page;
  child.put(bytes, planes_at_ + most);
  // 16 bytes a pixel: 16-bit RGBA as it comes (8), as libtiff hands it on (4), and the planes (3).
  const uint64_t need = limits_.megabytes > 0
                            ? uint64_t(limits_.megabytes) << 20
                            : static_cast<uint64_t>(16e6 * options.max_megapixels) + (256U << 20);
  child.allow(base_ + need + bytes.size(), limits_.seconds);
  Order order;
  order.bytes = bytes.size();
  order.planes_at = planes_at_;
  order.max_megapixels = options.max_megapixels;
  order.pdf_dpi = options.pdf_dpi;
  order.page = options.page;
  std::string packet(reinterpret_cast<const char*>(&order), sizeof order);
  child.send(packet + name.substr(0, kMostText));
}

bool Decoder::take(const Child& child, const Outcome& outcome, const LoadOptions& options,
                   at::Tensor& rgb) {
  const int64_t w = outcome.width, h = outcome.height;
  const double pixels = static_cast<double>(w) * static_cast<double>(h);
  if (w < 1 || h < 1 || pixels > 1e6 * options.max_megapixels) return false;
  rgb = at::empty({3, h, w}, at::kByte);
  child.get(rgb.data_ptr<uint8_t>(), static_cast<size_t>(rgb.numel()), planes_at_, kKept);
  return true;
}

End Decoder::decode(const std::vector<uint8_t>& bytes, const std::string& name,
                    const LoadOptions& options, at::Tensor& rgb) {
  const bool first = fresh();
  ++done_;
  std::unique_ptr<Child> child = std::move(child_);  // it ends where something is thrown
  order(*child, bytes, name, options);
  const Child::Waited waited = child->wait(limits_.seconds, options.given_up);
  Reply reply;
  const ssize_t n = waited == Child::Waited::readable ? child->receive(&reply, sizeof reply) : -1;
  const bool whole = n >= static_cast<ssize_t>(sizeof reply.head);
  if (whole && reply.head.error == Outcome::kDone && take(*child, reply.head, options, rgb)) {
    child_ = std::move(child);
    return End::reply;
  }
  if (whole && reply.head.error != Outcome::kDone) {
    child->trim(kKept);  // planes that were begun
    child_ = std::move(child);
    const int code = std::clamp(reply.head.error, 0, static_cast<int>(ErrorCode::numeric));
    throw Error(static_cast<ErrorCode>(code),
                one_line({reply.text, static_cast<size_t>(n) - sizeof reply.head}));
  }
  const int signal = child->end();
  if (waited == Child::Waited::given_up) return End::given_up;
  if (waited == Child::Waited::too_long || signal == SIGXCPU) return End::too_long;
  // Somebody else's signal, or damage that an earlier picture may have left behind.
  const bool foreign =
      signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
  return foreign || !first ? End::died : End::broken;
}

}  // namespace

struct Decoders::State {
  DecoderLimits limits;
  Pool<Decoder> pool;
  std::atomic<int64_t> restarts{0};
  std::atomic<uint32_t> refused{0};

  explicit State(const DecoderLimits& given)
      : limits(given),
        pool([this] { return std::make_unique<Decoder>(limits); },
             static_cast<size_t>(std::max(1, given.processes))) {
    limits.program = find_program(given.program);
  }
};

Decoders::Decoders(const DecoderLimits& limits) : state_(std::make_unique<State>(limits)) {
  if (!(limits.seconds > 0) || limits.megabytes < 0 || limits.pictures < 1)
    throw Error(ErrorCode::bad_argument, "decoders need seconds, megabytes and pictures above 0");
}

Decoders::~Decoders() = default;

Picture Decoders::decode(const std::vector<uint8_t>& bytes, const std::string& source,
                         const LoadOptions& options) {
  const std::string name = name_of(source);
  if (!(options.max_megapixels > 0))
    throw Error(ErrorCode::bad_argument, "max_megapixels must be above 0");
  for (int tries = 0;; ++tries) {
    const auto decoder = state_->pool.borrow();
    if (options.given_up && options.given_up())
      throw Error(ErrorCode::io, name + ": nobody waits for it any more");
    if (decoder->died()) ++state_->restarts;  // before this picture, whose tries are its own
    state_->refused |= decoder->start();
    at::Tensor rgb;
    const End end = decoder->decode(bytes, name, options, rgb);
    if (end == End::reply) return make_picture(rgb, source);
    ++state_->restarts;
    if (end == End::given_up) throw Error(ErrorCode::io, name + ": nobody waits for it any more");
    if (end == End::too_long)
      throw Error(ErrorCode::too_large, name + ": decoding takes longer than is allowed");
    if (end == End::broken || tries > 0)
      throw Error(ErrorCode::bad_image, name + ": it breaks its decoder, or needs too much memory");
  }
}

const DecoderLimits& Decoders::limits() const { return state_->limits; }

void Decoders::warm_up() { state_->refused |= state_->pool.borrow()->start(); }

int64_t Decoders::restarts() const { return state_->restarts; }

std::string Decoders::unconfined() const {
  std::string out;
  if (state_->refused & kNoFiles) out += "files can be read (no Landlock)";
  if (state_->refused & kNoCalls)
    out += std::string(out.empty() ? "" : ", ") + "system calls are free (no seccomp)";
  return out;
}

}  // namespace arrcoc::media
