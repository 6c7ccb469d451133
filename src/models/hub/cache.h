// The cache folder as huggingface_hub lays it out:
//   CACHE/models--OWNER--NAME/refs/REVISION                  the commit, as text
//                             blobs/ETAG, ETAG.incomplete    contents, by their sums
//                             snapshots/COMMIT/FILE          -> ../../blobs/ETAG
//   CACHE/.locks/models--OWNER--NAME/ETAG.lock               flock(2) while a blob is written
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arrcoc/hub.h"

namespace arrcoc::hub {

inline constexpr const char* kConfig = "config.json";
inline constexpr const char* kIndex = "model.safetensors.index.json";
inline constexpr const char* kSingle = "model.safetensors";

bool is_hex(const std::string& text, size_t length);  // in small letters
inline bool is_commit(const std::string& text) { return is_hex(text, 40); }

struct Place {
  Place(const Name& name, const std::string& cache);
  std::string blob(const std::string& etag) const { return root + "/blobs/" + etag; }
  std::string snapshot(const std::string& commit) const { return root + "/snapshots/" + commit; }
  std::string ref(const std::string& revision) const { return root + "/refs/" + revision; }
  std::string lock(const std::string& etag) const { return locks + "/" + etag + ".lock"; }
  std::string root, locks;
};

// Follows refs; "" where they do not know the revision.
std::string commit_of(const Name& name, const Place& place);
// Names of the files that an index of weights points to. Error{bad_json}.
std::vector<std::string> shards_of(const std::string& index);
// What a folder lacks to be loaded.
std::vector<std::string> missing_in(const std::string& folder);

// Nobody else who keeps to the cache's rules writes that blob meanwhile.
class Lock {
 public:
  // waiting: called once when somebody else has it.
  Lock(const std::string& path, const std::function<void()>& waiting);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_ = -1;
};

// Both atomic. Error{io}.
void point_to_blob(const Place& place, const std::string& commit, const std::string& file,
                   const std::string& etag);
void point_to_commit(const Place& place, const std::string& revision, const std::string& commit);

void make_folders(const std::string& folder);                            // Error{io}
[[noreturn]] void failed_io(const std::string& path, const char* what);  // by errno

}  // namespace arrcoc::hub
