#include "models/hub/listing.h"

#include <algorithm>
#include <new>

#include "arrcoc/error.h"
#include "base/json.h"
#include "models/hub/cache.h"

namespace arrcoc::hub {

namespace {

constexpr size_t kMostFiles = 100'000;

// huggingface_hub's _validate_relative_filename: refused whatever we would do with it.
void require_inside(const std::string& path, const std::string& repo) {
  std::string slashes = path;
  std::replace(slashes.begin(), slashes.end(), '\\', '/');
  const bool drive = slashes.size() > 1 && slashes[1] == ':';
  const bool odd = std::any_of(path.begin(), path.end(), [](char c) { return c >= 0 && c < ' '; });
  if (slashes.empty() || slashes.front() == '/' || drive || odd ||
      ("/" + slashes + "/").find("/../") != std::string::npos)
    throw Error(ErrorCode::bad_json, repo + ": the hub lists a file '" + path.substr(0, 200) +
                                         "', which leads out of the model's folder: refused");
}

std::string text_in(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

int64_t size_in(const json& object) {
  const auto at = object.find("size");
  return at != object.end() && at->is_number_unsigned() && *at <= uint64_t{1} << 50
             ? at->get<int64_t>()
             : -1;
}

File file_of(const json& entry) {
  File out{text_in(entry, "rfilename"), text_in(entry, "blobId"), size_in(entry)};
  if (const auto lfs = entry.find("lfs"); lfs != entry.end() && lfs->is_object()) {
    out.etag = text_in(*lfs, "sha256");
    out.size = size_in(*lfs);
  }
  if (!is_hex(out.etag, 64) && !is_hex(out.etag, 40)) out.etag.clear();
  return out;
}

}  // namespace

const File* Listing::file(const std::string& path) const {
  const auto at =
      std::find_if(files.begin(), files.end(), [&](const File& one) { return one.path == path; });
  return at == files.end() ? nullptr : &*at;
}

Listing parse_listing(const std::string& text, const std::string& repo) {
  const json reply = parse_json(text, "the hub's reply about " + repo);
  const json files = reply.is_object() ? reply.value("siblings", json()) : json();
  Listing out;
  if (reply.is_object()) out.commit = text_in(reply, "sha");
  if (!is_commit(out.commit) || !files.is_array() || files.size() > kMostFiles)
    throw Error(ErrorCode::bad_json,
                "the hub's reply about " + repo + " names no commit, or no list of files");
  for (const json& entry : files) {
    if (!entry.is_object()) continue;
    out.files.push_back(file_of(entry));
    require_inside(out.files.back().path, repo);
  }
  return out;
}

std::vector<File> small_files(const Listing& listing, const std::string& repo) {
  // The last line is what the bundled architecture has besides its weights.
  static constexpr const char* kNames[] = {kConfig,
                                           "generation_config.json",
                                           "preprocessor_config.json",
                                           "processor_config.json",
                                           "tokenizer.json",
                                           "tokenizer_config.json",
                                           "special_tokens_map.json",
                                           "chat_template.json",
                                           "chat_template.jinja",
                                           "calibration.json",
                                           "policies.json",
                                           "film.json",
                                           "kinds.json",
                                           "ranges.json",
                                           "history.safetensors",
                                           kIndex};
  if (!listing.file(kConfig) || (!listing.file(kIndex) && !listing.file(kSingle)))
    throw Error(ErrorCode::not_found,
                repo + " has no " + (listing.file(kConfig) ? kSingle : kConfig) +
                    ": only Hugging Face checkpoints in safetensors are read");
  std::vector<File> out;
  for (const char* name : kNames)
    if (const File* file = listing.file(name)) out.push_back(*file);
  return out;
}

std::string normal_etag(const std::string& header) {
  std::string out = header;
  if (out.rfind("W/", 0) == 0) out.erase(0, 2);
  std::erase(out, '"');
  const bool plain = out.size() <= 128 && std::all_of(out.begin(), out.end(), [](char c) {
                       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                              (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
                     });
  return plain ? out : "";
}

Digest::Digest(const std::string& etag, int64_t size) : context_(nullptr, EVP_MD_CTX_free) {
  const EVP_MD* kind = is_hex(etag, 64) ? EVP_sha256() : is_hex(etag, 40) ? EVP_sha1() : nullptr;
  if (!kind) return;
  context_.reset(EVP_MD_CTX_new());
  if (!context_ || EVP_DigestInit_ex(context_.get(), kind, nullptr) != 1) throw std::bad_alloc();
  if (kind != EVP_sha1()) return;
  const std::string head = "blob " + std::to_string(size);  // and its final zero: git's blobs
  add(head.c_str(), head.size() + 1);
}

void Digest::add(const void* data, size_t size) {
  if (context_) EVP_DigestUpdate(context_.get(), data, size);
}

std::string Digest::hex() {
  if (!context_) return "";
  unsigned char sum[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context_.get(), sum, &size);
  std::string out;
  for (unsigned i = 0; i < size; ++i)
    for (int shift : {4, 0}) out += "0123456789abcdef"[(sum[i] >> shift) & 15];
  return out;
}

}  // namespace arrcoc::hub
