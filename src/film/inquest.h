// What moments of a film are asked, while there are tokens.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/moments.h"

namespace arrcoc::filming {

inline constexpr int kLeastTokens = 48;  // that are worth a question

// The arguments must live as long.
class Inquest {
 public:
  // each: tokens of one question to one moment, within kLeastTokens and options.most_each.
  Inquest(const Asker& asker, const Moments& moments, const TimeOptions& options, int each);

  size_t size() const { return kept_.size(); }
  const Moment& moment(size_t i) const { return kept_[i]; }
  const Picture& picture(size_t i);  // valid until another one is wanted
  double width(size_t i);            // of its frame

  // The answer of moment i, asked once; null when no tokens are left for it.
  const MomentAnswer* ask(size_t i, const std::string& question);
  // What moment i shows and moment k does not.
  const MomentAnswer* difference(size_t i, size_t k);
  // How far the colours of moments i and k are apart in that box of moment i's frame, mean of 255.
  double apart(size_t i, size_t k, const Box& box);

  std::vector<MomentAnswer> all() const;
  int64_t tokens() const { return options_.tokens - left_; }

 private:
  bool afford(int pictures, AskOptions& options) const;
  MomentAnswer told(size_t i, const std::string& question, const Answer& answer);
  const Thumb& thumb(size_t i);

  const Asker& asker_;
  const TimeOptions& options_;
  std::vector<Moment> kept_;
  int64_t left_;
  int each_;
  std::map<size_t, Thumb> thumbs_;
  std::map<size_t, double> widths_;  // of the frames behind them
  std::optional<std::pair<size_t, Picture>> open_;
  std::map<std::pair<size_t, std::string>, MomentAnswer> asked_;
};

}  // namespace arrcoc::filming
