#include "lab/train/losses.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

namespace arrcoc::training {
namespace {

using at::Tensor;

constexpr double kAnswerWeight = 12, kEvidenceWeight = 8;  // of positive cells, negatives have 1
constexpr double kFirstWeight = 0.3;                       // of maps that choose rows
constexpr double kFloor = 1e-5;                            // of shares of what is looked up
constexpr double kEmptyWeight = 0.1;                       // of "no character in this slot"

// Cross-entropy over symbols in which empty slots count little; ignored where labels are negative.
Tensor glyph_loss(const Tensor& logits, const Tensor& labels, Tensor* accuracy) {
  Tensor flat = logits.reshape({-1, tiny::kSymbols}).to(at::kFloat);
  Tensor target = labels.reshape({-1});
  Tensor weight = at::ones({tiny::kSymbols}, flat.options());
  weight.narrow(0, tiny::kPad, 1).fill_(kEmptyWeight);
  {
    at::NoGradGuard no_grad;
    Tensor written = target.gt(tiny::kPad);
    Tensor right = flat.argmax(1).eq(target).logical_and(written);
    *accuracy = right.sum().to(at::kFloat) / written.sum().clamp_min(1).to(at::kFloat);
  }
  // A batch without any label would divide by zero.
  Tensor losses = at::cross_entropy_loss(flat, target, weight, at::Reduction::None, -1);
  Tensor counted = weight.index_select(0, target.clamp_min(0)) * target.ge(0).to(at::kFloat);
  return losses.sum() / counted.sum().clamp_min(1);
}

// BCE over all cells of the picture, and cross-entropy of the softmax over cells against the
// answer: the first sets the level, the second the order, which is what a budget buys by.
Tensor relevance_loss(const Tensor& logits, const Tensor& target, const Tensor& inside) {
  Tensor z = logits.to(at::kFloat);
  Tensor in = inside.to(at::kFloat);
  Tensor answer = target.eq(2).to(at::kFloat), evidence = target.eq(1).to(at::kFloat);
  Tensor weight = in * (1 + (kAnswerWeight - 1) * answer + (kEvidenceWeight - 1) * evidence);
  Tensor positive = answer + evidence;
  Tensor cells = at::softplus(z) - z * positive;
  Tensor bce = (cells * weight).sum() / weight.sum();
  Tensor flat = z.masked_fill(inside.logical_not(), -1e4).flatten(1);
  Tensor wanted = (answer + 0.7 * evidence).flatten(1);
  Tensor total = wanted.sum(1, true);
  Tensor each = -(at::log_softmax(flat, 1) * wanted / total.clamp_min(1e-6)).sum(1);
  Tensor some = total.squeeze(1).gt(0).to(at::kFloat);
  Tensor order = (each * some).sum() / some.sum().clamp_min(1);
  return 4 * bce + 0.6 * order;
}

}  // namespace

Tensor lookup_loss(const Tensor& logits, const Tensor& question, const Tensor& target) {
  Tensor cells = target.eq(1).to(at::kFloat);
  const int64_t q = cells.size(0), rows = cells.size(1), cols = cells.size(2) / 2;
  cells = cells.view({q, rows, cols, 2}).amax(3).flatten(1);
  Tensor shares =
      at::log_softmax(logits, 2) + question.eq(tiny::kPad).to(at::kFloat).mul(-1e4).unsqueeze(2);
  // A floor on the share: what is lost entirely should neither rule the step nor be given up.
  Tensor best = shares.amax(1);
  best = at::logaddexp(best, at::full({}, std::log(kFloor), best.options()));
  Tensor total = cells.sum(1);
  Tensor each = -(best * cells).sum(1) / total.clamp_min(1);
  return each.sum() / total.gt(0).sum().clamp_min(1);
}

LookLosses look_losses(const tiny::RealizerNet& net, const tiny::Tensors& w,
                       const tiny::PageFeatures& features, const tiny::Judgement& judgement,
                       const Batch& batch, const PageLabels& labels) {
  LookLosses out;
  Tensor inside = labels.inside.index_select(0, batch.pages);
  out.relevance = relevance_loss(judgement.relevance, labels.target, inside);
  if (judgement.first.defined())
    out.relevance =
        out.relevance + kFirstWeight * relevance_loss(judgement.first, labels.target, inside);
  if (judgement.looked_up.defined())
    out.lookup = lookup_loss(judgement.looked_up, batch.question, labels.target);
  const int64_t p = features.cells.size(0), c = features.cells.size(3);
  const int64_t k = labels.cell_index.size(1);
  Tensor where = labels.cell_index.unsqueeze(2).expand({p, k, c});
  Tensor cells = features.cells.reshape({p, -1, c}).gather(1, where);
  out.glyph = glyph_loss(net.glyphs(w, cells), labels.cell_labels, &out.glyph_accuracy);
  Tensor z = features.text.to(at::kFloat);
  Tensor text = labels.text.to(at::kFloat), in = labels.inside.to(at::kFloat);
  out.text = ((at::softplus(z) - z * text) * in * (1 + 2 * text)).sum() / in.sum();
  Tensor tier = judgement.tier.to(at::kFloat);
  out.tier = at::cross_entropy_loss(tier, labels.tier);
  Tensor share = at::softmax(tier, 1);
  out.tokens = at::zeros({}, share.options());
  for (int i = 0; i < tiny::kTiers; ++i)
    out.tokens = out.tokens + share.select(1, i).mean() * (tiny::kTierTokens[i] / 400.0);
  out.tensions = (judgement.tensions.to(at::kFloat) - labels.tensions).square().mean();
  return out;
}

AnswerLosses answer_losses(const tiny::Answerer& net, const tiny::Tensors& w,
                           const tiny::Memory& memory, const Batch& batch,
                           const at::Tensor& labels) {
  AnswerLosses out;
  Tensor logits = net.write(w, memory, batch.previous).to(at::kFloat);
  out.logits = logits.detach();
  Tensor expected = batch.expected.reshape({-1});
  Tensor losses = at::cross_entropy_loss(logits.reshape({-1, tiny::kSymbols}), expected, {},
                                         at::Reduction::None, tiny::kPad);
  out.answer = losses.sum() / expected.ne(tiny::kPad).sum().clamp_min(1).to(at::kFloat);
  Tensor tokens = memory.states.narrow(1, 0, labels.size(1));
  out.glyph = glyph_loss(net.glyphs(w, tokens), labels, &out.glyph_accuracy);
  return out;
}

}  // namespace arrcoc::training
