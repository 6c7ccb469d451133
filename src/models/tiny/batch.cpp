// Several questions answered at once.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "arrcoc/error.h"
#include "arrcoc/look.h"
#include "arrcoc/tokens.h"
#include "models/tiny/state.h"

namespace arrcoc::tiny {

namespace {

AnswererInput look_of(const std::vector<TokenReading>& readings, const PackedTokens& packed,
                      std::vector<bool>& shortened) {
  std::vector<std::string> questions;
  for (const TokenReading& reading : readings) questions.push_back(reading.question);
  const int64_t q = packed.mask.size(0), n = packed.mask.size(1);
  AnswererInput look;
  look.question = symbols_tensor(questions, &shortened);
  look.extent = at::empty({q, 2}, at::kFloat);
  for (int64_t i = 0; i < q; ++i) {
    look.extent[i][0] = readings[static_cast<size_t>(i)].geometry.width;
    look.extent[i][1] = readings[static_cast<size_t>(i)].geometry.height;
  }
  look.patches = packed.around.permute({0, 1, 3, 4, 2}).reshape({q, n, -1});
  look.centre = packed.centre * look.extent.unsqueeze(1);
  look.scale = packed.scale;
  look.relevance = packed.relevance;
  look.real = packed.mask;
  return look;
}

PackedTokens packed_of(const std::vector<TokenReading>& readings) {
  std::vector<TokenSequence> sequences;
  for (const TokenReading& reading : readings) {
    if (reading.tokens == nullptr || reading.tokens->size() == 0)
      throw Error(ErrorCode::bad_argument, "there are no tokens to read an answer from");
    sequences.push_back(*reading.tokens);
  }
  return cutting::pack(sequences);
}

// Lengths that there are graphs for: tokens that are none, and pads.
AnswererInput in_buckets(AnswererInput look) {
  const int64_t n = look.real.size(1), more = bucket(n, 32) - n;
  for (Tensor* t : {&look.scale, &look.relevance, &look.real})
    *t = at::constant_pad_nd(*t, {0, more}, 0);
  for (Tensor* t : {&look.patches, &look.centre}) *t = at::constant_pad_nd(*t, {0, 0, 0, more}, 0);
  const int64_t t = look.question.size(1), longest = std::min<int64_t>(bucket(t, 32), kMaxQuestion);
  look.question = at::constant_pad_nd(look.question, {0, longest - t}, kPad);
  return look;
}

void judge_quality(const Memory& memory, const std::vector<int64_t>& lengths,
                   std::vector<ReadAnswer>& answers) {
  const Tensor quality = memory.quality.to(at::kCPU, at::kFloat);
  for (size_t i = 0; i < answers.size(); ++i) {
    const Tensor q = quality[static_cast<int64_t>(i)].narrow(0, 0, lengths[i]);
    answers[i].quality = q.mean().item<float>();
    answers[i].quality_spread = q.std(false).item<float>();
  }
}

}  // namespace

const Tensors& TinyModel::State::query_weights() {
  const std::scoped_lock lock(query_mutex);
  if (!query_tensors.empty()) return query_tensors;
  const std::string from = queries_folder(folder);
  const std::string again =
      "; train them with arrcoc_train --qformer " + from + " --init " + folder;
  QueryWeights read;
  try {
    read = load_queries(from, weights.shape);
  } catch (const Error& problem) {
    if (problem.code() != ErrorCode::not_found) throw;
    throw Error(ErrorCode::not_found, "no learned queries in " + from + again);
  }
  // Fast kernels have taken most of the weights: the files still have them all.
  const uint64_t tag =
      answerer_tag(answerer, fast_answerer ? load_networks(folder).answerer : weights.answerer);
  if (read.answerer != tag)
    throw Error(ErrorCode::bad_weights,
                "the learned queries in " + from + " belong to other weights" + again);
  query_tensors = std::move(read.tensors);
  return query_tensors;
}

void TinyModel::need_queries() const { state_->query_weights(); }

Tensor TinyModel::State::seen_by_queries(const std::vector<TokenReading>& readings) {
  const Tensors& own = query_weights();
  std::vector<Tensor> seen;
  for (size_t i = 0; i < readings.size(); ++i) {
    if (i > 0 && readings[i].tokens == readings[i - 1].tokens) {
      seen.push_back(seen.back());
      continue;
    }
    std::vector<bool> ignored;
    const std::vector<TokenReading> one{readings[i]};
    Tensor mask;
    const Tensor states = answerer.encode_picture(
        answering(), look_of(one, packed_of(one), ignored), at::kFloat, mask);
    seen.push_back(query_former(own, states, mask));
  }
  return at::cat(seen);
}

std::vector<ReadAnswer> TinyModel::State::read_reduced(const std::vector<TokenReading>& readings,
                                                       const OnText& on_text) {
  std::vector<ReadAnswer> answers;
  for (size_t i = 0; i < readings.size(); ++i) {
    const OnText one = [&](size_t, const std::string& text) {
      if (on_text) on_text(i, text);
    };
    answers.push_back(read_batch({readings[i]}, one).front());
  }
  return answers;
}

Memory TinyModel::State::read_tokens(const Parameters& w, const AnswererInput& look,
                                     bool adapter) const {
  const auto read = [&](const Tensors& in) -> Tensors {
    const AnswererInput there{in[0], in[1], in[2], in[3], in[4], in[5], in[6]};
    const Memory made = answerer.encode(w, there, type, adapter);
    return {made.states, made.mask, made.quality};
  };
  const Tensors made = token_graphs.run(device, adapter ? "tokens" : "tokens without adapter",
                                        {look.patches, look.centre, look.scale, look.relevance,
                                         look.extent, look.real, look.question},
                                        read);
  return {made[0], made[1], made[2]};
}

std::vector<ReadAnswer> TinyModel::State::read_batch(const std::vector<TokenReading>& readings,
                                                     const OnText& on_text) {
  std::vector<ReadAnswer> answers(readings.size());
  const TokenReading& one = readings.front();
  if ((one.queries || one.reducer) && (!device.is_cpu() || type != at::kFloat))
    throw Error(ErrorCode::unsupported,
                "learned queries and reductions are float32 on the CPU: leave --device out");
  std::vector<bool> shortened;
  AnswererInput look;
  Tensor given;
  std::vector<int64_t> lengths(readings.size(), kQueries);
  if (one.queries) {
    std::vector<std::string> questions;
    for (const TokenReading& reading : readings) questions.push_back(reading.question);
    look.question = symbols_tensor(questions, &shortened);
    given = seen_by_queries(readings);
  } else {
    const PackedTokens packed = packed_of(readings);
    look = look_of(readings, packed, shortened);
    if (Graphs::available(device)) look = in_buckets(std::move(look));
    lengths = packed.lengths;
  }
  const Parameters w = answering();
  const auto encode = [&](bool adapter) {
    if (one.queries) return answerer.encode_given(w, given, look.question, adapter);
    if (!one.reducer) return read_tokens(w, look, adapter);
    Flow flow;
    Memory memory = answerer.encode_fewer(w, look, *one.reducer, one.keep, flow, adapter);
    lengths = {flow.tokens()};
    answers.front().kept.assign(flow.first.data_ptr<int64_t>(),
                                flow.first.data_ptr<int64_t>() + flow.tokens());
    return memory;
  };
  Memory memory = encode(true);
  if (!memory.states.isfinite().all().item<bool>()) {
    memory = encode(false);
    for (ReadAnswer& answer : answers) answer.adapter_bypassed = true;
  }
  judge_quality(memory, lengths, answers);
  write(memory, lengths, shortened, on_text, answers);
  return answers;
}

void TinyModel::State::write(const Memory& memory, const std::vector<int64_t>& lengths,
                             const std::vector<bool>& shortened, const OnText& on_text,
                             std::vector<ReadAnswer>& answers) const {
  Answerer::OnSymbol hear;
  if (on_text)
    hear = [&](int64_t which, uint8_t symbol) {
      on_text(static_cast<size_t>(which), decode({symbol}));
    };
  const int64_t tokens = memory.quality.size(1);
  const auto written =
      weights.beam > 1
          ? answerer.write_beam(answering(), memory, weights.beam, kMaxAnswer, tokens, hear)
          : answerer.write_greedy(answering(), memory, kMaxAnswer, tokens, hear);
  for (size_t i = 0; i < answers.size(); ++i) {
    ReadAnswer& answer = answers[i];
    answer.text = decode(written.symbols[i]);
    answer.probabilities = written.probabilities[i];
    answer.shortened = shortened[i];
    answer.focus.assign(written.focus[i].begin(), written.focus[i].begin() + lengths[i]);
    double product = 1;
    for (float p : answer.probabilities) product *= p;
    answer.confidence = static_cast<float>(product);
  }
}

std::vector<ReadAnswer> TinyModel::answer(const std::vector<TokenReading>& readings,
                                          const OnText& on_text) const {
  if (readings.empty()) return {};
  at::NoGradGuard no_grad;
  // What a reducer takes away differs from question to question.
  const bool reduced = readings.front().reducer != nullptr;
  return reduced ? state_->read_reduced(readings, on_text) : state_->read_batch(readings, on_text);
}

}  // namespace arrcoc::tiny
