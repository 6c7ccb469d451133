#include "models/hf/vlm.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "arrcoc/error.h"

namespace arrcoc::hf {
namespace {

template <class Change>
Visual each(const Visual& visual, Change change) {
  Visual out;
  out.rows = change(visual.rows);
  for (const at::Tensor& set : visual.deepstack) out.deepstack.push_back(change(set));
  return out;
}

std::vector<int64_t> placeholders(const Vlm& model, const at::Tensor& ids) {
  at::Tensor flat = ids.reshape({-1}).to(at::kCPU).contiguous();
  const int64_t* id = flat.data_ptr<int64_t>();
  std::vector<int64_t> places;
  for (int64_t i = 0; i < flat.numel(); ++i)
    if (id[i] == model.config().image_token ||
        (id[i] == model.config().video_token && model.config().video_token >= 0))
      places.push_back(i);
  return places;
}

void check_ids(const at::Tensor& ids) {
  if (!ids.defined() || ids.dim() != 2 || ids.numel() == 0 || ids.scalar_type() != at::kLong)
    throw Error(ErrorCode::bad_argument, "token ids must be [B,L] int64, L > 0");
}

Prompt fill(const Vlm& model, const at::Tensor& ids, at::Tensor positions, int64_t next,
            const Visual& visual, std::vector<int64_t> places) {
  Prompt prompt;
  prompt.embeds = model.embed(ids);
  prompt.positions = std::move(positions);
  prompt.next_position = next;
  prompt.ids = ids;
  if (!places.empty()) {
    at::Tensor index = at::tensor(places, at::kLong).to(prompt.embeds.device());
    at::Tensor rows = visual.rows.to(prompt.embeds.options());
    prompt.embeds = prompt.embeds.flatten(0, 1).index_copy(0, index, rows).view_as(prompt.embeds);
    prompt.deepstack = {index, visual.deepstack};
  }
  prompt.visual_places = std::move(places);
  return prompt;
}

int64_t median(std::vector<int64_t> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Visual join(const std::vector<Visual>& parts) {
  if (parts.size() == 1) return parts[0];
  Visual out;
  std::vector<at::Tensor> rows;
  for (const Visual& part : parts) rows.push_back(part.rows);
  if (rows.empty()) return out;
  out.rows = at::cat(rows);
  for (size_t set = 0; set < parts[0].deepstack.size(); ++set) {
    std::vector<at::Tensor> sets;
    for (const Visual& part : parts) sets.push_back(part.deepstack[set]);
    out.deepstack.push_back(at::cat(sets));
  }
  return out;
}

Visual pick(const Visual& visual, const std::vector<int64_t>& rows) {
  for (int64_t row : rows) {
    if (row < 0 || row >= visual.size())
      throw Error(ErrorCode::bad_argument, "no visual token " + std::to_string(row) + " among " +
                                               std::to_string(visual.size()));
  }
  at::Tensor index = at::tensor(rows, at::kLong).to(visual.rows.device());
  return each(visual, [&](const at::Tensor& set) { return set.index_select(0, index); });
}

Visual merge(const Visual& visual, const std::vector<std::vector<int64_t>>& groups) {
  std::vector<int64_t> members, owner;
  std::vector<float> share;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (int64_t member : groups[g]) {
      members.push_back(member);
      owner.push_back(static_cast<int64_t>(g));
      share.push_back(1.0F / static_cast<float>(groups[g].size()));
    }
  }
  Visual picked = pick(visual, members);
  at::Tensor to = at::tensor(owner, at::kLong).to(visual.rows.device());
  at::Tensor weight = at::tensor(share, at::kFloat).unsqueeze(1).to(visual.rows.device());
  return each(picked, [&](const at::Tensor& set) {
    at::Tensor sum = at::zeros({static_cast<int64_t>(groups.size()), set.size(1)},
                               set.options().dtype(at::kFloat));
    return sum.index_add(0, to, set.to(at::kFloat) * weight).to(set.scalar_type());
  });
}

at::Tensor Vlm::positions(const at::Tensor& ids, const at::Tensor&) const {
  return at::arange(ids.size(1), at::kLong).expand({1, ids.size(0), ids.size(1)});
}

Visual Vlm::encode_watched(const at::Tensor&, const at::Tensor&, EncoderSight&) const {
  throw Error(ErrorCode::unsupported,
              config_.file + ": the tokens of this model are no places of the picture");
}

Visual Vlm::encode_depths(const at::Tensor&, const at::Tensor&, const std::vector<int64_t>&,
                          const std::vector<int64_t>&) const {
  throw Error(ErrorCode::unsupported,
              config_.file + ": tokens leave the encoder of this model at its end only");
}

Visual Vlm::encode_groups(const at::Tensor&, const at::Tensor&,
                          const std::vector<std::vector<int64_t>>&) const {
  throw Error(ErrorCode::unsupported,
              config_.file + ": this model makes no token of several before it looks at them");
}

at::Tensor Vlm::compressed(const at::Tensor&) const {
  throw Error(ErrorCode::unsupported, config_.file + ": this model has no compressor");
}

std::unique_ptr<Vlm> make_vlm(const ModelConfig& config, Source& source) {
  switch (config.family) {
    case Family::llava:
      return make_llava(config, source);
    case Family::ovis2:
      return make_ovis(config, source);
    case Family::smolvlm:
    case Family::idefics3:
      return make_smol(config, source);
    case Family::deepseek_ocr2:
      return make_deepseek(config, source);
    case Family::sam_clip:
      return make_sam_clip(config, source);
    case Family::qwen2_vl:
    case Family::qwen2_5_vl:
    case Family::qwen3_vl:
      return make_qwen(config, source);
    default:
      require_language_model(config);
      return nullptr;
  }
}

void require_language_model(const ModelConfig& config) {
  if (!config.has_decoder())
    throw Error(ErrorCode::unsupported, config.file + ": " + to_string(config.family) +
                                            " has no language model; it cannot answer questions");
}

Spellings spellings_of(const ModelConfig& config) {
  switch (config.family) {
    case Family::clip:
    case Family::siglip:
    case Family::sam:
      return {};
    case Family::llava:
      return {{"visual.",
               {"vision_tower.", "vision_tower.vision_model.", "model.vision_tower.",
                "model.vision_tower.vision_model."}},
              {"projector.", {"multi_modal_projector.", "model.multi_modal_projector."}},
              {"language.", {"language_model.model.", "model.language_model.", "model."}},
              {"lm_head.", {"language_model.lm_head.", "lm_head."}}};
    case Family::ovis2:
      return {{"visual.", {"model.vision_tower.", "vision_tower."}},
              {"table.", {"model.visual_embeddings_table.", "visual_embeddings_table."}},
              {"language.", {"model.language_model.", "language_model.model.", "language_model."}},
              {"lm_head.", {"lm_head.", "language_model.lm_head."}}};
    case Family::deepseek_ocr2:
      return deepseek_spellings(config);
    case Family::smolvlm:
    case Family::idefics3:
      return {{"visual.", {"model.vision_model.", "vision_model."}},
              {"connector.", {"model.connector.", "connector."}},
              {"language.", {"model.text_model.", "text_model."}},
              {"lm_head.", {"lm_head."}}};
    case Family::sam_clip:
      return {{"sam.", {"model.vision_tower.sam_encoder."}},
              {"compressor.", {"model.vision_tower.compressor."}},
              {"clip.", {"model.vision_tower.clip_encoder."}},
              {"projector.", {"model.multi_modal_projector."}},
              {"language.", {"model.language_model."}},
              {"lm_head.", {"lm_head."}}};
    case Family::qwen3_vl:
      return {{"visual.", {"model.visual.", "visual."}},
              {"language.", {"model.language_model.", "model."}},
              {"lm_head.", {"lm_head."}}};
    default:
      return {{"visual.", {"visual.", "model.visual."}},
              {"language.", {"model.", "model.language_model."}},
              {"lm_head.", {"lm_head."}}};
  }
}

Prompt prepare(const Vlm& model, const at::Tensor& ids, const at::Tensor& grids,
               const Visual& visual) {
  check_ids(ids);
  std::vector<int64_t> places = placeholders(model, ids);
  int64_t rows = visual.rows.defined() ? visual.size() : 0;
  if (static_cast<int64_t>(places.size()) != rows)
    throw Error(ErrorCode::bad_argument, "the prompt has " + std::to_string(places.size()) +
                                             " image tokens, the pictures " + std::to_string(rows) +
                                             " rows");
  at::Tensor positions = model.positions(ids, grids);
  const int64_t next = positions.max().item<int64_t>() + 1;
  return fill(model, ids, std::move(positions), next, visual, std::move(places));
}

Prompt prepare(const Vlm& model, const at::Tensor& ids, const at::Tensor& grids,
               const Visual& visual, const std::vector<std::vector<int64_t>>& groups) {
  check_ids(ids);
  if (ids.size(0) != 1) throw Error(ErrorCode::bad_argument, "a sparse prompt has batch 1");
  std::vector<int64_t> places = placeholders(model, ids);
  if (static_cast<int64_t>(groups.size()) != visual.size())
    throw Error(ErrorCode::bad_argument, std::to_string(groups.size()) + " groups, but " +
                                             std::to_string(visual.size()) + " visual rows");
  auto total = static_cast<int64_t>(places.size());
  std::vector<int64_t> taken(places.size(), -1);  // group of each placeholder
  std::vector<int64_t> anchor;                    // the placeholder whose turn a group takes
  for (size_t g = 0; g < groups.size(); ++g) {
    for (int64_t member : groups[g]) {
      if (member < 0 || member >= total || taken[static_cast<size_t>(member)] >= 0)
        throw Error(ErrorCode::bad_argument,
                    "visual token " + std::to_string(member) + " does not exist or is kept twice");
      taken[static_cast<size_t>(member)] = static_cast<int64_t>(g);
    }
    if (groups[g].empty()) throw Error(ErrorCode::bad_argument, "an empty group of tokens");
    anchor.push_back(median(groups[g]));
  }
  at::Tensor full = model.positions(ids, grids).to(at::kCPU).contiguous().clone();
  const int64_t next = full.max().item<int64_t>() + 1;  // whatever is left out
  auto where = full.accessor<int64_t, 3>();
  std::vector<int64_t> group_at(static_cast<size_t>(ids.size(1)), -2);  // -2: ordinary token
  for (int64_t place : places) group_at[static_cast<size_t>(place)] = -1;
  for (size_t g = 0; g < groups.size(); ++g) {
    int64_t place = places[static_cast<size_t>(anchor[g])];
    group_at[static_cast<size_t>(place)] = static_cast<int64_t>(g);
    for (int64_t axis = 0; axis < full.size(0); ++axis) {
      std::vector<int64_t> values;
      for (int64_t member : groups[g])
        values.push_back(where[axis][0][places[static_cast<size_t>(member)]]);
      if (values.size() > 1) where[axis][0][place] = median(std::move(values));
    }
  }
  std::vector<int64_t> kept, order, new_places;
  for (int64_t i = 0; i < ids.size(1); ++i) {
    int64_t group = group_at[static_cast<size_t>(i)];
    if (group == -1) continue;
    if (group >= 0) {
      order.push_back(group);
      new_places.push_back(static_cast<int64_t>(kept.size()));
    }
    kept.push_back(i);
  }
  at::Tensor index = at::tensor(kept, at::kLong);
  Visual sorted = order.empty() ? visual : pick(visual, order);
  return fill(model, ids.index_select(1, index.to(ids.device())), full.index_select(2, index), next,
              sorted, std::move(new_places));
}

}  // namespace arrcoc::hf
