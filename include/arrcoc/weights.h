// Weight files in the safetensors format: read through a memory map, written atomically.
//
//   WeightFile weights = WeightFile::open("model-folder");  // or one .safetensors file
//   at::Tensor w = weights.get("lm_head.weight", at::kFloat);  // converted when read, not before
//   write_safetensors("out.safetensors", {{"w", w}}, {{"format", "pt"}});
//
// Every broken file (truncated, overlapping or out-of-range offsets, impossible shapes, a header
// that is not JSON) throws Error{bad_weights} that names the file and, where one is to blame, the
// tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace arrcoc {

class WeightFile {
 public:
  struct Info {
    at::ScalarType dtype = at::kFloat;  // as stored
    std::vector<int64_t> shape;
    int64_t bytes = 0;  // in the file
    std::string file;   // the shard that holds it
  };

  // A .safetensors file, or a folder with model.safetensors.index.json (shards) or
  // model.safetensors. Reads headers only. Error{not_found, io, bad_weights}.
  static WeightFile open(const std::string& path);

  bool has(const std::string& name) const { return tensors_.count(name) != 0; }
  const std::map<std::string, Info>& tensors() const { return tensors_; }
  // Error{bad_weights} when there is no such tensor.
  const Info& info(const std::string& name) const;
  // The tensor as stored, on the CPU, without copying. It keeps the file mapped for as long as it
  // lives. Writing to it changes this process's copy only, never the file.
  at::Tensor view(const std::string& name) const;
  // The tensor as `dtype`: a view where that is how it is stored, a converted copy otherwise.
  at::Tensor get(const std::string& name, at::ScalarType dtype) const;
  // Error{bad_weights} that says what was expected when the shape differs. -1 matches any size.
  void check(const std::string& name, const std::vector<int64_t>& shape) const;
  // Also checks the shape.
  at::Tensor get(const std::string& name, at::ScalarType dtype,
                 const std::vector<int64_t>& shape) const;
  // The header's free-form strings (of the first file, for shards).
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // What was opened, for messages.
  const std::string& source() const { return source_; }
  int64_t bytes() const;       // of all tensors, as stored
  int64_t parameters() const;  // elements of all tensors

 private:
  struct Mapping;
  void add_file(const std::string& path);

  std::string source_;
  std::map<std::string, Info> tensors_;
  std::map<std::string, const uint8_t*> data_;
  std::map<std::string, std::shared_ptr<Mapping>> files_;
  std::map<std::string, std::string> metadata_;
};

// A text file, in the same way: it appears under its name only when it is complete. Error{io}.
void write_text_file(const std::string& path, const std::string& text);

// Writes float32/64/16, bfloat16, int8/16/32/64, uint8 and bool tensors of any device. The file
// appears under its name only when it is complete. The same tensors give the same bytes.
// Error{io, bad_argument}.
void write_safetensors(const std::string& path, const std::map<std::string, at::Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

// "float32", "bfloat16", ... for messages and cards.
std::string dtype_name(at::ScalarType dtype);

}  // namespace arrcoc
