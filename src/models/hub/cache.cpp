#include "models/hub/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "arrcoc/error.h"
#include "base/json.h"

namespace arrcoc::hub {

namespace fs = std::filesystem;

namespace {

constexpr const char* kModels = "models--";
constexpr const char* kTemporary = ".tmp";  // of whoever was killed

bool is_shard(const std::string& name) {
  return name.ends_with(".safetensors") && name.front() != '.' &&
         name.find_first_of("/\\") == std::string::npos;
}

// A name beside the target that no other process takes.
std::string beside(const std::string& path) {
  return path + "." + std::to_string(::getpid()) + kTemporary;
}

void move_into_place(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return;
  const int problem = errno;
  ::unlink(from.c_str());
  errno = problem;
  failed_io(to, "cannot write");
}

std::string read_ref(const fs::path& file) {
  std::ifstream in(file);
  std::string commit;
  in >> commit;
  return is_commit(commit) ? commit : "";
}

}  // namespace

void failed_io(const std::string& path, const char* what) {
  throw Error(ErrorCode::io, path + ": " + what + ": " + std::strerror(errno));
}

bool is_hex(const std::string& text, size_t length) {
  return text.size() == length && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Place::Place(const Name& name, const std::string& cache) {
  const std::string folder = kModels + name.owner + "--" + name.name;
  root = cache + "/" + folder;
  locks = cache + "/.locks/" + folder;
}

std::string commit_of(const Name& name, const Place& place) {
  return is_commit(name.revision) ? name.revision : read_ref(place.ref(name.revision));
}

std::vector<std::string> shards_of(const std::string& index) {
  const json map = parse_json(read_text(index), index).value("weight_map", json());
  if (!map.is_object() || map.empty())
    throw Error(ErrorCode::bad_json, index + ": 'weight_map' must be an object of file names");
  std::set<std::string> out;
  for (const json& file : map) {
    if (!file.is_string() || !is_shard(file.get<std::string>()))
      throw Error(ErrorCode::bad_json,
                  index + ": " + file.dump().substr(0, 100) + " is no name of a safetensors file");
    out.insert(file.get<std::string>());
  }
  return {out.begin(), out.end()};
}

std::vector<std::string> missing_in(const std::string& folder) {
  const auto has = [&](const std::string& name) {
    std::error_code ignored;
    return fs::is_regular_file(fs::path(folder) / name, ignored);
  };
  std::vector<std::string> needed = {kConfig};
  if (has(kIndex)) {
    for (std::string& shard : shards_of(folder + "/" + kIndex)) needed.push_back(std::move(shard));
  } else {
    needed.push_back(kSingle);
  }
  std::erase_if(needed, has);
  return needed;
}

std::string find(const Name& name, const Settings& settings) {
  const Place place(name, settings.cache);
  const std::string commit = commit_of(name, place);
  return commit.empty() || !missing_in(place.snapshot(commit)).empty() ? ""
                                                                       : place.snapshot(commit);
}

std::string cached_folder(const std::string& given,
                          const std::function<const char*(const char*)>& environment) {
  std::error_code ignored;
  const auto name = fs::exists(given, ignored) ? std::nullopt : parse_name(given);
  if (!name) return given;
  const std::string found = find(*name, settings_of(environment));
  if (found.empty())
    throw Error(ErrorCode::not_found, given +
                                          ": no such folder, and no whole model of that name "
                                          "in the cache: arrcoc models pull " +
                                          name->text());
  return found;
}

std::vector<Cached> cached(const Settings& settings) {
  std::vector<Cached> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(settings.cache, failed)) {
    const std::string folder = entry.path().filename().string();
    const size_t split = folder.find("--", std::strlen(kModels));
    if (folder.rfind(kModels, 0) != 0 || split == std::string::npos) continue;
    const std::string owner = folder.substr(std::strlen(kModels), split - std::strlen(kModels));
    const auto name = parse_name(owner + "/" + folder.substr(split + 2));
    if (!name) continue;
    std::map<std::string, std::string> refs;  // by commit, the first by name, main before all
    const fs::path below = entry.path() / "refs";
    for (const auto& ref : fs::recursive_directory_iterator(below, failed)) {
      const std::string revision = ref.path().lexically_relative(below).string();
      if (revision.ends_with(kTemporary)) continue;
      std::string& known = refs[read_ref(ref.path())];
      if (known.empty() || revision == "main" || (known != "main" && revision < known))
        known = revision;
    }
    for (const auto& snapshot : fs::directory_iterator(entry.path() / "snapshots", failed)) {
      const std::string commit = snapshot.path().filename().string();
      if (!is_commit(commit) || !fs::exists(snapshot.path() / kConfig, failed)) continue;
      Cached found{*name, snapshot.path().string()};
      found.name.revision = refs.count(commit) ? refs[commit] : commit;
      out.push_back(std::move(found));
    }
  }
  std::sort(out.begin(), out.end(),
            [](const Cached& a, const Cached& b) { return a.name.text() < b.name.text(); });
  return out;
}

// filelock, which huggingface_hub takes, may remove a lock's file when it lets go of it: then the
// lock is on a file that nobody else will open.
Lock::Lock(const std::string& path, const std::function<void()>& waiting) {
  bool said = false;
  while (true) {
    if (file_ < 0) file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0664);
    if (file_ < 0) failed_io(path, "cannot write");
    struct stat ours {
    }, there{};
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) {
      if (::fstat(file_, &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
          ours.st_ino == there.st_ino)
        return;
      ::close(file_);
      file_ = -1;
    } else if (errno == EWOULDBLOCK) {
      if (!said) waiting();
      said = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } else if (errno != EINTR) {
      return;  // a file system without locks: the sums have to do
    }
  }
}

Lock::~Lock() {
  if (file_ >= 0) ::close(file_);
}

void make_folders(const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw Error(ErrorCode::io, folder + ": cannot make the folder: " + failed.message());
}

void point_to_blob(const Place& place, const std::string& commit, const std::string& file,
                   const std::string& etag) {
  const std::string to = place.snapshot(commit) + "/" + file, link = beside(to);
  make_folders(place.snapshot(commit));
  ::unlink(link.c_str());
  if (::symlink(("../../blobs/" + etag).c_str(), link.c_str()) != 0) failed_io(to, "cannot link");
  move_into_place(link, to);
}

void point_to_commit(const Place& place, const std::string& revision, const std::string& commit) {
  const std::string to = place.ref(revision), text = beside(to);
  make_folders(fs::path(to).parent_path().string());
  if (revision == commit || read_ref(to) == commit) return;
  std::ofstream out(text, std::ios::binary);
  out << commit << std::flush;
  if (!out) failed_io(to, "cannot write");
  move_into_place(text, to);
}

}  // namespace arrcoc::hub
