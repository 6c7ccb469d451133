#include <ATen/ATen.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"
#include "models/weights/format.h"

namespace arrcoc {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) text += ',';
    text += shape[i] < 0 ? "any" : std::to_string(shape[i]);
  }
  return text + "]";
}

// Which shard holds which tensor. Names are plain file names: an index must not reach elsewhere.
std::map<std::string, std::string> read_index(const fs::path& path) {
  auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::bad_weights, path.string() + ": " + what);
  };
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::io, path.string() + ": cannot be read");
  json parsed = json::parse(in, nullptr, false);
  if (parsed.is_discarded() || !parsed.is_object()) fail("not valid JSON");
  if (!parsed.contains("weight_map") || !parsed["weight_map"].is_object()) fail("no weight_map");
  std::map<std::string, std::string> map;
  for (const auto& [tensor, file] : parsed["weight_map"].items()) {
    std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || name == "." || name == ".." ||
        name.find_first_of(std::string("/\\\0", 3)) != std::string::npos)
      fail("tensor '" + tensor + "' names no plain file");
    map[tensor] = name;
  }
  return map;
}

}  // namespace

// Private and writable: a stray in-place operation touches a page of this process, not the file.
struct WeightFile::Mapping {
  uint8_t* data = nullptr;
  size_t size = 0;

  explicit Mapping(const std::string& path) {
    int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
      throw Error(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                  path + ": " + std::strerror(errno));
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(descriptor);
      throw Error(ErrorCode::io, path + ": not a file");
    }
    size = static_cast<size_t>(status.st_size);
    void* mapped = size ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                                 descriptor, 0)
                        : nullptr;
    ::close(descriptor);
    if (mapped == MAP_FAILED)
      throw Error(ErrorCode::io, path + ": cannot be mapped: " + std::strerror(errno));
    data = static_cast<uint8_t*>(mapped);
  }
  ~Mapping() {
    if (data) ::munmap(data, size);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
};

void WeightFile::add_file(const std::string& path) {
  auto mapping = std::make_shared<Mapping>(path);
  std::string_view bytes(reinterpret_cast<const char*>(mapping->data), mapping->size);
  safetensors::Header header = safetensors::parse_header(bytes, path);
  for (auto& [name, entry] : header.entries) {
    if (tensors_.count(name))
      throw Error(ErrorCode::bad_weights,
                  path + ": tensor '" + name + "' is already in " + tensors_[name].file);
    tensors_[name] = {entry.dtype, std::move(entry.shape),
                      static_cast<int64_t>(entry.end - entry.begin), path};
    data_[name] = mapping->data + header.data_offset + entry.begin;
  }
  if (files_.empty()) metadata_ = std::move(header.metadata);
  files_[path] = std::move(mapping);
}

WeightFile WeightFile::open(const std::string& path) {
  WeightFile weights;
  weights.source_ = path;
  if (!fs::is_directory(path)) {
    weights.add_file(path);
    return weights;
  }
  fs::path index = fs::path(path) / "model.safetensors.index.json";
  fs::path single = fs::path(path) / "model.safetensors";
  if (fs::exists(index)) {
    auto map = read_index(index);
    std::set<std::string> shards;
    for (const auto& [tensor, file] : map) shards.insert(file);
    for (const auto& shard : shards) weights.add_file((fs::path(path) / shard).string());
    for (const auto& [tensor, file] : map) {
      std::string expected = (fs::path(path) / file).string();
      if (!weights.has(tensor) || weights.tensors_[tensor].file != expected)
        throw Error(ErrorCode::bad_weights,
                    index.string() + ": tensor '" + tensor + "' is not in " + file);
    }
  } else if (fs::exists(single)) {
    weights.add_file(single.string());
  } else {
    throw Error(ErrorCode::not_found,
                path +
                    ": no model.safetensors and no model.safetensors.index.json (weights in "
                    "other formats must be converted first)");
  }
  return weights;
}

const WeightFile::Info& WeightFile::info(const std::string& name) const {
  auto found = tensors_.find(name);
  if (found == tensors_.end())
    throw Error(ErrorCode::bad_weights, source_ + ": no tensor '" + name + "'");
  return found->second;
}

at::Tensor WeightFile::view(const std::string& name) const {
  const Info& about = info(name);
  const uint8_t* data = data_.at(name);
  auto options = at::TensorOptions().dtype(about.dtype);
  if (about.bytes == 0) return at::empty(about.shape, options);
  if (reinterpret_cast<uintptr_t>(data) % c10::elementSize(about.dtype) != 0) {
    at::Tensor copy = at::empty(about.shape, options);  // old writers did not pad their headers
    std::memcpy(copy.data_ptr(), data, static_cast<size_t>(about.bytes));
    return copy;
  }
  auto keep = files_.at(about.file);
  return at::from_blob(
      const_cast<uint8_t*>(data), about.shape, [keep](void*) {}, options);
}

at::Tensor WeightFile::get(const std::string& name, at::ScalarType dtype) const {
  return view(name).to(dtype);
}

void WeightFile::check(const std::string& name, const std::vector<int64_t>& shape) const {
  const Info& about = info(name);
  bool fits = about.shape.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = shape[i] < 0 || shape[i] == about.shape[i];
  if (!fits)
    throw Error(ErrorCode::bad_weights, about.file + ": tensor '" + name + "' has shape " +
                                            shape_text(about.shape) + ", expected " +
                                            shape_text(shape));
}

at::Tensor WeightFile::get(const std::string& name, at::ScalarType dtype,
                           const std::vector<int64_t>& shape) const {
  check(name, shape);
  return get(name, dtype);
}

int64_t WeightFile::bytes() const {
  int64_t sum = 0;
  for (const auto& [name, about] : tensors_) sum += about.bytes;
  return sum;
}

int64_t WeightFile::parameters() const {
  int64_t sum = 0;
  for (const auto& [name, about] : tensors_)
    sum += about.bytes / static_cast<int64_t>(c10::elementSize(about.dtype));
  return sum;
}

}  // namespace arrcoc
