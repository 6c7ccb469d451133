// Trains the learned queries of the baseline `qformer` (models/tiny/query_former.h).
#pragma once

#include "lab/train/train.h"

namespace arrcoc::training {

// What differs from the trainer's defaults: pictures of at most 512 pixels with all their tokens,
// which is what native was trained on too; no questions about words alone; Muon; 4 minutes.
Options query_defaults();

struct QueryReport {
  int64_t steps = 0, questions = 0;
  double seconds = 0;
  double first_loss = 0, loss = 0;  // of the answer, mean of the first and of the last window
  double held_out_loss = 0, held_out_exact = 0;
};

// Uses of the options: out (the module's folder), init (needed), resume (goes on from the module in
// out, which may belong to another answerer; the optimiser starts afresh), assets, device, seed,
// minutes or steps, canvas, slots, workers, fresh, words, mix, pictures, questions, optimiser,
// rate, warmup, final_rate, decay, clip, report_seconds, evaluate_seconds, evaluate_steps,
// held_out. The answerer of `init` is read and never changed. The module is replaced atomically at
// every evaluation. Error for anything that cannot go on.
QueryReport train_queries(const Options& options, const SceneSource& source,
                          const std::function<void(const std::string&)>& say);
QueryReport train_queries(const Options& options,
                          const std::function<void(const std::string&)>& say);

}  // namespace arrcoc::training
