// Policies by name: what the options of each are.
#include <algorithm>

#include "arrcoc/ask.h"
#include "arrcoc/error.h"

namespace arrcoc {

namespace {

// The three scorers without the network.
void lexical(AskOptions& o) {
  o.look.coupling = "lexical";
  o.look.balancer = "adaptive";
  o.look.balance.preset = "vervaeke";
  o.allocator = "quadtree";
}

// Fixed weights of the three scorers.
void weighted(AskOptions& o, const char* preset, const char* coupling = "lexical") {
  o.look.coupling = coupling;
  o.look.balancer = "fixed";
  o.look.balance.preset = preset;
  o.allocator = "quadtree";
}

void balanced_by(AskOptions& o, const char* balancer) {
  lexical(o);
  o.look.balancer = balancer;
}

// No relevance at all.
void blind(AskOptions& o, const char* allocator) {
  o.look.information = o.look.salience = o.look.coupling = "none";
  o.allocator = allocator;
}

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

const std::pair<const char*, Policy> kPolicies[] = {
    {"realized", {"default: the bundled network looks, experts spread the tokens", [](auto&) {}}},
    {"realizer", {"the same as realized", [](auto&) {}}},
    {"passes",
     {"the same, and looks again more closely while unsure",
      [](AskOptions& o) { o.passes.passes = 2; }}},
    {"history",
     {"the same, but the network computes the next map from what was read and answered",
      [](AskOptions& o) {
        o.passes.passes = 2;
        o.passes.history = true;
      }}},
    {"lexical",
     {"without the network: what the question names visibly, information, salience", lexical}},
    {"full",
     {"the same over the full set of 11 channels, with symbolic salience",
      [](AskOptions& o) {
        lexical(o);
        o.look.channels = ChannelSet::full;
        o.look.providers = {"distance-field", "text"};
        o.look.information = "points";
        o.look.salience = "symbolic";
        o.look.balance.preset = "symbolic";
      }}},
    {"reader",
     {"OCR words matched to the question (slow, strong on documents)",
      [](AskOptions& o) { weighted(o, "query", "reader"); }}},
    {"learned",
     {"three scorers, the network among them, weighted by a fitted policy",
      [](AskOptions& o) {
        weighted(o, "vervaeke", kNetwork);
        o.look.balancer = "learned";
      }}},
    {"balanced",
     {"three scorers, the network among them, balanced by what answers gained",
      [](AskOptions& o) {
        o.look.balancer = "outcome";
        o.look.balance.void_variance = 0;  // the network's map is believed
      }}},
    {"realizer-thirds",
     {"three scorers, the network among them, a third each",
      [](AskOptions& o) { weighted(o, "thirds", kNetwork); }}},
    {"text", {"query-blind: print anywhere", [](AskOptions& o) { weighted(o, "query", "print"); }}},
    {"saliency",
     {"query-blind: what stands out", [](AskOptions& o) { weighted(o, "salience", "none"); }}},
    {"information",
     {"query-blind: entropy alone", [](AskOptions& o) { weighted(o, "information", "none"); }}},
    {"coupling", {"the lexical scorer alone", [](AskOptions& o) { weighted(o, "query"); }}},
    {"no-information",
     {"two scorers, without information", [](AskOptions& o) { weighted(o, "no-information"); }}},
    {"no-salience",
     {"two scorers, without salience", [](AskOptions& o) { weighted(o, "no-salience"); }}},
    {"no-query",
     {"two scorers, without the question", [](AskOptions& o) { weighted(o, "no-query"); }}},
    {"thirds",
     {"three scorers, a third each, no balancing", [](AskOptions& o) { weighted(o, "thirds"); }}},
    {"opponent",
     {"three scorers, fixed tensions", [](AskOptions& o) { balanced_by(o, "opponent"); }}},
    {"multiplicative",
     {"three scorers, multiplied", [](AskOptions& o) { balanced_by(o, "multiplicative"); }}},
    {"importance",
     {"0.6 coupling + 0.4 hotspots", [](AskOptions& o) { balanced_by(o, "importance"); }}},
    {"fixed-tiers",
     {"the network's map; 64 to 400 tokens by the question's words alone",
      [](AskOptions& o) {
        o.allocator = "quadtree";
        o.own_budget = "tiers";
      }}},
    {"native",
     {"every patch at native detail, whatever the budget",
      [](AskOptions& o) {
        blind(o, "native");
        o.least_side = o.most_side = 0;
      }}},
    {"resize",
     {"the whole picture shrunk to the budget", [](AskOptions& o) { blind(o, "resize"); }}},
    {"fixed-16x",
     {"the whole picture shrunk to 256 tokens, always",
      [](AskOptions& o) {
        blind(o, "resize");
        o.own_budget = "256";
      }}},
    {"breadth-first",
     {"no relevance: split evenly, coarse to fine",
      [](AskOptions& o) { blind(o, "breadth-first"); }}},
    {"uniform",
     {"no relevance: one level for the whole picture", [](AskOptions& o) { blind(o, "uniform"); }}},
    {"random", {"no relevance: random splits", [](AskOptions& o) { blind(o, "random"); }}},
};

}  // namespace

std::vector<std::pair<std::string, Policy>>& policies() {
  static std::vector<std::pair<std::string, Policy>> all(std::begin(kPolicies),
                                                         std::end(kPolicies));
  return all;
}

std::vector<std::pair<std::string, std::string>> policy_names() {
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](const std::string& name, const std::string& summary) {
    const bool known =
        std::any_of(out.begin(), out.end(), [&](const auto& p) { return p.first == name; });
    if (!known) out.emplace_back(name, summary);
  };
  for (const auto& [name, policy] : policies()) add(name, policy.summary);
  for (const auto& [name, summary] : registry<Allocator>().list())
    add(name, "the network's map: " + summary);
  return out;
}

AskOptions policy(const std::string& given) {
  const std::string name = with_dashes(given);
  AskOptions out;
  const auto found = std::find_if(policies().begin(), policies().end(),
                                  [&](const auto& known) { return known.first == name; });
  if (found != policies().end()) {
    found->second.apply(out);
  } else if (registry<Allocator>().has(name)) {
    out.allocator = name;
  } else {
    std::string known;
    for (const auto& [key, summary] : policy_names()) known += (known.empty() ? "" : ", ") + key;
    throw Error(ErrorCode::not_found, "no policy named '" + given + "'; known: " + known);
  }
  out.policy = name;
  return out;
}

}  // namespace arrcoc
