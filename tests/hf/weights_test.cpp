#include "arrcoc/weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "arrcoc/error.h"
#include "hf/support.h"

namespace arrcoc {
namespace {

namespace fs = std::filesystem;
using testing_support::Scratch;
using testing_support::write_text;

std::string file_of(const std::string& header, const std::string& data) {
  uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

// The message of the error that opening `bytes` raises; "" when it opens.
std::string refusal(const Scratch& scratch, const std::string& bytes) {
  std::string path = scratch.path("bad.safetensors");
  write_text(path, bytes);
  try {
    WeightFile weights = WeightFile::open(path);
    for (const auto& [name, info] : weights.tensors()) weights.view(name);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_weights);
    EXPECT_NE(std::string(error.what()).find("bad.safetensors"), std::string::npos);
    return error.what();
  }
}

TEST(Safetensors, EveryDtypeAndShapeComesBackAsWritten) {
  Scratch scratch;
  std::map<std::string, at::Tensor> tensors;
  for (auto dtype : {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble, at::kChar, at::kByte,
                     at::kShort, at::kInt, at::kLong, at::kBool}) {
    tensors[dtype_name(dtype)] = at::arange(15).reshape({3, 5}).to(dtype);
    tensors[dtype_name(dtype) + ".t"] = at::arange(15).reshape({3, 5}).to(dtype).t();
  }
  tensors["scalar"] = at::full({}, 2.5);
  tensors["empty"] = at::empty({0, 7});
  std::string path = scratch.path("a.safetensors");
  write_safetensors(path, tensors, {{"format", "pt"}});

  WeightFile weights = WeightFile::open(path);
  ASSERT_EQ(weights.tensors().size(), tensors.size());
  EXPECT_EQ(weights.metadata().at("format"), "pt");
  for (const auto& [name, tensor] : tensors) {
    at::Tensor back = weights.view(name);
    EXPECT_EQ(back.scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(at::equal(back, tensor)) << name;
  }
  EXPECT_TRUE(at::equal(weights.get("bfloat16", at::kFloat), tensors["float32"]));
  EXPECT_EQ(weights.parameters(), 2 * 10 * 15 + 1);
}

TEST(Safetensors, TheSameTensorsGiveTheSameBytesAndNoDraftIsLeftBehind) {
  Scratch scratch;
  std::map<std::string, at::Tensor> tensors = {{"b", at::ones({2})}, {"a", at::zeros({3})}};
  write_safetensors(scratch.path("1"), tensors);
  write_safetensors(scratch.path("2"), tensors);
  EXPECT_EQ(testing_support::read_text(scratch.path("1")),
            testing_support::read_text(scratch.path("2")));
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path("")), fs::directory_iterator()), 2);
}

TEST(Safetensors, AViewOutlivesTheReaderAndNeverChangesTheFile) {
  Scratch scratch;
  std::string path = scratch.path("a.safetensors");
  write_safetensors(path, {{"w", at::ones({4})}});
  at::Tensor view;
  {
    WeightFile weights = WeightFile::open(path);
    view = weights.view("w");
  }
  view.fill_(7);
  EXPECT_TRUE(at::equal(WeightFile::open(path).view("w"), at::ones({4})));
}

TEST(Safetensors, MisalignedDataOfOldWritersIsRead) {
  Scratch scratch;
  float value[2] = {1.5F, -2};
  std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  for (int pad = 0; pad < 4; ++pad) {
    write_text(scratch.path("a"), file_of(header + std::string(pad, ' '),
                                          std::string(reinterpret_cast<char*>(value), 8)));
    EXPECT_EQ(WeightFile::open(scratch.path("a")).view("w")[1].item<float>(), -2);
  }
}

TEST(Safetensors, HostileHeadersAreRefusedWithFileAndTensor) {
  Scratch scratch;
  auto tensor = [](const std::string& body) { return "{\"w\":{" + body + "}}"; };
  struct Case {
    std::string bytes, says;
  };
  std::string good = tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])");
  std::string data(8, '\0');
  const Case cases[] = {
      {"", "shorter than 8"},
      {std::string(8, '\xff'), "refused"},
      {file_of(good, data).substr(0, 20), "truncated inside the header"},
      {file_of(good, data.substr(1)), "'w': its data ends beyond"},
      {file_of(good, data + "x"), "belong to no tensor"},
      {file_of("{\"w\":", ""), "not valid JSON"},
      {file_of("[1,2]", ""), "not an object"},
      {file_of("{\"w\":3}", ""), "'w'"},
      {file_of(tensor(R"("dtype":"F33","shape":[2],"data_offsets":[0,8])"), data), "dtype 'F33'"},
      {file_of(tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), data), "whole number"},
      {file_of(tensor(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), data), "whole"},
      {file_of(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), data), "before it"},
      {file_of(tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), data), "needs 12"},
      {file_of(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0])"), data), "pair"},
      {file_of(tensor(R"("dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0])"),
               ""),
       "overflows"},
      {file_of(tensor(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8])"),
               data),
       "impossibly large"},
      {file_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
               R"("v":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
               data),
       "'v': its data overlaps"},
      {file_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
               R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
               data),
       "twice"},
      {file_of(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), data), "unused bytes"},
      {file_of(R"({"__metadata__":{"a":1}})", ""), "__metadata__.a"},
      {file_of(std::string(100000, '['), ""), "not valid JSON"},
  };
  for (const Case& bad : cases) {
    EXPECT_NE(refusal(scratch, bad.bytes).find(bad.says), std::string::npos)
        << bad.says << " | " << refusal(scratch, bad.bytes);
  }
  EXPECT_EQ(refusal(scratch, file_of(good, data)), "");
}

TEST(Safetensors, MissingAndMisshapenTensorsAreNamed) {
  Scratch scratch;
  write_safetensors(scratch.path("a"), {{"w", at::ones({4, 2})}});
  WeightFile weights = WeightFile::open(scratch.path("a"));
  EXPECT_EQ(weights.get("w", at::kFloat, {-1, 2}).numel(), 8);
  EXPECT_THROW(weights.view("nowhere"), Error);
  try {
    weights.get("w", at::kFloat, {4, 3});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'w' has shape [4,2], expected [4,3]"),
              std::string::npos);
  }
}

TEST(Safetensors, ShardedFoldersReadAsOne) {
  Scratch scratch;
  write_safetensors(scratch.path("model-00001-of-00002.safetensors"), {{"a", at::ones({2})}});
  write_safetensors(scratch.path("model-00002-of-00002.safetensors"), {{"b", at::zeros({3})}});
  std::string index = scratch.path("model.safetensors.index.json");
  write_text(index, R"({"metadata":{"total_size":20},"weight_map":{
      "a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}})");
  WeightFile weights = WeightFile::open(scratch.path(""));
  EXPECT_EQ(weights.view("a").numel() + weights.view("b").numel(), 5);
  EXPECT_EQ(weights.bytes(), 20);

  const char* broken[] = {R"({"weight_map":{"a":"model-00002-of-00002.safetensors"}})",
                          R"({"weight_map":[]})", R"({"weight_map":{"a":"../../secret"}})",
                          R"({"weight_map":{"a":7}})", "{"};
  for (const char* text : broken) {
    write_text(index, text);
    try {
      WeightFile::open(scratch.path(""));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_weights) << text;
      EXPECT_NE(std::string(error.what()).find("index.json"), std::string::npos);
    }
  }
  write_text(index, R"({"weight_map":{"a":"model-00009.safetensors"}})");
  EXPECT_THROW(WeightFile::open(scratch.path("")), Error);
}

TEST(Safetensors, UnwritablePlacesAreAnErrorAndLeaveTheOldFileAlone) {
  Scratch scratch;
  EXPECT_THROW(write_safetensors(scratch.path("no/such/folder/x"), {{"w", at::ones({1})}}), Error);
  write_safetensors(scratch.path("x"), {{"w", at::ones({1})}});
  EXPECT_THROW(write_safetensors(scratch.path("x"), {{"w", at::ones({1}, at::kComplexFloat)}}),
               Error);
  EXPECT_EQ(WeightFile::open(scratch.path("x")).view("w").item<float>(), 1);
}

}  // namespace
}  // namespace arrcoc
