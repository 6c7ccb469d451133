// Flags that `watch` and `clips` share: what looks, and how time is dealt with.
#pragma once

#include "arrcoc/film.h"
#include "cli/cli.h"

namespace arrcoc::cli {

void add_watch(CLI::App& app);

class WatchFlags {
 public:
  explicit WatchFlags(CLI::App& app);
  // What a close look runs. Without flags: the network on frames of 416 pixels, tokens on a canvas
  // of 1024.
  AskOptions pipeline() const;
  // What an answer is read with: the options of `arrcoc ask` with the same flags.
  AskOptions reading() const;
  // True when the user named a canvas: leaves are then told in its pixels.
  bool canvas_given() const;
  // The bundle's constants with the flags over them.
  filming::Options timing(const FilmConstants& constants) const;

 private:
  OptionFlags options_;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace arrcoc::cli
