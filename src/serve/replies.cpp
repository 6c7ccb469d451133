#include "serve/replies.h"

#include <cmath>
#include <ctime>

#include "allocate/leaves_json.h"
#include "allocate/regions.h"
#include "arrcoc/media.h"
#include "serve/encoding.h"

namespace arrcoc::serving {

namespace {

constexpr int kBoxes = 4;

ordered_json boxes_of(const Outcome& outcome) {
  auto out = ordered_json::array();
  const Geometry& geometry = outcome.allocation().geometry;
  for (const auto& region :
       allocating::find_regions(outcome.relevance.map, geometry, kBoxes, 2 * kPatch))
    out.push_back({{"box", {region.box.x0, region.box.y0, region.box.x1, region.box.y1}},
                   {"strength", rounded(region.strength)}});
  return out;
}

ordered_json map_of(const Map& map) {
  auto values = ordered_json::array();
  for (float v : map.values) values.push_back(std::round(v * 1e3) / 1e3);
  return {{"rows", map.rows}, {"cols", map.cols}, {"values", std::move(values)}};
}

ordered_json passes_of(const Outcome& outcome) {
  auto out = ordered_json::array();
  for (const Pass& pass : outcome.passes)
    out.push_back({{"tokens", pass.allocation.tokens()},
                   {"answer", pass.answer},
                   {"confidence", rounded(pass.confidence)},
                   {"uncertainty", rounded(pass.uncertainty)},
                   {"explore", rounded(pass.explore)}});
  return out;
}

void add_pictures(ordered_json& out, const SeenPicture& seen, const Outcome& outcome) {
  const auto url = [](const at::Tensor& rgb) { return png_url(media::encode_png(rgb)); };
  const Picture& picture = seen.pyramid->picture();
  out["map"] = map_of(outcome.relevance.map);
  auto strips = ordered_json::array();
  for (const Pass& pass : outcome.passes)
    strips.push_back(allocating::leaves_json(pass.allocation));
  out["leaves"] = std::move(strips);
  out["homunculus"] = url(media::draw_homunculus(picture, outcome.allocation()));
}

// Rectangles that were shown as pictures of their own (zoom).
ordered_json crops_of(const Allocation& allocation) {
  auto out = ordered_json::array();
  for (const Crop& crop : allocation.crops)
    out.push_back({{"box", {crop.box.x0, crop.box.y0, crop.box.x1, crop.box.y1}},
                   {"width", crop.width},
                   {"height", crop.height},
                   {"tokens", crop.tokens}});
  return out;
}

ordered_json milliseconds(const Outcome& outcome) {
  ordered_json out = ordered_json::object();
  for (const Stage& stage : outcome.stages)
    out[stage.name] = rounded(out.value(stage.name, 0.0) + stage.milliseconds);
  return out;
}

}  // namespace

ordered_json to_json(const Usage& u) {
  ordered_json out = {{"prompt_tokens", u.kept + u.text},
                      {"completion_tokens", u.completion},
                      {"total_tokens", u.kept + u.text + u.completion},
                      {"image_tokens", {{"kept", u.kept}, {"native", u.native}}}};
  if (u.estimated) out["image_tokens"]["estimated"] = true;
  return out;
}

ordered_json describe(const SeenPicture& seen, const Outcome& outcome, bool map) {
  ordered_json out = {{"width", seen.picture.width()}, {"height", seen.picture.height()},
                      {"kept", outcome.kept},          {"native", outcome.native},
                      {"boxes", boxes_of(outcome)},    {"passes", passes_of(outcome)},
                      {"stopped", outcome.stopped},    {"milliseconds", milliseconds(outcome)},
                      {"fallbacks", outcome.fallbacks}};
  if (!outcome.allocation().crops.empty()) out["crops"] = crops_of(outcome.allocation());
  if (map) add_pictures(out, seen, outcome);
  return out;
}

ordered_json relevance_report(const SeenPicture& seen, const Outcome& outcome,
                              const std::string& question, const std::string& policy, bool map) {
  const Picture& picture = seen.pyramid->picture();
  const Weights& w = outcome.relevance.weights;
  const Tensions& t = outcome.relevance.tensions;
  ordered_json out = {{"object", "arrcoc.relevance"},
                      {"image", {{"width", picture.width()}, {"height", picture.height()}}},
                      {"question", question},
                      {"policy", policy},
                      {"budget", outcome.budget.tokens},
                      {"budget_reason", outcome.budget.why},
                      {"image_tokens", {{"kept", outcome.kept}, {"native", outcome.native}}},
                      {"leaves", allocating::leaves_json(outcome.allocation())},
                      {"map", map_of(outcome.relevance.map)},
                      {"boxes", boxes_of(outcome)},
                      {"weights",
                       {{"information", rounded(w.information)},
                        {"salience", rounded(w.salience)},
                        {"coupling", rounded(w.coupling)}}},
                      {"tensions",
                       {{"compress", rounded(t.compress)},
                        {"exploit", rounded(t.exploit)},
                        {"focus", rounded(t.focus)}}},
                      {"milliseconds", milliseconds(outcome)},
                      {"fallbacks", outcome.fallbacks}};
  if (map) {
    const auto url = [](const at::Tensor& rgb) { return png_url(media::encode_png(rgb)); };
    out["homunculus"] = url(media::draw_homunculus(picture, outcome.allocation()));
    out["relevance"] = url(media::draw_relevance(picture, outcome.relevance));
    out["quadtree"] = url(media::draw_quadtree(picture, outcome.allocation()));
  }
  return out;
}

ordered_json completion(const std::string& id, const std::string& model, const std::string& text,
                        const char* finish) {
  return {{"id", id},
          {"object", "chat.completion"},
          {"created", static_cast<int64_t>(std::time(nullptr))},
          {"model", model},
          {"choices",
           {{{"index", 0},
             {"message", {{"role", "assistant"}, {"content", text}, {"refusal", nullptr}}},
             {"logprobs", nullptr},
             {"finish_reason", finish}}}}};
}

ordered_json chunk(const std::string& id, const std::string& model) {
  return {{"id", id},
          {"object", "chat.completion.chunk"},
          {"created", static_cast<int64_t>(std::time(nullptr))},
          {"model", model},
          {"choices",
           {{{"index", 0},
             {"delta", ordered_json::object()},
             {"logprobs", nullptr},
             {"finish_reason", nullptr}}}}};
}

std::string dump(const ordered_json& data) {
  return data.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string event(const ordered_json& data) { return "data: " + dump(data) + "\n\n"; }

std::string first_characters(const std::string& text, int limit, bool& cut) {
  cut = false;
  if (limit <= 0) return text;
  size_t at = 0;
  for (int seen = 0; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && seen++ == limit) break;
  cut = at < text.size();
  return text.substr(0, at);
}

}  // namespace arrcoc::serving
