#include <ATen/ATen.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "models/weights/format.h"

namespace arrcoc {
namespace {

using nlohmann::json;

// A file that exists under its final name only after finish(); removed when anything throws.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path)
      : path_(std::move(path)), draft_(path_ + ".part" + std::to_string(::getpid())) {
    descriptor_ = ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor_ < 0) fail("cannot be created");
  }
  ~AtomicFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(draft_.c_str());
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      ssize_t done = ::write(descriptor_, at, std::min<size_t>(size, size_t{1} << 30));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) fail("cannot be written");
      at += done;
      size -= static_cast<size_t>(done);
    }
  }

  void finish() {
    if (::fsync(descriptor_) != 0) fail("cannot be flushed");
    ::close(descriptor_);
    descriptor_ = -1;
    if (::rename(draft_.c_str(), path_.c_str()) != 0) {
      ::unlink(draft_.c_str());
      fail("cannot be put in place");
    }
  }

 private:
  [[noreturn]] void fail(const char* what) {
    throw Error(ErrorCode::io, path_ + ": " + what + ": " + std::strerror(errno));
  }

  std::string path_;
  std::string draft_;
  int descriptor_ = -1;
};

struct Item {
  const std::string* name;
  const at::Tensor* tensor;
};

// Wide elements first: every tensor then starts at a multiple of its element size.
std::vector<Item> aligned_order(const std::map<std::string, at::Tensor>& tensors) {
  std::vector<Item> items;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined())
      throw Error(ErrorCode::bad_argument, "tensor '" + name + "' is not defined");
    if (name == "__metadata__")
      throw Error(ErrorCode::bad_argument, "a tensor cannot be named __metadata__");
    items.push_back({&name, &tensor});
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.tensor->element_size() > b.tensor->element_size();
  });
  return items;
}

}  // namespace

void write_text_file(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.finish();
}

void write_safetensors(const std::string& path, const std::map<std::string, at::Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<Item> items = aligned_order(tensors);
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  int64_t offset = 0;
  for (const Item& item : items) {
    int64_t bytes = item.tensor->numel() * static_cast<int64_t>(item.tensor->element_size());
    header[*item.name] = {
        {"dtype", safetensors::spelling_of(item.tensor->scalar_type(), *item.name)},
        {"shape", item.tensor->sizes().vec()},
        {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');

  AtomicFile file(path);
  uint64_t length = text.size();
  file.write(&length, 8);
  file.write(text.data(), text.size());
  for (const Item& item : items) {
    at::Tensor plain = item.tensor->detach().to(at::kCPU).contiguous();
    file.write(plain.data_ptr(), static_cast<size_t>(plain.numel()) * plain.element_size());
  }
  file.finish();
}

}  // namespace arrcoc
