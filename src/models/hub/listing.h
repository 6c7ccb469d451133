// What a model on the hub consists of, and sums of its files.
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrcoc/hub.h"

namespace arrcoc::hub {

struct File {
  std::string path;
  std::string etag;   // the blob's name: sha256 of large files, git's sha1 of others; "": not told
  int64_t size = -1;  // below 0: not told
};

struct Listing {
  std::string commit;
  std::vector<File> files;
  const File* file(const std::string& path) const;  // null: there is none
};

// The reply to /api/models/OWNER/NAME/revision/REVISION?blobs=true. Error{bad_json}, also for names
// of files that lead out of their folder.
Listing parse_listing(const std::string& text, const std::string& repo);

// The files that we read but for the weights themselves (they are known once the index is), those
// that must be there first. Error{not_found} where no model of ours can be made of them.
std::vector<File> small_files(const Listing& listing, const std::string& repo);

// The value of an ETag header as the cache names blobs; "" when it cannot be such a name.
std::string normal_etag(const std::string& header);

// The sum that an etag stands for, over bytes as they come.
class Digest {
 public:
  Digest(const std::string& etag, int64_t size);
  void add(const void* data, size_t size);
  // Ends it. "": the etag is no sum that we know.
  std::string hex();

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace arrcoc::hub
