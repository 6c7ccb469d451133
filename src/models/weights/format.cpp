#include "models/weights/format.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "arrcoc/error.h"
#include "arrcoc/weights.h"

namespace arrcoc::safetensors {
namespace {

using nlohmann::json;

struct Dtype {
  at::ScalarType type;
  const char* spelling;  // in a header
  const char* name;      // for people
};
constexpr Dtype kDtypes[] = {{at::kFloat, "F32", "float32"},      {at::kHalf, "F16", "float16"},
                             {at::kBFloat16, "BF16", "bfloat16"}, {at::kDouble, "F64", "float64"},
                             {at::kChar, "I8", "int8"},           {at::kByte, "U8", "uint8"},
                             {at::kShort, "I16", "int16"},        {at::kInt, "I32", "int32"},
                             {at::kLong, "I64", "int64"},         {at::kBool, "BOOL", "bool"}};

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::bad_weights, file + ": " + what);
}

[[noreturn]] void fail(const std::string& file, const std::string& tensor,
                       const std::string& what) {
  fail(file, "tensor '" + tensor + "': " + what);
}

// Two entries of one name would make the meaning of the file depend on the reader.
json parse_unique(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> open;
  json::parser_callback_t watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) {
      open.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      open.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!open.back().insert(key).second) fail(file, "header names '" + key + "' twice");
    }
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), watch);
  } catch (const json::exception&) {
    fail(file, "the safetensors header is not valid JSON");
  }
}

uint64_t whole(const json& value, const std::string& file, const std::string& tensor,
               const char* what) {
  if (!value.is_number_unsigned()) fail(file, tensor, std::string(what) + " is not a whole number");
  return value.get<uint64_t>();
}

Entry read_entry(const json& value, const std::string& file, const std::string& name) {
  if (!value.is_object()) fail(file, name, "its description is not an object");
  for (const char* key : {"dtype", "shape", "data_offsets"})
    if (!value.contains(key)) fail(file, name, std::string("no ") + key);
  if (!value["dtype"].is_string()) fail(file, name, "dtype is not a string");
  if (!value["shape"].is_array()) fail(file, name, "shape is not a list");
  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2) fail(file, name, "data_offsets is not a pair");

  Entry entry;
  entry.dtype = dtype_of(value["dtype"].get<std::string>(), file, name);
  if (value["shape"].size() > 16) fail(file, name, "more than 16 dimensions");
  int64_t bytes = static_cast<int64_t>(c10::elementSize(entry.dtype));
  bool empty = false;
  for (const json& side : value["shape"]) {
    uint64_t length = whole(side, file, name, "a dimension");
    if (length > uint64_t{1} << 48) fail(file, name, "a dimension is impossibly large");
    entry.shape.push_back(static_cast<int64_t>(length));
    empty = empty || length == 0;
    if (!empty && __builtin_mul_overflow(bytes, static_cast<int64_t>(length), &bytes))
      fail(file, name, "its shape overflows");
  }
  if (empty) bytes = 0;
  entry.begin = whole(offsets[0], file, name, "an offset");
  entry.end = whole(offsets[1], file, name, "an offset");
  if (entry.end < entry.begin) fail(file, name, "its data ends before it begins");
  if (entry.end - entry.begin != static_cast<uint64_t>(bytes))
    fail(file, name,
         "its shape needs " + std::to_string(bytes) + " bytes, the file gives it " +
             std::to_string(entry.end - entry.begin));
  return entry;
}

// The data part must be covered once: no overlap, no hole, nothing after the last tensor.
void check_layout(const Header& header, uint64_t data_bytes, const std::string& file) {
  std::vector<std::pair<uint64_t, const std::string*>> order;
  for (const auto& [name, entry] : header.entries) {
    if (entry.end > data_bytes)
      fail(file, name, "its data ends beyond the file (truncated download?)");
    if (entry.end > entry.begin) order.emplace_back(entry.begin, &name);
  }
  std::sort(order.begin(), order.end());
  uint64_t at = 0;
  for (const auto& [begin, name] : order) {
    if (begin < at) fail(file, *name, "its data overlaps another tensor's");
    if (begin > at) fail(file, *name, "unused bytes before its data");
    at = header.entries.at(*name).end;
  }
  if (at != data_bytes) fail(file, std::to_string(data_bytes - at) + " bytes belong to no tensor");
}

}  // namespace

at::ScalarType dtype_of(const std::string& spelling, const std::string& file,
                        const std::string& tensor) {
  for (const Dtype& known : kDtypes)
    if (spelling == known.spelling) return known.type;
  fail(file, tensor, "unknown dtype '" + spelling.substr(0, 32) + "'");
}

std::string spelling_of(at::ScalarType dtype, const std::string& tensor) {
  for (const Dtype& known : kDtypes)
    if (dtype == known.type) return known.spelling;
  throw Error(ErrorCode::bad_argument, "tensor '" + tensor + "': safetensors has no dtype for " +
                                           std::string(c10::toString(dtype)));
}

Header parse_header(std::string_view bytes, const std::string& file) {
  if (bytes.size() < 8) fail(file, "not a safetensors file: shorter than 8 bytes");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  if (length > kMaxHeader) fail(file, "header of " + std::to_string(length) + " bytes refused");
  if (length > bytes.size() - 8) fail(file, "truncated inside the header");

  json parsed = parse_unique(bytes.substr(8, length), file);
  if (!parsed.is_object()) fail(file, "the safetensors header is not an object");
  Header header;
  header.data_offset = 8 + length;
  for (const auto& [name, value] : parsed.items()) {
    if (name != "__metadata__") {
      header.entries[name] = read_entry(value, file, name);
      continue;
    }
    if (!value.is_object()) fail(file, "__metadata__ is not an object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail(file, "__metadata__." + key + " is not a string");
      header.metadata[key] = text.get<std::string>();
    }
  }
  check_layout(header, bytes.size() - header.data_offset, file);
  return header;
}

}  // namespace arrcoc::safetensors

std::string arrcoc::dtype_name(at::ScalarType dtype) {
  for (const auto& known : safetensors::kDtypes)
    if (dtype == known.type) return known.name;
  return c10::toString(dtype);
}
