// The one list of option fields: JSON keys, command-line flags and their help come from here.
#pragma once

#include "arrcoc/realize.h"

namespace arrcoc {

// Calls f(name, help, field&) for every field but `policy` and the oracle's evidence.
template <class F>
void visit_fields(Options& o, F&& f) {
  f("channels", "texture channels: compact (13) or full (40)", o.channels);
  f("providers", "extra texture channels, by name", o.providers);
  f("information", "scorer of information", o.information);
  f("salience", "scorer of salience", o.salience);
  f("coupling", "scorer of the tie to the question", o.coupling);
  f("balancer", "how the three maps become one", o.balancer);
  f("preset", "weights of the three maps", o.balance.preset);
  f("sigmoid_weights", "adaptive balancer: sigmoid instead of softmax", o.balance.sigmoid_weights);
  f("void_variance", "maps with less variance count as empty", o.balance.void_variance);
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
  f("frame", "longer side of the frame that is looked at", o.frame);
  f("cell", "frame pixels along one cell of the map", o.cell);
  f("canvas", "cut tokens from the picture resampled to this longer side; 0 = native", o.canvas);
  f("statistics", "record shape and range at every stage", o.statistics);
}

}  // namespace arrcoc
