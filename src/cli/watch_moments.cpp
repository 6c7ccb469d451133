#include "cli/watch_moments.h"

namespace arrcoc::cli {

using filming::MomentAnswer;
using filming::TimeAnswer;

namespace {

ordered_json to_json(const MomentAnswer& moment) {
  ordered_json out = {{"frame", moment.frame}, {"seconds", rounded(moment.seconds)},
                      {"shot", moment.shot},   {"question", moment.asked},
                      {"answer", moment.text}, {"confidence", rounded(moment.confidence)},
                      {"box", nullptr},        {"tokens", moment.tokens}};
  if (const auto& box = moment.box)
    out["box"] = {rounded(box->x0), rounded(box->y0), rounded(box->x1), rounded(box->y1)};
  return out;
}

}  // namespace

ordered_json to_json(const TimeAnswer& answer) {
  ordered_json out = {{"text", answer.text},          {"asks", to_string(answer.plan.asks)},
                      {"things", answer.plan.things}, {"confidence", rounded(answer.confidence)},
                      {"shots", answer.shots},        {"tokens", answer.tokens}};
  out["moments"] = ordered_json::array();
  for (const MomentAnswer& moment : answer.moments) out["moments"].push_back(to_json(moment));
  return out;
}

std::string to_text(const TimeAnswer& answer) {
  std::string out = "answer     " + answer.text + "  (" + to_string(answer.plan.asks) + ", " +
                    std::to_string(answer.moments.size()) + " looks at moments, " +
                    std::to_string(answer.tokens) + " tokens, confidence " +
                    fixed(answer.confidence, 2) + ")";
  for (const MomentAnswer& moment : answer.moments)
    out += "\nmoment     " + fixed(moment.seconds, 2) + " s, frame " +
           std::to_string(moment.frame) + "  " + moment.asked + "  " + moment.text + "  (" +
           fixed(moment.confidence, 2) + ")";
  return out;
}

}  // namespace arrcoc::cli
