// A learned policy of passes as JSON.
#include <cmath>

#include "arrcoc/ask.h"
#include "base/json.h"

namespace arrcoc {

const std::array<const char*, PassPolicy::kFeatures> PassPolicy::kNames = {
    "one", "likelihood", "per_character", "gathered", "detail", "length", "later"};

namespace {

constexpr const char* kWhat = "a policy of passes";

PassPolicy::Features model_of(const json* value, const std::string& key) {
  if (!value) wrong_json(kWhat, key, "there");
  PassPolicy::Features out{};
  JsonFields fields(std::string(kWhat) + ", " + key, *value);
  for (int i = 0; i < PassPolicy::kFeatures; ++i) {
    const char* name = PassPolicy::kNames[static_cast<size_t>(i)];
    if (!fields.has(name)) wrong_json(kWhat, key, std::string("an object with the number ") + name);
    fields.number(name, out[static_cast<size_t>(i)], -1e6, 1e6);
  }
  fields.done();
  return out;
}

}  // namespace

PassPolicy pass_policy_from_json(const std::string& text) {
  PassPolicy out;
  JsonFields fields = JsonFields::parse(kWhat, text);
  out.right = model_of(fields.take("right"), "right");
  out.closer = model_of(fields.take("closer"), "closer");
  out.wider = model_of(fields.take("wider"), "wider");
  out.elsewhere = model_of(fields.take("elsewhere"), "elsewhere");
  fields.number("worth", out.worth, 0, 1).field("weights", out.weights).ignore("measured").done();
  return out;
}

std::string to_json(const PassPolicy& policy) {
  ordered_json out;
  const auto model = [&](const char* key, const PassPolicy::Features& weights) {
    for (size_t i = 0; i < weights.size(); ++i) out[key][PassPolicy::kNames[i]] = weights[i];
  };
  model("right", policy.right);
  model("closer", policy.closer);
  model("wider", policy.wider);
  model("elsewhere", policy.elsewhere);
  out["worth"] = policy.worth;
  out["weights"] = policy.weights;
  return out.dump(2);
}

}  // namespace arrcoc
