// One question's state on the road; Asking drives it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrcoc/ask.h"
#include "ask/several.h"

namespace arrcoc::asking {

Box scaled(const Box& box, double x, double y);
// A map in pixels of the picture becomes one in those of its pyramid, which may be of another size.
void move_to(const Geometry& geometry, const Picture& picture, Map& map);

class Road {
 public:
  Road(std::vector<std::shared_ptr<const SeenPicture>> pictures, std::shared_ptr<const Model> model,
       const std::string& question, AskOptions options, std::vector<Look> looks);

  bool looked() const { return looked_; }
  // Where the answer may lie in every picture, and how many tokens that is worth.
  void look();
  // Spreads the tokens of the next pass; false when there are none left that would be worth it.
  bool allocate();
  // What is to be read; valid until take().
  std::vector<Reading> cut();
  void take(std::vector<Reply> replies);
  // Again, and how? Or why not.
  void decide();
  // Of what was read so far; where nothing was, of what is being read. The road may go on.
  Answer finish() const;

  void spent(const std::string& stage, double milliseconds);
  Stop stop = Stop::open;

 private:
  // One picture of the question.
  struct One {
    explicit One(std::shared_ptr<const SeenPicture> picture)
        : seen(std::move(picture)), patches(*seen->pyramid) {}
    std::shared_ptr<const SeenPicture> seen;
    cutting::PatchCache patches;
    PictureAnswer out;
    Relevance relevance;  // the question's map in pixels of the pyramid
    Map told;             // what tokens say of relevance; empty: what their leaves have
    History history;
    Pass open;  // that is being read
  };

  int64_t native_tokens(const One& one) const;
  Look look_at(const One& one, const History& history);
  void point_out_differences();
  Map told(const One& one) const;
  void note(const std::vector<std::string>& fallbacks);

  int affordable() const;
  Geometry geometry(const One& one) const;
  std::string why_no_history() const;
  bool recalls() const;
  Relevance relevance_for(const One& one, double& explored);
  Map first_map(const One& one) const;
  std::vector<Allocation> spread(const std::vector<Relevance>& maps, const Budget& budget) const;
  Allocation spread(const One& one, const Relevance& relevance, const Budget& budget) const;
  // Why a further pass of these is not worth it; Stop::open: it is.
  Stop useless(const std::vector<Allocation>& allocations) const;

  void record(const One& one, const TokenSequence& tokens);
  static Reply part_of(const Reply& all, size_t k);
  void end_pass(One& one, Reply reply, float most);
  void compare_answers(One& one);
  double believed(const Pass& pass) const;
  bool widened() const;
  size_t most_read() const;
  void choose_picture();
  Answer described(std::vector<PictureAnswer> pictures) const;

  std::vector<One> pictures_;
  std::shared_ptr<const Model> model_;
  Capabilities takes_;
  Query query_, asked_;  // as given, and as every picture is asked
  AskOptions options_;
  std::vector<Look> looks_;
  std::optional<Comparison> comparison_;
  std::optional<size_t> named_;
  bool differences_ = false;  // are asked for
  bool looked_ = false;
  Budget single_;                // of a single look at all pictures
  std::vector<size_t> reading_;  // pictures of the open readings
  size_t chosen_ = 0;            // picture whose answer counts
  bool points_ = false;          // the answer is which picture
  Manner manner_ = Manner::first;
  int64_t tokens_ = 0;  // of all passes so far
  std::vector<Stage> stages_;
  std::vector<StageStatistics> statistics_;
  std::vector<std::string> fallbacks_;
};

}  // namespace arrcoc::asking
