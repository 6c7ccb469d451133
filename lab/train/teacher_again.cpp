// Steps that teach the map of a second pass: the first is drawn by the network's own map at few
// tokens, read and answered; what it leaves behind goes in beside the question.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "ask/passes.h"
#include "lab/train/evaluate.h"
#include "lab/train/losses.h"
#include "lab/train/outcome.h"
#include "lab/train/teacher.h"

namespace arrcoc::training {
namespace {

using at::Tensor;

constexpr size_t kReadTogether = 256;  // questions that the answerer writes at once

// The map of a question about a sample, on the frame's cells, in native pixels.
Map map_of(const Sample& sample, const float* values, int stride) {
  const Grid grid = sample.geometry.grid(0);
  Map out{grid.rows, grid.cols, 16 / sample.frame_x(), 16 / sample.frame_y(), {}};
  for (int r = 0; r < grid.rows; ++r)
    out.values.insert(out.values.end(), values + static_cast<size_t>(r) * stride,
                      values + static_cast<size_t>(r) * stride + grid.cols);
  return out;
}

std::vector<asking::ReadToken> tokens_of(const std::vector<Cell>& cells) {
  std::vector<asking::ReadToken> out;
  for (const Cell& cell : cells) {
    const auto side = static_cast<float>(std::ldexp(16.0, cell.level));
    const float x = static_cast<float>(cell.col) * side, y = static_cast<float>(cell.row) * side;
    out.push_back({{x, y, x + side, y + side}, static_cast<double>(cell.level), cell.relevance});
  }
  return out;
}

// Another question about the same picture; the same one where there is none.
size_t neighbour(const Batch& batch, size_t i, Dice& dice) {
  std::vector<size_t> others;
  for (size_t k = 0; k < batch.size(); ++k)
    if (k != i && batch.page_of[k] == batch.page_of[i]) others.push_back(k);
  return others.empty() ? i
                        : others[static_cast<size_t>(dice.below(static_cast<int>(others.size())))];
}

}  // namespace

// maps [Q,g,g] on the CPU.
Teacher::Shown Teacher::first_pass(const Batch& lesson, const Tensor& maps, Dice& dice) const {
  const at::NoGradGuard no_grad;
  const int g = lesson.grid;
  Shown out;
  out.left.resize(lesson.size());
  for (size_t i = 0; i < lesson.size(); ++i) {
    const Sample& sample = pool().sample(lesson.slot_of[i]);
    const Grid grid = sample.native.grid(0);
    std::vector<float> map(static_cast<size_t>(grid.cells()));
    to_native(maps.data_ptr<float>() + static_cast<int64_t>(i) * g * g, g, sample.geometry,
              sample.native, map.data());
    const int budget = static_cast<int>(dice.uniform(static_cast<float>(options_.history_low),
                                                     static_cast<float>(options_.history_high)));
    out.cells.push_back(quadtree(map.data(), grid.cols, sample.native, budget));
  }
  const tiny::Tensors w = networks_.answer_tensors();
  const tiny::Answerer& answerer = networks_.answerer();
  for (size_t first = 0; first < lesson.size(); first += kReadTogether) {
    std::vector<size_t> which;
    CellLists cells;
    for (size_t i = first; i < std::min(lesson.size(), first + kReadTogether); ++i) {
      which.push_back(i);
      cells.push_back(out.cells[i]);
    }
    const Batch part = part_of(lesson, which, pool().device());
    tiny::AnswererInput seen =
        pool().look(part.slot_of, cells, std::vector<int>(part.size(), 0), nullptr);
    seen.question = part.question;
    const tiny::Answerer::Written written = answerer.write_greedy(
        w, answerer.encode(w, seen, networks_.type()), tiny::kMaxAnswer, seen.patches.size(1));
    for (size_t k = 0; k < which.size(); ++k) {
      const size_t i = which[k];
      const Sample& sample = pool().sample(lesson.slot_of[i]);
      Pass pass;
      pass.relevance = map_of(sample, maps.data_ptr<float>() + static_cast<int64_t>(i) * g * g, g);
      pass.reply.text = tiny::decode(written.symbols[k]);
      pass.reply.probabilities = written.probabilities[k];
      pass.reply.focus = written.focus[k];
      pass.reply.focus.resize(cells[k].size());
      for (float& p : pass.reply.probabilities) p = std::clamp(p, 0.0F, 1.0F);
      pass.uncertainty = asking::uncertainty(pass.reply.probabilities);
      asking::remember(pass, tokens_of(cells[k]), out.left[i]);
    }
  }
  const std::vector<History> own = out.left;
  for (size_t i = 0; i < lesson.size(); ++i) {
    if (!dice.chance(options_.history_wrong)) continue;
    out.left[i] = own[neighbour(lesson, i, dice)];
    out.left[i].uncertainty = std::max(out.left[i].uncertainty, 1.0 * dice.uniform());
  }
  return out;
}

// Splits of the second pass are drawn by its map, and credited with what is read from them.
Tensor Teacher::outcome_of(const Plan& plan, const Batch& batch, const Batch& lesson,
                           const Tensor& logits, const PageLabels& labels, Dice& dice) {
  const int taught = static_cast<int>(lesson.size() / batch.slots.size());
  Tensor scores, earned;
  {
    const at::NoGradGuard no_grad;
    const int64_t pages = static_cast<int64_t>(batch.slots.size()), g = batch.grid;
    const Tensor maps = visible_relevance(logits, labels.inside.repeat_interleave(taught, 0))
                            .view({pages, taught, g, g})
                            .repeat({1, batch.each / taught, 1, 1})
                            .flatten(0, 1)
                            .to(at::kCPU)
                            .contiguous();
    CellLists cells = drawn_cells(options_, plan, batch, maps, dice, scores);
    const tiny::Tensors w = networks_.answer_tensors();
    std::vector<Tensor> all;
    for (size_t first = 0; first < batch.size(); first += kReadTogether) {
      std::vector<size_t> which;
      CellLists shown;
      for (size_t i = first; i < std::min(batch.size(), first + kReadTogether); ++i) {
        which.push_back(i);
        shown.push_back(std::move(cells[i]));
      }
      const Batch part = part_of(batch, which, pool().device());
      tiny::AnswererInput seen =
          pool().look(part.slot_of, shown, std::vector<int>(part.size(), 0), nullptr);
      seen.question = part.question;
      const tiny::Memory memory = networks_.answerer().encode(w, seen, networks_.type());
      all.push_back(rewards(networks_.answerer().write(w, memory, part.previous), part.expected));
    }
    earned = at::cat(all);
  }
  meters_.window.add("again_reward", earned.mean());
  return outcome_loss(logits, send(scores, pool().device()), earned, taught, batch.each);
}

Teacher::Taught Teacher::teach_again(const Plan& plan, int part, Dice& dice) {
  Taught out;
  const std::vector<Scenery> all = scenery(plan, part, dice);
  for (const auto& [own, batch, taught] : all) {
    std::vector<size_t> first;
    for (size_t i = 0; i < batch.size(); ++i)
      if (static_cast<int>(i) % batch.each < taught) first.push_back(i);
    Batch lesson = part_of(batch, first, pool().device());
    lesson.each = taught;
    const PageLabels labels = page_labels(pool(), lesson, dice);
    const tiny::RealizerNet& realizer = networks_.realizer();
    // Without gradients where the realizer stays: only the history's tensors have some then.
    tiny::Tensors w;
    tiny::PageFeatures features;
    tiny::Judgement once;
    {
      const at::AutoGradMode gradients(own.realizer_learns);
      w = networks_.look_tensors();
      features = realizer.read(w, pool().page(batch.slots), networks_.type());
    }
    Shown shown;
    {
      const Stopwatch watch(meters_.host_seconds["first pass"]);
      const at::NoGradGuard no_grad;
      once = realizer.judge(w, features, lesson.question, lesson.pages, taught);
      const Tensor maps =
          visible_relevance(once.relevance, labels.inside.repeat_interleave(taught, 0));
      meters_.window.add("once", map_loss(once, lesson, labels));
      shown = first_pass(lesson, maps.to(at::kCPU).contiguous(), dice);
    }
    const tiny::Past past =
        tiny::past_of(shown.left, batch.grid, batch.grid / 2).to(pool().device(), networks_.type());
    const tiny::Tensors past_w = networks_.past_tensors();
    const tiny::Recalled recalled{networks_.history(), past_w, past};
    const Stopwatch watch(meters_.host_seconds["second pass"]);
    const tiny::Judgement judged =
        realizer.judge(w, features, lesson.question, lesson.pages, taught, &recalled);
    Tensor loss = map_loss(judged, lesson, labels);
    meters_.window.add("again", loss.detach());
    if (options_.history_outcome > 0)
      loss = loss + options_.history_outcome *
                        outcome_of(own, batch, lesson, judged.relevance, labels, dice);
    (loss * (1.0 / static_cast<double>(all.size()) / options_.accumulate)).backward();
    out.questions += static_cast<int64_t>(lesson.size());
    out.pictures += static_cast<int64_t>(batch.slots.size());
  }
  return out;
}

}  // namespace arrcoc::training
