// A film that a Hugging Face model reads in one sequence (arrcoc_hf).
//
//   auto model = open_model("Qwen3-VL-2B");
//   Reply reply = read_film(*model, frames, "What came first?");
#pragma once

#include <span>
#include <string>

#include "arrcoc/model.h"

namespace arrcoc {

// One frame that is to be read; the picture must outlive the call.
struct FilmFrame {
  const Picture* picture = nullptr;
  double seconds = 0;     // when it is shown
  Allocation allocation;  // leaves: which of its tokens are read; none: all of it is left out
};

// True for Hugging Face models of the Qwen family.
bool reads_films(const Model& model);

// Frames of one size in order of time go through the model's own path for films, every one as a
// temporal patch of its own; tokens that are read keep their true positions in time and space.
// Reply::kept has one number, of the whole film. Error{unsupported} for models that read no films,
// Error{bad_argument, bad_image}.
Reply read_film(const Model& model, std::span<const FilmFrame> frames, const std::string& question,
                const GenerateOptions& generate = {});

}  // namespace arrcoc
