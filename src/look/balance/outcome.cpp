// Balancer "outcome": see arrcoc/balance.h.
#include <algorithm>
#include <cmath>

#include "arrcoc/balance.h"
#include "base/json.h"
#include "look/balance/balancers.h"

namespace arrcoc {

namespace balancing {

namespace {

// Outputs of 0 are these logits: 2 % of weight and of tension away from the coupling map alone.
constexpr float kFaint = -4, kLow = -3, kHigh = 3;
constexpr float kDiversity = 0.3F;

float sigmoid(float v) { return 1 / (1 + std::exp(-v)); }

uint32_t hashed(const std::string& word) {  // FNV-1a
  uint32_t hash = 2166136261U;
  for (const char c : word) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619U;
  return hash;
}

// out = matrix x in + bias
void linear(const std::vector<float>& matrix, const std::vector<float>& bias,
            const std::vector<float>& in, std::vector<float>& out) {
  out = bias;
  for (size_t o = 0; o < out.size(); ++o)
    for (size_t i = 0; i < in.size(); ++i) out[o] += matrix[o * in.size() + i] * in[i];
}

// `without`: the weight or tension that stays neutral; "": none.
class Outcome : public NetBalancer {
 public:
  explicit Outcome(std::string without) : without_(std::move(without)) {}

  void use(std::shared_ptr<const BalanceNet> net) override { net_ = std::move(net); }

  Relevance balance(const Knowledge& k, const Query& query, const BalanceOptions&) const override {
    if (!net_) {
      Relevance out = shaped(k, kNeutral);
      out.fallbacks.emplace_back("no balance was fitted for these maps: coupling alone");
      return out;
    }
    Stance at = stance(run(*net_, balance_features(k, query)));
    const auto drop = [&](const char* name, float& value, float neutral) {
      if (without_ == name) value = neutral;
    };
    drop("information", at.weights.information, 0);
    drop("salience", at.weights.salience, 0);
    drop("coupling", at.weights.coupling, 0);
    drop("compress", at.tensions.compress, kNeutral.tensions.compress);
    drop("exploit", at.tensions.exploit, kNeutral.tensions.exploit);
    drop("focus", at.tensions.focus, kNeutral.tensions.focus);
    Weights& w = at.weights;
    const float sum = w.information + w.salience + w.coupling;
    w = {w.information / sum, w.salience / sum, w.coupling / sum};
    return shaped(k, at);
  }

 private:
  std::string without_;
  std::shared_ptr<const BalanceNet> net_;
};

}  // namespace

BalanceFeatures balance_features(const Knowledge& k, const Query& query) {
  constexpr int kKinds = static_cast<int>(AnswerKind::colour) + 1;
  static_assert(kOfMaps == 4 + kKinds && BalanceNet::kStated == kOfMaps + 9);
  BalanceFeatures out;
  for (const std::string& word : query.words)
    out.buckets.push_back(static_cast<int>(hashed(word) % BalanceNet::kBuckets));
  out.stated = {query.specificity, query.vague() ? 1.0F : 0.0F,
                static_cast<float>(query.complexity) / 2.0F, query.computes ? 1.0F : 0.0F};
  out.stated[4 + static_cast<size_t>(query.answer)] = 1;
  size_t at = kOfMaps;
  for (const Map* map : {&k.information, &k.salience, &k.coupling}) {
    out.stated[at++] = mean(*map);
    out.stated[at++] = maximum(*map);
    out.stated[at++] = std::sqrt(variance(*map));
  }
  return out;
}

BalanceNet::Outputs run(const BalanceNet& net, const BalanceFeatures& features) {
  std::vector<float> in(BalanceNet::kWord + BalanceNet::kStated), hidden, out;
  const float share =
      1 / std::sqrt(static_cast<float>(std::max<size_t>(1, features.buckets.size())));
  for (const int bucket : features.buckets)
    for (int i = 0; i < BalanceNet::kWord; ++i)
      in[static_cast<size_t>(i)] +=
          share * net.words[static_cast<size_t>(bucket) * BalanceNet::kWord + i];
  for (size_t i = 0; i < features.stated.size(); ++i)
    in[BalanceNet::kWord + i] = (features.stated[i] - net.middle[i]) / net.deviation[i];
  linear(net.in, net.in_bias, in, hidden);
  for (float& v : hidden) v = std::tanh(v);
  linear(net.out, net.out_bias, hidden, out);
  BalanceNet::Outputs outputs{};
  std::copy_n(out.begin(), outputs.size(), outputs.begin());
  return outputs;
}

Stance stance(const BalanceNet::Outputs& z) {
  const float information = std::exp(z[0] + kFaint - z[2]),
              salience = std::exp(z[1] + kFaint - z[2]);
  const float sum = information + salience + 1;
  return {{information / sum, salience / sum, 1 / sum},
          {sigmoid(z[3] + kLow), sigmoid(z[4]), sigmoid(z[5] + kHigh)}};
}

Relevance shaped(const Knowledge& k, const Stance& at) {
  Relevance out;
  out.weights = at.weights;
  out.tensions = at.tensions;
  const auto [compress, exploit, focus] =
      std::tuple(at.tensions.compress, at.tensions.exploit, at.tensions.focus);
  const Map raw = mix(k, at.weights);
  const Map far = focus < 1 ? spatial_diversity(raw) : like(raw, 0);
  out.map = raw;
  for (size_t i = 0; i < raw.size(); ++i) {
    const float s = k.salience.values[i];
    const float t1 = compress * k.information.values[i] + (1 - compress) * raw.values[i];
    const float t2 = exploit * s + (1 - exploit) * (1 - s);
    const float t3 = raw.values[i] + (1 - focus) * kDiversity * far.values[i];
    out.map.values[i] = std::clamp((0.4F * t1 + 0.3F * (t2 - 0.5F) + 0.3F * t3) / 0.7F, 0.0F, 1.0F);
  }
  return out;
}

std::unique_ptr<Balancer> make_outcome(const std::string& without) {
  return std::make_unique<Outcome>(without);
}

}  // namespace balancing

// ---- JSON

namespace {

// Calls f(name, list, length) for every part.
template <class Net, class F>
void visit(Net& net, const F& f) {
  using N = BalanceNet;
  f("words", net.words, N::kBuckets * N::kWord);
  f("middle", net.middle, N::kStated);
  f("deviation", net.deviation, N::kStated);
  f("in", net.in, N::kHidden * (N::kWord + N::kStated));
  f("in_bias", net.in_bias, N::kHidden);
  f("out", net.out, N::kOutputs * N::kHidden);
  f("out_bias", net.out_bias, N::kOutputs);
}

}  // namespace

BalanceNet balance_net_from_json(const std::string& text) {
  const std::string what = "balance net";
  JsonFields fields = JsonFields::parse(what, text);
  BalanceNet net;
  visit(net, [&](const char* name, std::vector<float>& values, int length) {
    const json* list = fields.take(name);
    if (!list || !list->is_array() || list->size() != static_cast<size_t>(length))
      wrong_json(what, name, "a list of " + std::to_string(length) + " numbers");
    for (const json& value : *list) read_value(what, name, value, values.emplace_back());
  });
  fields.done();
  for (const float deviation : net.deviation)
    if (!(deviation > 0)) wrong_json(what, "deviation", "above 0");
  return net;
}

std::string to_json(const BalanceNet& net) {
  ordered_json out;
  visit(net, [&](const char* name, const std::vector<float>& values, int) {
    ordered_json& list = out[name] = ordered_json::array();
    for (const float v : values) list.push_back(std::round(static_cast<double>(v) * 1e4) / 1e4);
  });
  return out.dump();
}

}  // namespace arrcoc
