#include "lab/baselines/reductions.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "lab/baselines/reducers.h"
#include "models/hf/processor.h"
#include "models/hf/vlm.h"

namespace arrcoc::baselines {

namespace {

using hf::Features;
using hf::HfModel;
using Groups = std::vector<std::vector<int64_t>>;
using Whole = std::function<Features()>;

Features kept(const Features& whole, const std::vector<int64_t>& tokens) {
  Groups groups;
  for (int64_t token : tokens) groups.push_back({token});
  return left_of(whole, std::move(groups));
}

std::vector<int64_t> numbers(const at::Tensor& given) {
  const at::Tensor all = given.to(at::kCPU, at::kLong).contiguous();
  return {all.data_ptr<int64_t>(), all.data_ptr<int64_t>() + all.numel()};
}

at::Tensor unit(const at::Tensor& rows) {
  const at::Tensor wide = rows.to(at::kFloat);
  return wide / wide.norm(2, 1, true).clamp_min(1e-6);
}

// The picture shown so small that all of its tokens are within the budget.
class Resize : public hf::Reduction {
 public:
  std::string refusal(const HfModel& model) const override {
    if (model.processor().follows_size()) return "";
    return std::string(to_string(model.family())) +
           " spends the same number of tokens whatever the picture's size";
  }
  Features reduce(const HfModel& model, const Picture& picture, const std::string&, int64_t budget,
                  const Whole&) const override {
    return model.encode_image(picture, budget);
  }
};

// Any tokens of the grid; the same for the same question about a picture of that size.
class Random : public hf::Reduction {
 public:
  Features reduce(const HfModel&, const Picture& picture, const std::string& question,
                  int64_t budget, const Whole& all) const override {
    const Features whole = all();
    std::vector<int64_t> tokens(static_cast<size_t>(whole.size()));
    std::iota(tokens.begin(), tokens.end(), int64_t{0});
    uint64_t seed =
        static_cast<uint64_t>(picture.width()) << 20U ^ static_cast<uint64_t>(picture.height());
    for (char c : question) seed = (seed ^ static_cast<uint8_t>(c)) * 0x100000001B3ULL;
    std::mt19937_64 draw(seed);
    for (size_t i = tokens.size(); i > 1; --i) std::swap(tokens[i - 1], tokens[draw() % i]);
    tokens.resize(std::min(tokens.size(), static_cast<size_t>(budget)));
    return kept(whole, tokens);
  }
};

// FastV (Chen et al., 2024) prunes after the second layer of the language model by the attention
// there. As a selection: that attention is read with all tokens, then the most looked-at ones go
// through all layers alone.
class FastV : public hf::Reduction {
 public:
  Features reduce(const HfModel& model, const Picture&, const std::string& question, int64_t budget,
                  const Whole& all) const override {
    const Features whole = all();
    if (whole.size() <= budget) return whole;
    const int64_t last = model.vlm().decoder().config().layers - 1;
    const std::vector<float> looked =
        model.early_attention({{Role::user, question, 1}}, {whole}, {std::min<int64_t>(1, last)});
    return kept(whole, numbers(std::get<1>(at::tensor(looked).topk(budget))));
  }
};

// CDPruner (Zhang et al., 2025). The paper's relevance is the cosine with CLIP's text embedding;
// here it is that of the tokens with the question's words, both as the language model takes them.
class CdPruner : public hf::Reduction {
 public:
  std::string refusal(const HfModel& model) const override {
    return model.tokenizer() ? "" : "the model has no tokenizer to embed the question with";
  }
  Features reduce(const HfModel& model, const Picture&, const std::string& question, int64_t budget,
                  const Whole& all) const override {
    const Features whole = all();
    if (whole.size() <= budget) return whole;
    const at::Tensor ids =
        at::tensor(model.tokenizer()->encode(question, false), at::kLong).to(whole.rows.device());
    const at::Tensor words = model.vlm().decoder().embed(ids.unsqueeze(0))[0].to(at::kFloat);
    const at::Tensor rows = unit(whole.rows);
    const at::Tensor asked = at::mm(rows, unit(words.mean(0, true)).t()).squeeze(1);
    const at::Tensor low = asked.min(), span = (asked.max() - low).clamp_min(1e-12);
    return kept(whole, numbers(reducing::greedy_volume(rows, (asked - low) / span, budget)));
  }
};

// ToMe (Bolya et al., 2023) merges inside the encoder. As a selection: its bipartite matching on
// what the encoder gives out, again and again, until the budget is met.
class Tome : public hf::Reduction {
 public:
  Features reduce(const HfModel&, const Picture&, const std::string&, int64_t budget,
                  const Whole& all) const override {
    const Features whole = all();
    Groups groups;
    for (int64_t i = 0; i < whole.size(); ++i) groups.push_back({i});
    while (static_cast<int64_t>(groups.size()) > budget)
      match(whole, static_cast<int64_t>(groups.size()) - budget, groups);
    return left_of(whole, std::move(groups));
  }

 private:
  // Every second group finds the most similar of the others; the most similar pairs become one.
  static void match(const Features& whole, int64_t most, Groups& groups) {
    const auto n = static_cast<int64_t>(groups.size());
    const at::Tensor rows = unit(hf::merge({whole.rows, {}}, groups).rows);
    const at::Tensor alike = at::mm(rows.slice(0, 1, n, 2), rows.slice(0, 0, n, 2).t());
    const auto [best, partner] = alike.max(1);
    const auto order =
        numbers(std::get<1>(at::sort(best, /*stable=*/true, 0, /*descending=*/true)));
    const std::vector<int64_t> to = numbers(partner);
    for (int64_t i = 0; i < std::min(most, n / 2); ++i) {
      const auto from = static_cast<size_t>(order[static_cast<size_t>(i)]);
      auto& target = groups[static_cast<size_t>(2 * to[from])];
      auto& gone = groups[2 * from + 1];
      target.insert(target.end(), gone.begin(), gone.end());
      gone.clear();
    }
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
    for (auto& group : groups) std::sort(group.begin(), group.end());
  }
};

// VisionZip (Yang et al., 2024): what the encoder's last layer but one looks at (CLIP: its class
// token; others have none: all of them) stays as it is, 54 of 64 tokens; of the rest evenly spaced
// ones are targets, which the others join by their keys.
class VisionZip : public hf::Reduction {
 public:
  std::string refusal(const HfModel& model) const override { return model.select_refusal(); }
  Features reduce(const HfModel& model, const Picture& picture, const std::string&, int64_t budget,
                  const Whole&) const override {
    hf::EncoderSight sight;
    const Features whole = model.encode_watched(picture, sight);
    if (whole.size() <= budget) return whole;
    const int64_t contextual = budget * 10 / 64, dominant = budget - contextual;
    std::vector<int64_t> order =
        numbers(std::get<1>(at::sort(sight.looked, /*stable=*/true, 0, /*descending=*/true)));
    Groups groups;
    for (int64_t i = 0; i < dominant; ++i) groups.push_back({order[static_cast<size_t>(i)]});
    if (contextual == 0) return left_of(whole, std::move(groups));
    std::vector<int64_t> rest(order.begin() + static_cast<std::ptrdiff_t>(dominant), order.end());
    std::sort(rest.begin(), rest.end());
    join_alike(rest, contextual, unit(sight.keys), groups);
    return left_of(whole, std::move(groups));
  }

 private:
  static void join_alike(const std::vector<int64_t>& rest, int64_t count, const at::Tensor& keys,
                         Groups& groups) {
    const auto step = static_cast<int64_t>(rest.size()) / count;
    std::vector<int64_t> targets, others;
    for (int64_t i = 0; i < static_cast<int64_t>(rest.size()); ++i)
      (i % step == 0 && i / step < count ? targets : others)
          .push_back(rest[static_cast<size_t>(i)]);
    const size_t first = groups.size();
    for (int64_t target : targets) groups.push_back({target});
    if (others.empty()) return;
    const auto of = [&](const std::vector<int64_t>& tokens) {
      return keys.index_select(0, at::tensor(tokens, at::kLong).to(keys.device()));
    };
    const std::vector<int64_t> to = numbers(at::mm(of(others), of(targets).t()).argmax(1));
    for (size_t i = 0; i < others.size(); ++i)
      groups[first + static_cast<size_t>(to[i])].push_back(others[i]);
    for (auto& group : groups) std::sort(group.begin(), group.end());
  }
};

template <class T>
std::unique_ptr<hf::Reduction> make() {
  return std::make_unique<T>();
}

}  // namespace

Features left_of(const Features& whole, Groups groups) {
  std::sort(groups.begin(), groups.end());
  hf::Visual visual = hf::merge({whole.rows, whole.deepstack}, groups);
  Features out = whole;
  out.rows = std::move(visual.rows);
  out.deepstack = std::move(visual.deepstack);
  out.groups = std::move(groups);
  return out;
}

Way way_of(const std::string& name, ReadMode usual) {
  for (const ReadMode mode : {ReadMode::prune, ReadMode::patches, ReadMode::zoom})
    if (name == to_string(mode)) return {"realized", mode, ""};
  if (name == "native") return {"native", ReadMode::native, ""};
  if (registry<hf::Reduction>().has(name)) return {"breadth-first", ReadMode::prune, name};
  return {name, usual, ""};
}

}  // namespace arrcoc::baselines

namespace arrcoc {

template <>
Registry<hf::Reduction>& registry<hf::Reduction>() {
  using namespace baselines;
  static Registry<hf::Reduction> all = [] {
    Registry<hf::Reduction> r;
    r.add("resize", "the whole picture shown small enough", make<Resize>);
    r.add("random", "any tokens of the grid", make<Random>);
    r.add("fastv", "what the question looks at in the second layer (FastV)", make<FastV>);
    r.add("cdpruner", "relevant and unlike each other (CDPruner)", make<CdPruner>);
    r.add("tome", "similar tokens merged (ToMe)", make<Tome>);
    r.add("visionzip", "what the encoder looks at (VisionZip)", make<VisionZip>);
    return r;
  }();
  return all;
}

}  // namespace arrcoc
