// Training the bundled model from generated scenes. One process, or several over c10d.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/scenes/scenes.h"
#include "models/tiny/tiny.h"

namespace arrcoc::training {

struct Options {
  // what
  std::string assets = "assets";  // fonts and cut-outs of the scene generator
  std::string out = "out/train";  // weights, checkpoint, metrics
  std::string init;               // folder with weights to start from, or "" for fresh ones
  bool refit = false;           // fit those weights into `shape`: parts are added, others narrowed
  std::string device = "auto";  // auto, cpu, cuda
  tiny::Shape shape;
  uint64_t seed = 1;
  // how long: minutes of wall time, or steps when given (then everything is reproducible)
  double minutes = 20;
  int64_t steps = 0;
  bool resume = false;     // continue from the checkpoint in `out`
  bool checkpoint = true;  // write optimiser state too, at every evaluation
  // data
  int canvas = 1024;    // longest side of pictures
  int slots = 2048;     // pictures in the pool
  int workers = 0;      // generator threads; 0: one less than the cores
  int fresh = 0;        // new pictures a step; 0: as many as are ready
  float small = 0.08F;  // share of pictures of at most half the canvas (dense token sets)
  float words = 0.25F;  // share of questions about words alone
  std::map<std::string, double> mix;  // weight of each kind of scene; empty: the training mix
  std::string texts;                  // file of texts for scenes of the kind texts (scenes.h)
  float strange = 0;                  // share of scenes with strange names (scenes.h)
  int pictures = 64;                  // a step
  int questions = 8;                  // a picture
  int taught = 0;                     // questions a picture that teach the realizer; 0: all
  int groups = 1;      // the answerer takes a step's questions in so many groups of like length
  int accumulate = 1;  // steps are split in so many parts, one after another
  // curriculum, in shares of the whole
  float reading = 0.35F;     // the first share: cells of the answer only
  float joint = 0.85F;       // from here on at a lower rate
  float own_maps = 0.7F;     // share of the realizer's own maps at the end
  float own_maps_start = 0;  // and when reading ends
  float dense = 0.06F;       // share of steps with all level-0 tokens of small pictures
  float enlarged = 0.2F;     // share of questions that may use level -1
  int budget_low = 64, budget_high = 400;
  // Real pictures beside the scenes: "DIR[:share],DIR...", folders in the format of shared/real.
  std::string data;
  float real = 0.5F;         // share of a step's pictures that are real
  float swapped = 0;         // share of documents' views on which words of answers change places
  float real_words = 0.5F;   // share of the questions about real pages that are about words alone
  int native = 1600;         // longest side of real pictures that tokens are cut from
  float frame_zoom = 2;      // small real pictures are enlarged for the realizer, at most this much
  int real_slots = 512;      // pictures in the pool, of pages and of photographs
  int remember = 8192;       // MiB of decoded pictures that are kept
  float held_share = 0.05F;  // pictures held aside where the folder does not say which
  int held_real = 24;        // of every set, measured at evaluations
  float names = 0.3F;        // weight of the names of things on photographs
  // The weights of `init` are kept where the new ones are worse on real pictures held aside.
  bool guard = true;
  // optimisation
  std::string optimiser = "adamw";  // or muon: orthogonalised momentum for hidden matrices
  float rate = 1e-3F;
  float realizer_rate = 1e-3F;
  float warmup = 0.02F;      // share of the whole
  float final_rate = 0.02F;  // of the peak rate, at the end of the cosine
  float decay = 0.05F;
  float clip = 1.0F;
  float glyph_weight = 0.5F;
  float sparsity = 0.05F;  // weight of expected tokens / 400 in the tier head's loss
  bool freeze_realizer = false, freeze_answerer = false;
  std::vector<std::string> freeze;  // tensors whose names start so stay as they are
  int alternate = 0;  // >0: so many steps only the realizer learns, then only the answerer, ...
  // Outcome training: share of the full steps whose splits are drawn and credited with what came of
  // them; questions / taught draws of each question are compared.
  float outcome = 0;
  float outcome_weight = 0.05F;
  float outcome_temperature = 0.3F;  // of the draws, in units of log relevance
  // Looking again: share of the steps whose questions have an earlier pass, drawn by the network's
  // own map at history_low to history_high tokens and answered; history_wrong of them have that of
  // another question about the picture. Then the network learns the map of the next pass.
  float history = 0;
  int history_low = 40, history_high = 90;
  float history_wrong = 0.1F;
  // Weight of what comes of splits drawn by that map (scenes alone; as outcome_weight). 0: none.
  float history_outcome = 0;
  bool recompute = false;  // layers compute themselves anew for gradients: less memory, more time
  // measuring
  double report_seconds = 10;
  double evaluate_seconds = 75;
  int evaluate_steps = 0;  // >0: evaluate every so many steps instead
  int held_out = 48;       // scenes
  int held_out_budget = 180;
};

// Reads every field by its name; unknown keys and wrong types are Error{bad_json}.
Options options_from_json(const std::string& json);
std::string to_json(const Options& options);

// The weights of a run beside those it began with, on the same questions about real pictures held
// aside. A question's score is its ANLS, or 0 or 1 for pointing into the box where only a place is
// asked for.
struct Verdict {
  int questions = 0, pictures = 0;
  double before = 0, after = 0;  // mean scores
  double gain = 0;               // after - before
  double low = 0, high = 0;      // its 95 % interval, pictures drawn together
  bool kept_old = false;         // the new ones are worse, and the guard was on
};
std::string to_text(const Verdict& verdict);  // one line

struct Report {
  int rank = 0;  // of this process; only the first measures and writes
  int64_t steps = 0;
  int64_t questions = 0;
  double seconds = 0;
  double answer_loss = 0, glyph_loss = 0, relevance_loss = 0, page_glyph_loss = 0;  // last window
  double exact_realized = 0, exact_oracle = 0;  // last evaluation
  double recall = 0;  // of answer boxes at held_out_budget tokens, leaves of at most 32 pixels
  std::optional<Verdict> verdict;  // where the run began with weights and has rows held aside
};

// A source of scenes for a ticket; `small` asks for at most half the canvas.
using SceneSource = std::function<scenes::Scene(uint64_t seed, bool small)>;

// Trains until the time or the steps are spent. `say` receives one line of progress at a time.
// Writes to options.out: weights (bf16 safetensors, replaced atomically at every evaluation),
// checkpoint/ (optimiser state), metrics.jsonl. Where the guard keeps the old weights, weights/ is
// in the end a copy of `init`, and the new ones lie in refused/. Error for anything that cannot go
// on.
Report train(const Options& options, const std::function<void(const std::string&)>& say);
Report train(const Options& options, const SceneSource& source,
             const std::function<void(const std::string&)>& say);

}  // namespace arrcoc::training
