// The answerer's part of a step.
#include <ATen/ATen.h>

#include <algorithm>

#include "lab/train/losses.h"
#include "lab/train/outcome.h"
#include "lab/train/teacher.h"

namespace arrcoc::training {

using at::Tensor;

namespace {
constexpr float kPlacesRead = 0.25F;  // share of questions for a place whose tokens are read
}

Tensor Teacher::answer_part(const Plan& plan, const Batch& part, const CellLists& cells,
                            const Share& share, Dice& dice) {
  // Some pictures pose as larger ones, so that scales up to 6 occur.
  std::vector<int> octaves(part.size());
  if (!plan.outcome)
    for (int& o : octaves) o = dice.chance(0.15F) ? 1 + dice.below(2) : 0;
  Tensor glyphs, names;
  tiny::AnswererInput seen =
      pool().look(part.slot_of, cells, octaves, &glyphs, networks_.names() ? &names : nullptr);
  seen.question = part.question;
  const tiny::Tensors w = networks_.answer_tensors();
  const tiny::Memory memory = networks_.answerer().encode(w, seen, networks_.type());
  const AnswerLosses losses = answer_losses(networks_.answerer(), w, memory, part, glyphs);
  const float glyph_weight =
      plan.mode == Plan::reading ? 2 * options_.glyph_weight : options_.glyph_weight;
  Tensor loss = losses.answer * share.characters + glyph_weight * losses.glyph * share.questions;
  if (names.defined()) {
    Tensor right;
    const Tensor named =
        networks_.names()->tokens(memory.states.narrow(1, 0, names.size(1)), names, &right);
    loss = loss + options_.names * named * share.questions;
    meters_.window.add("names", named);
    meters_.window.add("names_right", right);
  }
  (loss / options_.accumulate).backward();
  report_answers(plan, part, losses.each);
  meters_.window.add("glyph", losses.glyph);
  meters_.window.add("glyph_right", losses.glyph_accuracy);
  return plan.outcome ? rewards(losses.logits, part.expected) : Tensor();
}

// Means over the characters of scenes, pages and photographs.
void Teacher::report_answers(const Plan& plan, const Batch& part, const Tensor& each) {
  static const char* const kNames[] = {"answer_reading", "answer", "answer_dense"};
  const int64_t q = static_cast<int64_t>(part.size());
  Tensor shares = at::zeros({3, q}, at::kFloat);
  float* share = shares.data_ptr<float>();
  float totals[3] = {0, 0, 0};
  for (int64_t i = 0; i < q; ++i) {
    const Sample& sample = pool().sample(part.slot_of[static_cast<size_t>(i)]);
    const Ask& ask = *part.asks[static_cast<size_t>(i)];
    if (ask.task == Task::find) continue;
    const int kind = !sample.real ? 0 : sample.canvas == options_.canvas ? 1 : 2;
    share[kind * q + i] = 1;
    totals[kind] += static_cast<float>(ask.answer.size() + 1);
  }
  for (int kind = 0; kind < 3; ++kind)
    for (int64_t i = 0; i < q; ++i) share[kind * q + i] /= std::max(1.0F, totals[kind]);
  const Tensor means = at::mv(send(shares, pool().device()), each);
  if (totals[0] > 0) meters_.window.add(kNames[plan.mode], means[0]);
  if (totals[1] > 0) meters_.window.add("real_answer", means[1]);
  if (totals[2] > 0) meters_.window.add("photo_answer", means[2]);
}

// Groups of about equal numbers of questions, in order; those with all tokens of a picture apart.
std::vector<std::vector<size_t>> Teacher::groups_of(const std::vector<size_t>& order,
                                                    const CellLists& cells) const {
  const auto ordinary = std::find_if(order.begin(), order.end(), [&](size_t i) {
    return static_cast<int>(cells[i].size()) > options_.budget_high + options_.budget_high / 2;
  });
  const size_t count = static_cast<size_t>(ordinary - order.begin());
  const size_t groups = std::min<size_t>(static_cast<size_t>(options_.groups), count);
  std::vector<std::vector<size_t>> out;
  for (size_t k = 0; k < groups; ++k)
    out.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(k * count / groups),
                     order.begin() + static_cast<std::ptrdiff_t>((k + 1) * count / groups));
  if (count < order.size()) out.emplace_back(ordinary, order.end());
  return out;
}

// Questions with about as many tokens and characters go together, so that little is padded; the
// gradient is that of the whole batch but for rounding: each group's means count by its share.
// Returns every question's reward in outcome steps.
Tensor Teacher::answer(const Plan& plan, const Batch& batch, CellLists cells, Dice& dice) {
  const Stopwatch watch(meters_.host_seconds["answer"]);
  std::vector<size_t> order;
  for (size_t i = 0; i < batch.size(); ++i) {
    // Questions for a place have nothing to be written; some show their tokens all the same.
    const bool written = !pool().sample(batch.slot_of[i]).real || batch.asks[i]->task != Task::find;
    if (written || dice.chance(kPlacesRead)) order.push_back(i);
  }
  if (order.empty()) order.push_back(0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return cells[a].size() + batch.asks[a]->question.size() <
           cells[b].size() + batch.asks[b]->question.size();
  });
  const auto characters = [&](const std::vector<size_t>& of) {
    float sum = 0;
    for (size_t i : of)
      if (const Ask& ask = *batch.asks[i]; ask.task != Task::find)
        sum += answer_weight(ask) * static_cast<float>(ask.answer.size() + 1);
    return std::max(1.0F, sum);
  };
  const float all = characters(order);
  std::vector<Tensor> earned;
  for (const std::vector<size_t>& which : groups_of(order, cells)) {
    const Batch part = part_of(batch, which, pool().device());
    CellLists shown;
    for (size_t i : which) shown.push_back(std::move(cells[i]));
    const Share share{characters(which) / all,
                      static_cast<float>(part.size()) / static_cast<float>(order.size())};
    earned.push_back(answer_part(plan, part, shown, share, dice));
  }
  if (!plan.outcome) return {};
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
  return at::cat(earned).index_select(0, send(at::tensor(back, at::kLong), pool().device()));
}

}  // namespace arrcoc::training
