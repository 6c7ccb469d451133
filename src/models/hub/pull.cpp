#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "arrcoc/error.h"
#include "base/join.h"
#include "models/hub/cache.h"
#include "models/hub/listing.h"
#include "models/hub/transport.h"

namespace arrcoc::hub {

namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestListing = size_t{64} << 20;
constexpr int64_t kLargestSmallFile = int64_t{256} << 20;  // all but weights
constexpr int64_t kLargestFile = int64_t{1} << 45;
constexpr int64_t kSpare = int64_t{64} << 20;  // bytes of the disk that we leave free
constexpr int kMostCuts = 1000;                // of one file

std::string megabytes(int64_t bytes) {
  return std::to_string((bytes + 999'999) / 1'000'000) + " MB";
}

int64_t size_of(const std::string& path) {
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  return failed ? 0 : static_cast<int64_t>(size);
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// A blob that is being written: ETAG.incomplete until its sum is right.
class Partial {
 public:
  Partial(const std::string& blob, const File& file)
      : path_(blob + ".incomplete"), blob_(blob), file_(file), digest_(file.etag, file.size) {
    handle_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (handle_ < 0) failed_io(path_, "cannot write");
    if (size_of(path_) > file.size) restart();
    char bytes[1 << 16];
    for (ssize_t got = 0; (got = ::read(handle_, bytes, sizeof bytes)) > 0; have_ += got)
      digest_.add(bytes, static_cast<size_t>(got));
  }
  ~Partial() { ::close(handle_); }
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;

  int64_t have() const { return have_; }
  bool whole() const { return have_ == file_.size; }

  void restart() {
    if (::ftruncate(handle_, 0) != 0 || ::lseek(handle_, 0, SEEK_SET) != 0)
      failed_io(path_, "cannot write");
    have_ = 0;
    digest_ = Digest(file_.etag, file_.size);
  }

  void add(const char* data, size_t size) {
    for (size_t done = 0; done < size;) {
      const ssize_t wrote = ::write(handle_, data + done, size - done);
      if (wrote < 0 && errno != EINTR) failed_io(path_, "cannot write");
      done += wrote < 0 ? 0 : static_cast<size_t>(wrote);
    }
    digest_.add(data, size);
    have_ += static_cast<int64_t>(size);
  }

  // True when the blob is in its place; false, and nothing is left, when its sum is wrong.
  bool finish() {
    sum_ = digest_.hex();
    if (!sum_.empty() && sum_ != file_.etag) {
      ::unlink(path_.c_str());
      return false;
    }
    if (::fsync(handle_) != 0 || ::rename(path_.c_str(), blob_.c_str()) != 0)
      failed_io(blob_, "cannot write");
    return true;
  }
  const std::string& sum() const { return sum_; }

 private:
  const std::string path_, blob_;
  const File file_;
  Digest digest_;
  std::string sum_;
  int handle_ = -1;
  int64_t have_ = 0;
};

class Pull {
 public:
  Pull(const Name& name, const Settings& settings, const Progress& progress)
      : name_(name),
        settings_(settings),
        progress_(progress),
        place_(name, settings.cache),
        transport_(name, settings, progress) {}

  std::string run() {
    const std::string repo = name_.repo();
    listing_ = parse_listing(transport_.text("/api/models/" + repo + "/revision/" +
                                                 escaped(name_.revision) + "?blobs=true",
                                             kLargestListing),
                             repo);
    make_folders(place_.root + "/blobs");
    make_folders(place_.locks);
    std::vector<File> files = small_files(listing_, repo);
    for (File& file : files) complete(file, kLargestSmallFile);
    if (const File* index = listing_.file(kIndex)) {  // says which weights there are
      fetch(files.back(), false);
      for (const std::string& shard : shards_of(folder() + "/" + index->path)) add(files, shard);
    } else {
      add(files, kSingle);
    }
    plan(files);
    for (const File& file : files) fetch(file, true);
    // Last, so that the name means something whole.
    point_to_commit(place_, name_.revision, listing_.commit);
    return folder();
  }

 private:
  std::string folder() const { return place_.snapshot(listing_.commit); }
  std::string path_of(const File& file) const {
    return "/" + name_.repo() + "/resolve/" + listing_.commit + "/" + escaped(file.path, true);
  }

  void add(std::vector<File>& files, const std::string& path) {
    const File* file = listing_.file(path);
    if (!file)
      throw Error(ErrorCode::not_found,
                  name_.repo() + ": its index names " + path + ", which the hub does not have");
    files.push_back(*file);
    complete(files.back(), kLargestFile);
  }

  // Mirrors may list files without sums: then their heads tell.
  void complete(File& file, int64_t most) {
    if (file.etag.empty() || file.size < 0) {
      const Reply reply = transport_.head(path_of(file));
      const std::string linked = reply.header("X-Linked-Etag"),
                        size = reply.header("X-Linked-Size");
      file.etag = normal_etag(linked.empty() ? reply.header("ETag") : linked);
      const std::string length = size.empty() ? reply.header("Content-Length") : size;
      file.size = length.empty() || length.size() > 15 ||
                          length.find_first_not_of("0123456789") != std::string::npos
                      ? -1
                      : std::stoll(length);
    }
    if (file.etag.empty() || file.size < 0)
      throw Error(ErrorCode::io, file.path + ": the hub tells neither its size nor its sum");
    if (file.size > most)
      throw Error(ErrorCode::too_large, file.path + " has " + megabytes(file.size) + ", " +
                                            megabytes(most) + " are allowed");
  }

  void plan(const std::vector<File>& files) const {
    int64_t bytes = 0, here = 0;
    for (const File& file : files) {
      bytes += file.size;
      const std::string blob = place_.blob(file.etag);
      const bool there = exists(folder() + "/" + file.path) || exists(blob);
      here += there ? file.size : std::min(file.size, size_of(blob + ".incomplete"));
    }
    struct statvfs disk {};
    if (::statvfs(place_.root.c_str(), &disk) == 0) {
      const int64_t room = static_cast<int64_t>(disk.f_bavail * disk.f_frsize);
      if (bytes > here && bytes - here > room - kSpare)
        throw Error(ErrorCode::too_large, name_.text() + " needs " + megabytes(bytes - here) +
                                              " more, and " + settings_.cache + " has room for " +
                                              megabytes(std::max<int64_t>(0, room - kSpare)) +
                                              ": free some, or set HF_HOME to another disk");
    }
    progress_.note(name_.text() + " at " + listing_.commit.substr(0, 12) + ": " +
                   std::to_string(files.size()) + " files, " + megabytes(bytes) + ", " +
                   megabytes(bytes - here) + " to fetch");
    progress_.plan(bytes, here);
  }

  void fetch(const File& file, bool counted) {
    const std::string blob = place_.blob(file.etag);
    if (exists(folder() + "/" + file.path)) return;
    if (!exists(blob)) {
      bool waited = false;
      const Lock lock(place_.lock(file.etag), [&] {
        waited = true;
        progress_.note(file.path + ": another process fetches it, waiting");
      });
      if (!exists(blob)) {
        download(file, blob, counted);
      } else if (waited && counted) {
        progress_.step(file.size);
      }
    }
    point_to_blob(place_, listing_.commit, file.path, file.etag);
  }

  void download(const File& file, const std::string& blob, bool counted) {
    const auto step = [&](int64_t bytes) {
      if (counted) progress_.step(bytes);
    };
    std::string wrong;
    for (int tries = 0; tries < 2; ++tries) {  // once more where an old beginning may be to blame
      Partial partial(blob, file);
      const bool resumed = partial.have() > 0;
      receive(file, partial, step);
      if (partial.finish()) return;
      step(-partial.have());
      wrong = partial.sum();
      if (!resumed) break;
      progress_.note(file.path + ": what was begun earlier does not fit, fetching it anew");
    }
    throw Error(ErrorCode::io, file.path + ": its sum is " + wrong + ", the hub says " + file.etag +
                                   ": not kept; try again, or another HF_ENDPOINT");
  }

  void receive(const File& file, Partial& partial, const std::function<void(int64_t)>& step) {
    std::string validator;  // of the copy that we have the beginning of
    for (int failures = 0, misfits = 0, cuts = 0; !partial.whole(); ++cuts) {
      const int64_t before = partial.have();
      httplib::Headers headers;
      if (before > 0) headers.emplace("Range", "bytes=" + std::to_string(before) + "-");
      if (before > 0 && !validator.empty()) headers.emplace("If-Range", validator);
      bool fits = true;
      const Sink sink{[&](const Reply& reply) {
                        validator = reply.header("ETag");
                        if (validator.rfind('"', 0) != 0)
                          validator.clear();  // weak ones are for no ranges
                        const std::string begins = "bytes " + std::to_string(before) + "-";
                        fits = reply.status == 200 ||
                               reply.header("Content-Range").rfind(begins, 0) == 0;
                        if (reply.status == 200 && before > 0) {
                          step(-partial.have());
                          partial.restart();
                        }
                        return fits;
                      },
                      [&](const char* data, size_t size) {
                        fits = static_cast<int64_t>(size) <= file.size - partial.have();
                        if (!fits) return false;
                        partial.add(data, size);
                        step(static_cast<int64_t>(size));
                        return true;
                      }};
      const Reply reply = transport_.send("GET", path_of(file), headers, sink);
      const bool ended = reply.good() && reply.error == httplib::Error::Success;
      if (!fits || reply.status == 416 ||
          (ended && !partial.whole() && !reply.header("Content-Length").empty())) {
        step(-partial.have());
        partial.restart();
        if (++misfits > 1)
          throw Error(ErrorCode::io, file.path + ": what the hub sends is not the " +
                                         std::to_string(file.size) + " bytes that it lists");
      } else if (!reply.good() && !reply.passing()) {
        transport_.explain(reply, file.path);
      } else if (!partial.whole()) {
        failures = partial.have() > before && cuts < kMostCuts ? 0 : failures + 1;
        transport_.be_patient(reply, failures);
      }
    }
  }

  const Name name_;
  const Settings& settings_;
  const Progress& progress_;
  const Place place_;
  const Transport transport_;
  Listing listing_;
};

}  // namespace

std::string pull(const Name& name, const Settings& settings, const Progress& progress) {
  if (!settings.offline) return Pull(name, settings, progress).run();
  const std::string folder = find(name, settings);
  if (!folder.empty()) return folder;
  const Place place(name, settings.cache);
  const std::string commit = commit_of(name, place);
  std::vector<std::string> lacking;
  if (!commit.empty() && exists(place.snapshot(commit)))
    lacking = missing_in(place.snapshot(commit));
  if (lacking.size() > 3) lacking.resize(3);
  throw Error(ErrorCode::not_found,
              name.text() + " is not in " + settings.cache +
                  (lacking.empty() ? "" : " (" + joined(lacking) + " missing)") +
                  ", and the hub may not be asked (--offline, HF_HUB_OFFLINE)");
}

}  // namespace arrcoc::hub
