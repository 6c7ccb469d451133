// The bundled networks behind the interfaces of the road.
#pragma once

#include <memory>
#include <string>

#include "arrcoc/balance.h"
#include "arrcoc/bundle.h"
#include "models/tiny/kinds.h"
#include "models/tiny/tiny.h"

namespace arrcoc::tiny {

// The realizer network: maps and needs. Calibration sets what a need means. net: how its maps are
// balanced by "outcome"; null: not fitted.
std::shared_ptr<const Looker> make_network_looker(std::shared_ptr<const TinyModel> networks,
                                                  const Calibration& calibration,
                                                  std::shared_ptr<const BalanceNet> net = nullptr);

// How the answerer reads; the baselines of the lab take other ways.
struct ReadOptions {
  std::string name = "arrcoc-tiny";
  // Takes tokens away inside the encoder until the reading's budget is left; null: none.
  std::shared_ptr<const Reducer> reducer;
  bool queries = false;  // learned queries look at the tokens, the writer sees only them
  double place = 0;      // what the place that was read counts in the confidence (signs.h)
  double kind = 0;       // and what it counts that such questions have such answers (kinds.h)
  std::shared_ptr<const KindTable> kinds;  // null: nobody knows
};
// What was fitted for these two in that folder: its calibration.json and kinds.json, where they
// are. Error{bad_json} with the file's name.
void take_signs(const std::string& folder, ReadOptions& options);
std::shared_ptr<const Model> make_reader(std::shared_ptr<const TinyModel> networks,
                                         const Calibration& calibration,
                                         const ReadOptions& options = {});

}  // namespace arrcoc::tiny
