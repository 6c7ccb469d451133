#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "arrcoc/decode.h"
#include "arrcoc/error.h"
#include "media/codecs/headers.h"

namespace arrcoc::media {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& action, int reason) {
  throw Error(reason == ENOENT && action == "read" ? ErrorCode::not_found : ErrorCode::io,
              path + ": cannot " + action + ": " + std::strerror(reason));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  int get() const { return fd_; }
  // close() reports delayed write errors; true when there was none.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

void write_all(int fd, const std::vector<uint8_t>& bytes, const std::string& path) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "write", errno);
    done += static_cast<size_t>(n);
  }
}

// A temporary file that is gone again unless it was kept.
class Temporary {
 public:
  explicit Temporary(const std::string& target) : target_(target) {
    static std::atomic<unsigned> counter{0};
    // A left-over of the same name (same process number, long ago) only costs another try.
    for (int tries = 0; tries < 100 && fd_ < 0; ++tries) {
      name_ = target + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
      fd_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (fd_ < 0 && errno != EEXIST) break;
    }
    if (fd_ < 0) fail(target, "write", errno);
  }
  ~Temporary() {
    if (!kept_) ::unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  int descriptor() const { return fd_; }
  void keep() {
    if (::rename(name_.c_str(), target_.c_str()) != 0) fail(target_, "write", errno);
    kept_ = true;
  }

 private:
  std::string target_, name_;
  int fd_ = -1;
  bool kept_ = false;
};

// mode: of the file that is replaced; a new one gets what the umask leaves.
void replace(const std::string& path, const std::vector<uint8_t>& bytes,
             std::optional<mode_t> mode = std::nullopt) {
  Temporary temporary(path);
  Descriptor fd(temporary.descriptor());
  write_all(fd.get(), bytes, path);
  if (mode && ::fchmod(fd.get(), *mode) != 0) fail(path, "write", errno);
  if (::fsync(fd.get()) != 0 || !fd.close()) fail(path, "write", errno);
  temporary.keep();
  // The rename itself is durable once the folder is; a file system that cannot do this is no error.
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  Descriptor entry(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (entry.get() >= 0) (void)::fsync(entry.get());
}

}  // namespace

std::vector<uint8_t> read_file(const std::string& path, size_t max_bytes) {
  const bool standard = path == "-";
  const std::string name = name_of(path);
  Descriptor fd(standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) fail(name, "read", errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail(name, "read", errno);
  if (S_ISDIR(status.st_mode)) fail(name, "read", EISDIR);
  const auto require_within = [&](size_t size) {
    if (size <= max_bytes) return;
    throw Error(ErrorCode::too_large,
                name + ": larger than the limit of " + std::to_string(max_bytes) + " bytes");
  };
  const size_t expected = S_ISREG(status.st_mode) ? static_cast<size_t>(status.st_size) : 0;
  require_within(expected);
  // One byte more than expected, to see the end; pipes grow by doubling.
  std::vector<uint8_t> bytes(std::max<size_t>(expected, 4095) + 1);
  size_t done = 0;
  while (true) {
    if (done == bytes.size()) bytes.resize(std::min(done * 2, max_bytes) + 1);
    const ssize_t n = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(name, "read", errno);
    if (n == 0) break;
    require_within(done += static_cast<size_t>(n));
  }
  bytes.resize(done);
  return bytes;
}

void write_file(const std::string& path, const std::vector<uint8_t>& bytes) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail(path, "write", errno);
    return replace(path, bytes);
  }
  if (S_ISDIR(status.st_mode)) fail(path, "write", EISDIR);
  if (S_ISREG(status.st_mode)) {
    // Through a link the file behind it is replaced, not the link.
    char real[PATH_MAX];
    if (::realpath(path.c_str(), real) == nullptr) fail(path, "write", errno);
    return replace(real, bytes, status.st_mode & 07777);
  }
  // Devices and pipes cannot be replaced, only written to.
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) fail(path, "write", errno);
  write_all(fd.get(), bytes, path);
  if (!fd.close()) fail(path, "write", errno);
}

}  // namespace arrcoc::media
