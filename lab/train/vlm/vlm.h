// Training Hugging Face families on scenes of shapes: the whole of a small one, or what stands
// before a frozen one: an adapter of its visual rows, an allocator that chooses them.
#pragma once

#include <functional>
#include <string>

#include "arrcoc/error.h"
#include "base/json.h"

namespace arrcoc::training {

enum class VlmStage {
  whole,      // every tensor of the checkpoint
  adapter,    // the adapter alone; the checkpoint stands still
  allocator,  // the allocator alone
  both,       // adapter and allocator
};

}  // namespace arrcoc::training

namespace arrcoc {
template <>
struct EnumNames<training::VlmStage> {
  using enum training::VlmStage;
  static constexpr const char* kWhat = "stage";
  static constexpr std::pair<training::VlmStage, const char*> kNames[] = {
      {whole, "whole"}, {adapter, "adapter"}, {allocator, "allocator"}, {both, "both"}};
};
}  // namespace arrcoc

namespace arrcoc::training {

struct VlmOptions {
  VlmStage stage = VlmStage::whole;
  std::string init;     // folder of the checkpoint; or a config.json (whole): begins at random
  std::string out;      // whole: a folder like init's; else OUT/learned.safetensors
  std::string learned;  // stages before a frozen model: what an earlier stage wrote; "": afresh
  int64_t steps = 600;
  int batch = 8;      // scenes a step
  int budget = 24;    // visual tokens
  int side = 128;     // pixels of a scene
  int shapes = 2;     // 1 or 2 in a scene
  int examples = 0;   // that many scenes again and again; 0: always new ones
  int held_out = 64;  // scenes that are never trained on
  int width = 16;     // of the adapter's and the allocator's hidden layer
  int draws = 4;      // of the tokens for one question, each other's baseline
  double temperature = 0.5;
  double rate = 2e-3;
  uint64_t seed = 1;
};
// Fields of those names. Error{bad_json}.
VlmOptions vlm_options(const json& fields);

struct VlmReport {
  int64_t steps = 0;
  double first_loss = 0, loss = 0;  // mean over the same scenes, greedy choice, before and after
  double exact = 0;                 // share of these that are answered right, letter by letter
  double majority = 0;              // the same for always giving the commonest answer of each kind
  double tokens = 0;                // visual, mean
  double seconds = 0;               // of the processor
  bool frozen_alike = true;         // no bit of the frozen tensors changed
};

// Measured on held-out scenes, or on the examples where there are some. `say` hears a line now and
// then. Error{bad_argument} for options that cannot be, and those of opening a model.
VlmReport train_vlm(const VlmOptions& options, const std::function<void(const std::string&)>& say);

}  // namespace arrcoc::training
