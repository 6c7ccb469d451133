#include "models/tiny/history.h"

#include <algorithm>
#include <filesystem>

#include "arrcoc/error.h"
#include "models/tiny/files.h"

namespace arrcoc::tiny {
namespace {

namespace fs = std::filesystem;

constexpr int kHidden = 96;
constexpr int kHeadWidth = 32;
constexpr const char* kFile = "history.safetensors";
constexpr const char* kArchitecture = "arrcoc-history-1";

std::string path_in(const std::string& folder) { return (fs::path(folder) / kFile).string(); }

// One map of 16-pixel cells into one feature of each half of the cells of words.
void fill(const Map& map, int feature, int64_t rows, int64_t cols, float* to) {
  for (int64_t r = 0; r < std::min<int64_t>(map.rows, rows); ++r)
    for (int64_t c = 0; c < std::min<int64_t>(map.cols, 2 * cols); ++c)
      to[(r * cols + c / 2) * kPastCell + (c % 2) * 3 + feature] =
          map.at(static_cast<int>(r), static_cast<int>(c));
}

}  // namespace

Past Past::to(at::Device device, at::ScalarType type) const {
  return {cells.to(device, type), said.to(device)};
}

Past past_of(const std::vector<History>& histories, int64_t rows, int64_t cols) {
  const auto q = static_cast<int64_t>(histories.size());
  Past out;
  out.cells = at::zeros({q, rows, cols, kPastCell}, at::kFloat);
  std::vector<std::vector<uint8_t>> said;
  size_t longest = 1;
  for (int64_t i = 0; i < q; ++i) {
    const History& history = histories[static_cast<size_t>(i)];
    float* to = out.cells.data_ptr<float>() + i * rows * cols * kPastCell;
    fill(history.detail, 0, rows, cols, to);
    fill(history.attention_previous, 1, rows, cols, to);
    fill(history.attention_accumulated, 2, rows, cols, to);
    for (int64_t c = 0; c < rows * cols; ++c)
      to[c * kPastCell + kPastCell - 1] = static_cast<float>(history.uncertainty);
    said.push_back(encode(history.answer));
    if (said.back().size() > kMaxAnswer) said.back().resize(kMaxAnswer);
    longest = std::max(longest, said.back().size());
  }
  // Two pads after the longest, as questions have them.
  out.said = at::full({q, static_cast<int64_t>(longest) + 2}, kPad, at::kLong);
  for (size_t i = 0; i < said.size(); ++i)
    std::copy(said[i].begin(), said[i].end(),
              out.said[static_cast<int64_t>(i)].data_ptr<int64_t>());
  return out;
}

HistoryNet::HistoryNet(const Shape& s) {
  in_ = Linear(layout_, "in", kPastCell, kHidden);
  out_ = Linear(layout_, "out", kHidden, s.ask, 0);
  asked_norm_ = Norm(layout_, "asked_norm", s.ask);
  said_norm_ = Norm(layout_, "said_norm", s.ask);
  said_ = Attention(layout_, "said", s.ask, s.ask, s.ask / kHeadWidth, 0);
  judge_ = Linear(layout_, "judge", s.ask + kPastCell, kHidden);
  verdict_ = Linear(layout_, "verdict", kHidden, 2, 0);
}

Tensor HistoryNet::cells(const Parameters& w, const Tensor& past) const {
  return out_(w, at::gelu(in_(w, past)));
}

Tensor HistoryNet::words(const Parameters& w, const Tensor& asked, const Tensor& said,
                         const Tensor& mask) const {
  return said_(w, asked_norm_(w, asked), said_.remember(w, said_norm_(w, said)), mask);
}

Tensor HistoryNet::logits(const Parameters& w, const Tensor& x, const Tensor& past) const {
  return verdict_(w, at::gelu(judge_(w, at::cat({x, past}, 3))));
}

void save_history(const std::string& folder, const Shape& shape, const Tensors& tensors,
                  bool int8) {
  if (tensors.empty()) {
    std::error_code none;
    fs::remove(path_in(folder), none);
    return;
  }
  const HistoryNet net(shape);
  std::vector<std::pair<std::string, Tensor>> stored;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string& name = net.layout().specs()[i].name;
    const Tensor tensor = tensors[i].detach().to(at::kCPU);
    if (int8)
      add_int8(stored, name, tensor);
    else
      stored.emplace_back(name, tensor.to(at::kBFloat16).contiguous());
  }
  write_safetensors(path_in(folder), {stored.begin(), stored.end()},
                    {{"format", "pt"}, {"architecture", kArchitecture}});
}

Tensors load_history(const std::string& folder, const Shape& shape) {
  const std::string path = path_in(folder);
  std::error_code none;
  if (!fs::exists(path, none)) return {};
  const WeightFile file = WeightFile::open(path);
  const auto found = file.metadata().find("architecture");
  if (found == file.metadata().end() || found->second != kArchitecture)
    throw Error(ErrorCode::bad_weights, path + " is no " + kArchitecture + " module");
  Tensors out;
  size_t used = 0;
  const HistoryNet net(shape);
  for (const TensorSpec& spec : net.layout().specs())
    if (!at::isfinite(out.emplace_back(read_tensor(file, spec.name, spec, used)))
             .all()
             .item<bool>())
      throw Error(ErrorCode::bad_weights,
                  path + ": tensor '" + spec.name + "' holds values that are not finite");
  if (file.tensors().size() != used)
    throw Error(ErrorCode::bad_weights, path + " holds " + std::to_string(file.tensors().size()) +
                                            " tensors where " + std::to_string(used) + " belong");
  return out;
}

}  // namespace arrcoc::tiny
