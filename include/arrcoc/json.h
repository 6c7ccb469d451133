// Options and answers as JSON (needs nlohmann-json): the one form that the command line, the server
// and the measuring commands read and write.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "arrcoc/ask.h"

namespace arrcoc {

// Calls f(name, help, field&) for every option that has a flag and a JSON key.
template <class F>
void visit_fields(AskOptions& o, F&& f) {
  f("channels", "texture channels: compact (13), full (11) or rgb", o.look.channels);
  f("providers", "extra texture channels, by name", o.look.providers);
  f("information", "scorer of information", o.look.information);
  f("salience", "scorer of salience", o.look.salience);
  f("coupling", "scorer of the tie to the question", o.look.coupling);
  f("balancer", "how the three maps become one", o.look.balancer);
  f("preset", "weights of the three maps", o.look.balance.preset);
  f("sigmoid_weights", "adaptive, learned: sigmoid instead of softmax",
    o.look.balance.sigmoid_weights);
  f("void_variance", "maps with less variance count as empty", o.look.balance.void_variance);
  f("budget", "tokens: a number, fast, balanced, accurate, or a rule", o.budget);
  f("allocator", "how tokens are spread", o.allocator);
  f("gain", "quadtree gain: peak or mass", o.allocate.gain);
  f("finest_weight", "weight of splits into native patches", o.allocate.finest_weight);
  f("enlarge_weight", "weight of splits into enlarged patches", o.allocate.enlarge_weight);
  f("balanced", "neighbouring leaves differ by one level at most", o.allocate.balanced);
  f("falloff", "smooth level of detail around hotspots, native pixels", o.allocate.falloff);
  f("variance_threshold", "variance-split: split above this", o.allocate.variance_threshold);
  f("top_k", "top-k: cells", o.allocate.top_k);
  f("curve", "positions: relevance to tokens by linear, power, exponential or sigmoid",
    o.allocate.curve);
  f("steepness", "positions: steepness of the power curve", o.allocate.steepness);
  f("quantise", "positions: only the levels 64, 128, 256, 384, 400", o.allocate.quantise);
  f("temperature", "soft: temperature", o.allocate.temperature);
  f("max_crops", "zoom: rectangles besides the glance", o.allocate.max_crops);
  f("token_pixels", "zoom: pixels along one token of the target model", o.allocate.token_pixels);
  f("seed", "seed of everything random", o.allocate.seed);
  f("enlarge", "offer level -1: tokens of 8x8 native pixels", o.enlarge);
  f("frame", "longer side of the frame that is looked at", o.look.frame);
  f("cell", "frame pixels along one cell of the map", o.look.cell);
  f("canvas", "cut tokens from the picture resampled to this longer side; 0 = native", o.canvas);
  f("least_side", "without canvas: enlarge smaller pictures to this longer side first; 0 = never",
    o.least_side);
  f("most_side", "without canvas: reduce larger ones to this, to a half at most; 0 = never",
    o.most_side);
  f("statistics", "record shape and range at every stage", o.statistics);
}

// Overrides the fields that the object names; "policy" (whatever its place) replaces all options
// first. Unknown keys and wrong types are Error{bad_json}.
void apply_json(AskOptions& options, const nlohmann::json& object);
// The same from text, over the default options.
AskOptions options_from_json(const std::string& text);
std::string to_json(const AskOptions& options);

struct ReportOptions {
  bool details = false;  // leaves, crops and maps of every pass
};
// Everything about an answer; without what only reading gives when nothing was read, and without
// confidence where the model gives no probabilities.
nlohmann::ordered_json to_json(const Answer& answer, const ReportOptions& options = {});
nlohmann::ordered_json to_json(const Map& map);  // rows, cols, values with four decimals
// [{"x","y","size","level","relevance"}] in pixels of the allocation, times `scale`.
nlohmann::ordered_json leaves_json(const Allocation& allocation, double scale = 1);

}  // namespace arrcoc
