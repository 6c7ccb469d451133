#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"
#include "ask/plan.h"
#include "models/tiny/reducer.h"

namespace arrcoc::answering {

namespace {

struct Named {
  const char* name;
  const char* summary;
  Source source;
  const char* allocator;
};

constexpr Named kOwn[] = {
    {"realized", "the bundled network looks, experts spread the tokens", Source::network,
     "experts"},
    {"realizer", "the same as realized", Source::network, "experts"},
    {"passes", "the same, and looks again more closely while unsure", Source::network, "experts"},
    {"oracle", "quadtree on the known evidence: an upper bound", Source::evidence, "oracle"},
    {"native", "every patch at native detail, whatever the budget", Source::native, ""},
    {"resize", "the whole picture shrunk to the budget", Source::resize, ""},
    {"fixed-16x", "the whole picture shrunk to 256 tokens, always (DeepSeek-OCR's base mode)",
     Source::resize, ""},
    {"slices", "an overview and slices by aspect ratio, equal shares of the budget (LLaVA-UHD)",
     Source::slices, ""},
    {"fixed-tiers", "the network's map; 64 to 400 tokens by the question's words alone",
     Source::network, "quadtree"},
    {"qformer", "64 learned queries look at every patch, the writer sees only them (BLIP-2)",
     Source::queries, ""},
    {"random", "splits drawn at random, no relevance", Source::nothing, "random"},
    {"breadth-first", "split evenly, coarse to fine, no relevance", Source::nothing,
     "breadth-first"},
    {"uniform", "one mip level for the whole picture", Source::nothing, "uniform"},
};

const Named* own(const std::string& name) {
  const auto found = std::find_if(std::begin(kOwn), std::end(kOwn),
                                  [&](const Named& n) { return name == n.name; });
  return found == std::end(kOwn) ? nullptr : found;
}

bool of_pipeline(const std::string& name) {
  const auto all = arrcoc::policies();
  return std::any_of(all.begin(), all.end(), [&](const auto& p) { return p.first == name; });
}

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace

Source source_of(const std::string& policy) {
  const std::string name = with_dashes(policy);
  if (const Named* mine = own(name)) return mine->source;
  if (registry<Reducer>().has(name)) return Source::reducer;
  return of_pipeline(name) ? Source::pipeline : Source::network;
}

std::string own_budget(const std::string& policy) {
  if (policy == "native") return "native";
  if (policy == "fixed-16x") return "256";
  if (policy == "qformer") return std::to_string(tiny::kQueries);
  return policy == "fixed-tiers" ? "tiers" : "";
}

bool encodes_all(const std::string& policy) {
  const Source source = source_of(policy);
  return source == Source::native || source == Source::reducer || source == Source::queries;
}

esper::Rules passes_rules() {
  esper::Rules out;
  out.passes = 2;
  // The network's map already goes where the question points: on held-out scenes looking elsewhere
  // found nothing that it had not shown.
  out.wander = false;
  // The first look is nearly a whole one, for questions that a small one answers wrongly are often
  // sure of it. Few need the second, so all tokens together come to about the budget.
  out.first = 0.9;
  out.gathered = 0.3;
  out.doubt = 0.15;
  return out;
}

AskOptions options_for(const std::string& policy) {
  const std::string name = with_dashes(policy);
  AskOptions out;
  out.policy = name;
  if (const Named* mine = own(name)) {
    if (*mine->allocator != '\0') out.look.allocator = mine->allocator;
  } else if (registry<Reducer>().has(name)) {
    // Every patch is given; nothing else is chosen.
  } else if (of_pipeline(name)) {
    out.look = arrcoc::policy(name);
  } else if (registry<Allocator>().has(name)) {
    out.look.allocator = name;
  } else {
    std::string known;
    for (const auto& [key, summary] : policies()) known += (known.empty() ? "" : ", ") + key;
    throw Error(ErrorCode::not_found, "no policy named '" + policy + "'; known: " + known);
  }
  out.look.policy = name;
  out.look.budget = "auto";
  return out;
}

std::vector<std::pair<std::string, std::string>> policies() {
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](const std::string& name, const std::string& summary) {
    const bool known =
        std::any_of(out.begin(), out.end(), [&](const auto& p) { return p.first == name; });
    if (!known) out.emplace_back(name, summary);
  };
  for (const Named& mine : kOwn) add(mine.name, mine.summary);
  for (const auto& [name, summary] : registry<Reducer>().list()) add(name, summary);
  for (const auto& [name, summary] : arrcoc::policies()) add(name, summary);
  for (const auto& [name, summary] : registry<Allocator>().list())
    if (name != "zoom") add(name, "the network's map: " + summary);  // zoom gives no leaves
  return out;
}

namespace {

std::vector<Leaf> all_leaves(const Geometry& geometry) {
  const Grid grid = geometry.grid(0);
  std::vector<Leaf> out;
  out.reserve(static_cast<size_t>(grid.cells()));
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.cols; ++c) out.push_back({0, r, c, 0});
  return out;
}

}  // namespace

Seen take_all(const Pyramid& pyramid) {
  Seen out;
  out.allocation.geometry = pyramid.geometry();
  out.allocation.geometry.finest = 0;
  out.allocation.leaves = all_leaves(pyramid.geometry());
  out.allocation.allocator = "native";
  out.allocation.budget = {static_cast<int>(out.allocation.leaves.size()), "native",
                           "every patch of the picture"};
  out.tokens = cutting::realize(pyramid, out.allocation);
  return out;
}

Seen shrink_to(const Pyramid& pyramid, const Budget& budget) {
  const Geometry& g = pyramid.geometry();
  const auto side = [](int pixels, double scale) {
    return std::max(1, static_cast<int>(std::lround(pixels * scale)));
  };
  const auto fits = [&](double scale) {
    const Geometry small{side(g.width, scale), side(g.height, scale), 0};
    return small.native_tokens() <= budget.tokens;
  };
  double low = 0, high = 1;  // fits(low) holds: one pixel is one token
  if (fits(1)) low = 1;
  for (int i = 0; i < 30 && low < 1; ++i) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  const Pyramid small(resize(pyramid.picture(), side(g.width, low), side(g.height, low)));
  Seen out = take_all(small);
  out.allocation.allocator = "resize";
  out.allocation.budget = budget;
  // Longer sides, as their rounding matters least.
  const double shrunk = static_cast<double>(std::max(g.width, g.height)) /
                        std::max(small.geometry().width, small.geometry().height);
  out.tokens.scale += std::log2(shrunk);
  return out;
}

}  // namespace arrcoc::answering
