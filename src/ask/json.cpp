// Answers as JSON.
#include "arrcoc/json.h"

#include "base/json.h"

namespace arrcoc {

namespace {

constexpr int kRegions = 4;  // rectangles around what stands out

ordered_json box_json(const Box& box) {
  return {rounded(box.x0), rounded(box.y0), rounded(box.x1), rounded(box.y1)};
}

ordered_json crops_json(const Allocation& allocation) {
  auto out = ordered_json::array();
  for (const Crop& c : allocation.crops)
    out.push_back(
        {{"box", box_json(c.box)}, {"width", c.width}, {"height", c.height}, {"tokens", c.tokens}});
  return out;
}

void add_tokens(const Allocation& allocation, ordered_json& out) {
  out["leaves"] = leaves_json(allocation);
  if (!allocation.crops.empty()) out["crops"] = crops_json(allocation);
}

bool tells_certainty(const Pass& pass) {
  return !pass.reply.probabilities.empty() || pass.agreement >= 0;
}

ordered_json depths_json(const EncodedDepths& depths) {
  auto out = ordered_json::array();
  for (size_t i = 0; i < depths.blocks.size(); ++i)
    out.push_back({{"blocks", depths.blocks[i]}, {"tokens", depths.tokens[i]}});
  return out;
}

ordered_json pass_json(const Pass& pass, bool read, bool details) {
  ordered_json out;
  out["manner"] = to_string(pass.manner);
  if (read) out["answer"] = pass.reply.text;
  if (tells_certainty(pass)) {
    out["uncertainty"] = rounded(pass.uncertainty);
    out["confidence"] = rounded(pass.confidence);
    out["gathered"] = rounded(pass.gathered);
    if (pass.agreement >= 0) out["agreement"] = rounded(pass.agreement);
  }
  out["explore"] = rounded(pass.explore);
  out["budget"] = pass.allocation.budget.tokens;
  out["tokens"] = pass.tokens;
  out["reused"] = pass.reused;
  if (!pass.reply.depths.empty()) out["depths"] = depths_json(pass.reply.depths.front());
  if (!details) return out;
  add_tokens(pass.allocation, out);
  out["map"] = to_json(pass.relevance);
  if (read) out["attention"] = to_json(pass.attention);
  return out;
}

void add_weights(const Relevance& relevance, ordered_json& out) {
  const Weights& w = relevance.weights;
  out["weights"] = {{"information", rounded(w.information)},
                    {"salience", rounded(w.salience)},
                    {"coupling", rounded(w.coupling)}};
  if (!relevance.tensions) return;
  const Tensions& t = *relevance.tensions;
  out["tensions"] = {{"compress", rounded(t.compress)},
                     {"exploit", rounded(t.exploit)},
                     {"focus", rounded(t.focus)}};
}

// Where tokens were not cut from the picture as it is: what leaves refer to.
void add_canvas(const PictureAnswer& picture, ordered_json& out) {
  const Geometry& g = picture.answer().allocation.geometry;
  if (g.width == picture.width && g.height == picture.height) return;
  out["canvas"] = {{"width", g.width}, {"height", g.height}};
}

ordered_json picture_json(const PictureAnswer& picture, bool read, bool details) {
  ordered_json out = {{"width", picture.width}, {"height", picture.height}};
  if (read) {
    const Pass& best = picture.answer();
    out["answer"] = best.reply.text;
    if (tells_certainty(best)) {
      out["confidence"] = rounded(best.reply.confidence);
      out["uncertainty"] = rounded(best.uncertainty);
    }
    out["box"] = picture.box ? box_json(*picture.box) : nullptr;
  }
  out["budget"] = picture.budget.tokens;
  out["tokens"] = picture.tokens;
  out["native_tokens"] = picture.native_tokens;
  add_canvas(picture, out);
  auto regions = ordered_json::array();
  const Geometry extent{picture.width, picture.height, 0};
  for (const auto& region :
       allocating::find_regions(picture.look.relevance.map, extent, kRegions, 2 * kPatch))
    regions.push_back({{"box", box_json(region.box)}, {"strength", rounded(region.strength)}});
  out["boxes"] = std::move(regions);
  auto passes = ordered_json::array();
  for (const Pass& pass : picture.passes) passes.push_back(pass_json(pass, read, details));
  out["passes"] = std::move(passes);
  return out;
}

void add_answer(const Answer& answer, ordered_json& out) {
  out["answer"] = answer.text;
  out["model"] = answer.model;
  if (tells_certainty(answer.from().answer())) {
    out["confidence"] = rounded(answer.confidence);
    out["calibrated"] = answer.calibrated;
    if (!answer.probabilities.empty()) out["likelihood"] = rounded(answer.likelihood);
    out["uncertainty"] = rounded(answer.uncertainty);
    out["unsure"] = answer.unsure;
    for (float p : answer.probabilities) out["probabilities"].push_back(rounded(p));
  }
  if (const Reply& reply = answer.from().answer().reply; reply.prompt_tokens > 0) {
    out["prompt_tokens"] = reply.prompt_tokens;
    out["completion_tokens"] = reply.completion_tokens;
  }
  out["box"] = answer.box() ? box_json(*answer.box()) : nullptr;
  out["stopped"] = to_string(answer.stop);
  out["best_pass"] = answer.from().best + 1;
  out["picture"] = answer.picture + 1;
  if (!answer.each.empty()) out["each"] = answer.each;
}

}  // namespace

ordered_json to_json(const Map& map) {
  auto values = ordered_json::array();
  for (float v : map.values) values.push_back(rounded(v));
  return {{"rows", map.rows}, {"cols", map.cols}, {"values", std::move(values)}};
}

ordered_json leaves_json(const Allocation& allocation, double scale) {
  auto out = ordered_json::array();
  const bool whole = scale == std::floor(scale);  // whole numbers stay whole
  const auto number = [&](double value) {
    return whole ? ordered_json(static_cast<int64_t>(value)) : ordered_json(value);
  };
  for (const Leaf& leaf : allocation.leaves) {
    const double side = static_cast<double>(Geometry::side(leaf.level)) * scale;
    out.push_back({{"x", number(leaf.col * side)},
                   {"y", number(leaf.row * side)},
                   {"size", number(side)},
                   {"level", leaf.level},
                   {"relevance", rounded(leaf.relevance)}});
  }
  return out;
}

ordered_json to_json(const Answer& answer, const ReportOptions& options) {
  const PictureAnswer& from = answer.from();
  const bool read = answer.stop != Stop::open;
  const Allocation& allocation = from.answer().allocation;
  ordered_json out;
  out["image"] = {{"width", from.width}, {"height", from.height}};
  out["question"] = answer.query.text;
  if (read) add_answer(answer, out);
  out["policy"] = answer.policy;
  out["budget"] = from.answer().allocation.budget.tokens;
  out["budget_reason"] = from.answer().allocation.budget.why;
  out["tokens"] = answer.tokens;
  out["native_tokens"] = answer.native_tokens;
  add_canvas(from, out);
  if (options.details) {
    add_tokens(allocation, out);
    out["map"] = to_json(from.look.relevance.map);
  }
  add_weights(from.look.relevance, out);
  auto pictures = ordered_json::array();
  for (const PictureAnswer& picture : answer.pictures)
    pictures.push_back(picture_json(picture, read, options.details));
  out["passes"] = pictures[answer.picture]["passes"];
  out["pictures"] = std::move(pictures);
  out["milliseconds"] = ordered_json::object();
  for (const Stage& stage : answer.stages)
    out["milliseconds"][stage.name] = rounded(stage.milliseconds);
  out["fallbacks"] = answer.fallbacks;
  for (const StageStatistics& s : answer.statistics)
    out["statistics"].push_back({{"stage", s.stage},
                                 {"shape", s.shape},
                                 {"dtype", s.dtype},
                                 {"min", s.min},
                                 {"max", s.max},
                                 {"mean", s.mean},
                                 {"std", s.std}});
  return out;
}

}  // namespace arrcoc
