// The lab's commands: one file each, and what they share.
#pragma once

#include "cli/cli.h"
#include "lab/baselines/baselines.h"
#include "lab/measure/measure.h"

namespace arrcoc::cli {

void add_eval(CLI::App& app);
void add_bench(CLI::App& app);
void add_synth(CLI::App& app);
void add_train(CLI::App& app);
void add_label(CLI::App& app);
void add_clips(CLI::App& app);
void add_passes(CLI::App& app);

// Askers of the bundled model, or of that of ask_model(), which is read when first needed.
const baselines::Askers& askers();
// Before askers() is called for the first time.
void ask_model(const baselines::ModelSource& source);
// Tokens of a reduction lie nowhere that an allocation knows: figures of places are left out.
void forget_places(const AskOptions& options, std::vector<measuring::Record>& records);

// A folder of pictures with questions (items*.jsonl) or a published set ("docvqa:FILE"), one
// picture or film after the other.
struct QuestionFolder {
  measuring::GroupSource groups;  // numbered from `first`
  size_t questions = 0;
  bool answers = false;  // somebody knows the right answer to one of them
};
// `limit` questions at most (0: all). Error{not_found, bad_json}; groups() also has
// Error{bad_image} for a picture of another size than its line says.
QuestionFolder open_data(const std::string& data, int limit, int first);
inline constexpr const char* kDataHelp =
    "folder with items.jsonl and pictures, or a published set: docvqa:FILE[,images=DIR] "
    "(infographicvqa, chartqa, textvqa, vqav2, gqa, refcoco, vstar, hrbench, msrvtt-qa); may be "
    "repeated";
// Groups of the next folder, or suite, are numbered so far above.
inline constexpr int kGroupsApart = 1'000'000;

// Error{bad_argument} when a flag changes nothing under any of these options.
void require_effect(const OptionFlags& flags, const std::vector<AskOptions>& options);
// The fields that the file or a flag names, as JSON.
json given_fields(const OptionFlags& flags);

void write_text(const std::string& path, const std::string& text);
// The last part of a folder's path, or a set's name: "a/receipts/" is "receipts".
std::string leaf_name(const std::string& folder);
std::string signed_fixed(double value, int digits);  // "+0.50"

}  // namespace arrcoc::cli
