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
// Only questions with `place` count where it is given.
Tensor relevance_loss(const Tensor& logits, const Tensor& target, const Tensor& inside,
                      const Tensor& place) {
  Tensor z = logits.to(at::kFloat);
  Tensor in = inside.to(at::kFloat);
  if (place.defined()) in = in * place.view({-1, 1, 1});
  Tensor answer = target.eq(2).to(at::kFloat), evidence = target.eq(1).to(at::kFloat);
  Tensor weight = in * (1 + (kAnswerWeight - 1) * answer + (kEvidenceWeight - 1) * evidence);
  Tensor positive = answer + evidence;
  Tensor cells = at::softplus(z) - z * positive;
  Tensor bce =
      (cells * weight).sum() / (place.defined() ? weight.sum().clamp_min(1) : weight.sum());
  Tensor flat = z.masked_fill(inside.logical_not(), -1e4).flatten(1);
  Tensor wanted = (answer + 0.7 * evidence).flatten(1);
  Tensor total = wanted.sum(1, true);
  Tensor each = -(at::log_softmax(flat, 1) * wanted / total.clamp_min(1e-6)).sum(1);
  Tensor some = total.squeeze(1).gt(0).to(at::kFloat);
  if (place.defined()) some = some * place;
  Tensor order = (each * some).sum() / some.sum().clamp_min(1);
  return 4 * bce + 0.6 * order;
}

}  // namespace

Tensor pointing_loss(const Tensor& logits, const Tensor& target, const Tensor& inside,
                     const Tensor& object, const Tensor& loose) {
  Tensor z = logits.to(at::kFloat).flatten(1);
  Tensor hit = target.eq(2).flatten(1), in = inside.flatten(1);
  Tensor positive = hit.to(at::kFloat), negative = in.logical_and(hit.logical_not()).to(at::kFloat);
  Tensor some = hit.any(1).to(at::kFloat);
  Tensor whole = at::logsumexp(z.masked_fill(in.logical_not(), -1e4), {1});
  Tensor found = at::logsumexp(z.masked_fill(hit.logical_not(), -1e4), {1});
  const auto mean = [](const Tensor& values, const Tensor& which) {
    return (values * which).sum(1) / which.sum(1).clamp_min(1);
  };
  Tensor level = mean(at::softplus(z), negative) + object * mean(at::softplus(-z), positive);
  Tensor each = 0.6 * (whole - found) + level;
  Tensor weight = (object + loose) * some;
  return (each * weight).sum() / weight.sum().clamp_min(1);
}

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

Tensor map_loss(const tiny::Judgement& judgement, const Batch& batch, const PageLabels& labels,
                Tensor* object) {
  Tensor inside = labels.inside.index_select(0, batch.pages);
  if (labels.place.defined()) inside = inside.logical_and(labels.target.ne(3));  // context
  const auto relevance = [&](const Tensor& logits) {
    Tensor loss = relevance_loss(logits, labels.target, inside, labels.place);
    if (!labels.place.defined()) return loss;
    Tensor pointed = pointing_loss(logits, labels.target, inside, labels.object, labels.loose);
    if (object && !object->defined()) *object = pointed.detach();
    // Every question counts alike, whichever way its boxes are taken.
    Tensor count = labels.place.sum(), others = (labels.object + labels.loose).sum();
    return (loss * count + pointed * others) / (count + others).clamp_min(1);
  };
  Tensor loss = relevance(judgement.relevance);
  if (judgement.first.defined()) loss = loss + kFirstWeight * relevance(judgement.first);
  return loss;
}

LookLosses look_losses(const tiny::RealizerNet& net, const tiny::Tensors& w,
                       const tiny::PageFeatures& features, const tiny::Judgement& judgement,
                       const Batch& batch, const PageLabels& labels) {
  LookLosses out;
  out.relevance = map_loss(judgement, batch, labels, &out.object);
  if (judgement.looked_up.defined())
    out.lookup = lookup_loss(judgement.looked_up, batch.question, labels.target);
  const int64_t p = features.cells.size(0), c = features.cells.size(3);
  const int64_t k = labels.cell_index.size(1);
  Tensor where = labels.cell_index.unsqueeze(2).expand({p, k, c});
  Tensor cells = features.cells.reshape({p, -1, c}).gather(1, where);
  out.glyph = glyph_loss(net.glyphs(w, cells), labels.cell_labels, &out.glyph_accuracy);
  Tensor z = features.text.to(at::kFloat);
  Tensor text = labels.text.eq(1).to(at::kFloat);
  Tensor in = labels.inside.logical_and(labels.text.ne(kNotKnown)).to(at::kFloat);
  out.text = ((at::softplus(z) - z * text) * in * (1 + 2 * text)).sum() / in.sum().clamp_min(1);
  Tensor tier = judgement.tier.to(at::kFloat);
  if (labels.place.defined()) {  // without a box nobody knows what a question needs
    Tensor known = labels.place + labels.object + labels.loose;
    Tensor each = at::cross_entropy_loss(tier, labels.tier, {}, at::Reduction::None);
    out.tier = (each * known).sum() / known.sum().clamp_min(1);
  } else {
    out.tier = at::cross_entropy_loss(tier, labels.tier);
  }
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
  Tensor weight = batch.weight.unsqueeze(1).expand(batch.expected.sizes()).reshape({-1}) *
                  expected.ne(tiny::kPad).to(at::kFloat);
  out.answer = (losses * weight).sum() / weight.sum().clamp_min(1);
  out.each = losses.detach().view(batch.expected.sizes()).sum(1);
  Tensor tokens = memory.states.narrow(1, 0, labels.size(1));
  out.glyph = glyph_loss(net.glyphs(w, tokens), labels, &out.glyph_accuracy);
  return out;
}

}  // namespace arrcoc::training
