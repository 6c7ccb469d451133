// Losses; every result is a scalar on the device.
#pragma once

#include "lab/train/batch.h"

namespace arrcoc::training {

struct LookLosses {  // realizer
  at::Tensor relevance, glyph, text, tier, tensions, tokens;
  at::Tensor lookup;          // undefined where the network looks nothing up
  at::Tensor glyph_accuracy;  // share of characters named right, no gradient
  at::Tensor object;          // things on photographs; undefined without real pictures
};
// tokens is the expected number of tokens over 400 (sparsity).
LookLosses look_losses(const tiny::RealizerNet& net, const tiny::Tensors& w,
                       const tiny::PageFeatures& features, const tiny::Judgement& judgement,
                       const Batch& batch, const PageLabels& labels);

// The first of them alone, of a judgement that has no page's other parts beside it.
at::Tensor map_loss(const tiny::Judgement& judgement, const Batch& batch, const PageLabels& labels,
                    at::Tensor* object = nullptr);

// Every cell of evidence (the key beside a value, the legend of a bar) should be found by some
// character of the question: cross-entropy of the likeliest one's share. logits [Q,T,cells] over
// cells of 16x32 pixels; question [Q,T] symbols; target [Q,g,g], 1 where evidence is.
at::Tensor lookup_loss(const at::Tensor& logits, const at::Tensor& question,
                       const at::Tensor& target);

// For things and for places that are only about known: minus the log of the share of the softmax
// over cells that lies in the boxes, so that the strongest cell falls into them wherever; and BCE
// in which the cells inside and the cells outside count alike (loose boxes: those outside alone).
// logits, target, inside as relevance; object, loose [Q] are 1 for the questions that count.
at::Tensor pointing_loss(const at::Tensor& logits, const at::Tensor& target,
                         const at::Tensor& inside, const at::Tensor& object,
                         const at::Tensor& loose);

struct AnswerLosses {
  at::Tensor answer, glyph;
  at::Tensor glyph_accuracy;
  at::Tensor logits;  // [Q,L,symbols]
  at::Tensor each;    // [Q]: sum over the characters of each answer, no gradient
};
// labels [Q,N,kGlyphSlots] int64, -1 where a token names no characters.
AnswerLosses answer_losses(const tiny::Answerer& net, const tiny::Tensors& w,
                           const tiny::Memory& memory, const Batch& batch,
                           const at::Tensor& labels);

}  // namespace arrcoc::training
