// The whole pipeline in one call: picture + question -> tokens.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/allocate.h"
#include "arrcoc/look.h"
#include "arrcoc/picture.h"
#include "arrcoc/query.h"
#include "arrcoc/texture.h"
#include "arrcoc/tokens.h"

namespace arrcoc {

// Every choice along the way. Field names are also the keys of the JSON form and, with dashes, the
// command-line flags.
struct Options {
  std::string policy = "lexical";       // what was asked for; see policy()
  std::string channels = "compact";     // compact (13), full (40) or rgb
  std::vector<std::string> providers;   // extra texture channels, by name
  std::string information = "shannon";  // scorers, by name
  std::string salience = "saliency";
  std::string coupling = "lexical";
  std::string balancer = "adaptive";
  BalanceOptions balance;
  std::string budget = "balanced";  // number, level or budget rule
  std::string allocator = "quadtree";
  AllocateOptions allocate;
  bool enlarge = false;  // offer level -1 (8x8 native pixels a token)
  int frame = 1024;      // longer side of the frame that is looked at
  int cell = 16;         // frame pixels along one map cell
  // >0: tokens are cut from the picture resampled to this longer side (up or down), and leaves
  // refer to that; the scorers still see the picture as it is.
  int canvas = 0;
  bool statistics = false;  // record shape and range at every stage boundary
};

// The named bundles of options: lexical, reader, saliency, breadth-first, random, ...
// Error{not_found}.
Options policy(const std::string& name);
std::vector<std::pair<std::string, std::string>> policies();  // name, one line for people

// Options as JSON: keys are the field names, unknown keys and wrong types are Error{bad_json}.
// "policy" is applied first, whatever its place; the other keys override it.
Options options_from_json(const std::string& json);
std::string to_json(const Options& options);

struct Stage {
  std::string name;
  double milliseconds = 0;
};

struct Realization {
  Query query;
  Texture texture;
  Knowledge knowledge;
  Relevance relevance;
  Allocation allocation;
  TokenSequence tokens;
  std::vector<Stage> stages;  // in order of work
  std::vector<StageStatistics> statistics;
  std::vector<std::string> fallbacks;  // of all stages
};

// texture -> knowing -> balancing -> attending -> realizing. A question may be asked many times of
// one pyramid; its levels are built once.
Realization realize(const Picture& picture, const std::string& question,
                    const Options& options = {});
Realization realize(const Picture& picture, const Pyramid& pyramid, const std::string& question,
                    const Options& options = {});

// The pyramid that `options` ask for: native or on the canvas, with or without level -1.
Pyramid pyramid_of(const Picture& picture, const Options& options);

}  // namespace arrcoc
