#include "media/apart/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "arrcoc/error.h"

namespace arrcoc::media {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what, int reason) {
  throw Error(ErrorCode::io, "decoding apart: " + what + ": " + std::strerror(reason));
}

// Only what decoders need: libraries, one thread, little memory besides the picture's.
std::vector<std::string> environment() {
  std::vector<std::string> out = {"LC_ALL=C", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1",
                                  "MALLOC_ARENA_MAX=1"};
  for (const char* name : {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"})
    if (const char* value = std::getenv(name)) out.push_back(std::string(name) + "=" + value);
  return out;
}

// Above the numbers that the child gets, so that none is overwritten on the way.
int raised(int descriptor) {
  const int out = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 16);
  const int reason = errno;
  ::close(descriptor);
  if (out < 0) fail("descriptors", reason);
  return out;
}

pid_t spawn(const std::string& program, int socket, int shared, int film) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int standard : {0, 1, 2})
    posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, socket, kSocket);
  posix_spawn_file_actions_adddup2(&actions, shared, kShared);
  if (film >= 0) posix_spawn_file_actions_adddup2(&actions, film, kFilm);
  posix_spawn_file_actions_addclosefrom_np(&actions, film >= 0 ? kFilm + 1 : kFilm);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  // A group of its own: what a terminal sends to us is not for it.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> words = environment();
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  std::string name = program;
  char* arguments[] = {name.data(), nullptr};
  pid_t process = -1;
  const int reason =
      ::posix_spawn(&process, program.c_str(), &actions, &attributes, arguments, raw.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (reason != 0) fail(program, reason);
  return process;
}

}  // namespace

Child::Child(const std::string& program, int film) {
  const int shared = ::memfd_create("arrcoc-decode", MFD_CLOEXEC);
  if (shared < 0) fail("shared memory", errno);
  shared_ = raised(shared);
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    const int reason = errno;
    ::close(shared_);
    fail("socket", reason);
  }
  socket_ = pair[0];
  int theirs = -1, copy = -1;
  const auto drop = [&] {
    if (theirs >= 0) ::close(theirs);
    if (copy >= 0) ::close(copy);
  };
  try {
    theirs = raised(pair[1]);
    if (film >= 0) copy = raised(::dup(film));
    process_ = spawn(program, theirs, shared_, copy);
  } catch (...) {
    ::close(shared_);
    ::close(socket_);
    drop();
    throw;
  }
  drop();
}

std::unique_ptr<Child> Child::started(const std::string& program, Hello& hello, int film) {
  for (int tries = 0; tries < 3; ++tries) {
    auto child = std::make_unique<Child>(program, film);
    const Clock::time_point until = Clock::now() + std::chrono::seconds(60);
    while (!child->readable(std::chrono::milliseconds(50)) && Clock::now() < until) continue;
    if (child->receive(&hello, sizeof hello) == sizeof hello && hello.protocol == kProtocol)
      return child;
  }
  throw Error(ErrorCode::io, program + ": it does not start, or belongs to another version");
}

Child::~Child() {
  end();
  ::close(socket_);
  ::close(shared_);
}

void Child::allow(uint64_t address_space, double seconds) const {
  const auto set = [&](__rlimit_resource what, uint64_t soft) {
    rlimit limit{};
    if (::prlimit(process_, what, nullptr, &limit) != 0) return;
    limit.rlim_cur = std::min<rlim_t>(soft, limit.rlim_max);
    ::prlimit(process_, what, &limit, nullptr);
  };
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  set(RLIMIT_AS, address_space);
#else
  (void)address_space;
#endif
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process_, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return;
  set(RLIMIT_CPU,
      static_cast<uint64_t>(used.tv_sec) + 1 + static_cast<uint64_t>(std::ceil(seconds)));
}

void Child::send(const std::string& packet) const {
  (void)::send(socket_, packet.data(), packet.size(), MSG_NOSIGNAL);
}

bool Child::readable(std::chrono::milliseconds patience) const {
  pollfd one{socket_, POLLIN, 0};
  return ::poll(&one, 1, static_cast<int>(patience.count())) > 0;
}

Child::Waited Child::wait(double seconds, const std::function<bool()>& given_up) const {
  constexpr double kPatience = 10;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(kPatience * seconds));
  while (!readable(std::chrono::milliseconds(50))) {
    if (given_up && given_up()) return Waited::given_up;
    if (Clock::now() > until) return Waited::too_long;
  }
  return Waited::readable;
}

ssize_t Child::receive(void* packet, size_t most) const {
  return ::recv(socket_, packet, most, MSG_DONTWAIT);
}

void Child::put(const std::vector<uint8_t>& bytes, uint64_t size) const {
  if (::ftruncate(shared_, static_cast<off_t>(size)) != 0) fail("shared memory", errno);
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n =
        ::pwrite(shared_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("shared memory", n < 0 ? errno : ENOSPC);
    at += static_cast<size_t>(n);
  }
}

void Child::get(uint8_t* to, size_t count, uint64_t at, uint64_t kept) const {
  constexpr size_t kPiece = size_t{8} << 20;
  for (size_t done = 0; done < count;) {
    const auto from = static_cast<off_t>(at + done);
    const ssize_t n = ::pread(shared_, to + done, std::min(kPiece, count - done), from);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("shared memory", n < 0 ? errno : EIO);
    // So that a large picture does not lie in memory twice.
    if (at + done > kept) ::fallocate(shared_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, n);
    done += static_cast<size_t>(n);
  }
}

void Child::trim(uint64_t kept) const {
  struct stat file {};
  if (::fstat(shared_, &file) == 0 && file.st_size > static_cast<off_t>(kept))
    ::fallocate(shared_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(kept),
                file.st_size - static_cast<off_t>(kept));
}

int Child::end() {
  if (process_ < 0) return 0;
  int status = 0;
  pid_t reaped = ::waitpid(process_, &status, WNOHANG);
  if (reaped == 0) {
    ::kill(process_, SIGKILL);
    while ((reaped = ::waitpid(process_, &status, 0)) < 0 && errno == EINTR) continue;
  }
  process_ = -1;
  return reaped > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace arrcoc::media
