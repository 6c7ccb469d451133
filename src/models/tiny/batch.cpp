// Pages that the caller keeps, and several questions answered at once.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "arrcoc/error.h"
#include "arrcoc/knowing.h"
#include "arrcoc/realizing.h"
#include "models/tiny/state.h"

namespace arrcoc::tiny {

struct SeenPage {
  PageFeatures features;
  Map shape;
};

namespace {

// Rows of several looks in one tensor: [n_i, ...] -> [Q, longest, ...], zeros at the end.
Tensor padded(const std::vector<Tensor>& rows) {
  int64_t longest = 0;
  for (const Tensor& row : rows) longest = std::max(longest, row.size(0));
  std::vector<int64_t> sizes = rows[0].sizes().vec();
  sizes[0] = longest;
  sizes.insert(sizes.begin(), static_cast<int64_t>(rows.size()));
  Tensor out = at::zeros(sizes, rows[0].options());
  for (size_t i = 0; i < rows.size(); ++i)
    out[static_cast<int64_t>(i)].narrow(0, 0, rows[i].size(0)).copy_(rows[i]);
  return out;
}

Look look_of(const std::vector<Reading>& readings, std::vector<Answer>& answers) {
  std::vector<Tensor> patches, centre, scale, relevance, extent, real, question;
  for (size_t i = 0; i < readings.size(); ++i) {
    const TokenSequence& tokens = *readings[i].tokens;
    const int64_t n = tokens.size();
    if (n == 0) throw Error(ErrorCode::bad_argument, "there are no tokens to read an answer from");
    extent.push_back(at::tensor({static_cast<float>(readings[i].geometry.width),
                                 static_cast<float>(readings[i].geometry.height)},
                                at::kFloat));
    patches.push_back(tokens.pixels.permute({0, 2, 3, 1}).reshape({n, 768}));
    centre.push_back(tokens.centre * extent.back().unsqueeze(0));
    scale.push_back(tokens.scale);
    relevance.push_back(tokens.relevance);
    real.push_back(at::ones({n}, at::kBool));
    question.push_back(symbols_tensor(readings[i].question, &answers[i].shortened)[0]);
  }
  return {padded(patches),   padded(centre), padded(scale),   padded(relevance),
          at::stack(extent), padded(real),   padded(question)};
}

void judge_quality(const Memory& memory, const Look& look, std::vector<Answer>& answers) {
  for (size_t i = 0; i < answers.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i);
    const Tensor q = memory.quality[row].masked_select(look.real[row]);
    answers[i].quality = q.mean().item<float>();
    answers[i].quality_spread = q.std(false).item<float>();
  }
}

}  // namespace

std::shared_ptr<const SeenPage> TinyModel::see(const Picture& picture, const Tensor& frame) const {
  at::NoGradGuard no_grad;
  return std::make_shared<const SeenPage>(
      SeenPage{state_->read(frame), knowing::map_shape(picture, frame, kCellHeight)});
}

Opinion TinyModel::look(const SeenPage& page, std::string_view question) const {
  at::NoGradGuard no_grad;
  return state_->judge(page.features, page.shape, question);
}

int64_t TinyModel::bytes(const SeenPage& page) {
  const PageFeatures& f = page.features;
  int64_t sum = 0;
  for (const Tensor* t : {&f.words, &f.text, &f.row_mask, &f.column_mask})
    sum += static_cast<int64_t>(t->nbytes());
  return sum;
}

std::vector<Answer> TinyModel::answer_all(
    const std::vector<Reading>& readings,
    const std::function<void(size_t, const std::string&)>& on_text) const {
  at::NoGradGuard no_grad;
  std::vector<Answer> answers(readings.size());
  if (readings.empty()) return answers;
  const Look look = look_of(readings, answers);
  const Tensors& w = state_->weights.answerer;
  Memory memory = state_->answerer.encode(w, look, at::kFloat);
  if (!memory.states.isfinite().all().item<bool>()) {
    memory = state_->answerer.encode(w, look, at::kFloat, false);
    for (Answer& answer : answers) answer.adapter_bypassed = true;
  }
  judge_quality(memory, look, answers);
  Answerer::OnSymbol hear;
  if (on_text)
    hear = [&](int64_t which, uint8_t symbol) {
      on_text(static_cast<size_t>(which), decode({symbol}));
    };
  const auto written = state_->answerer.write_greedy(w, memory, kMaxAnswer, hear);
  for (size_t i = 0; i < answers.size(); ++i) {
    answers[i].text = decode(written.symbols[i]);
    answers[i].probabilities = written.probabilities[i];
    double product = 1;
    for (float p : answers[i].probabilities) product *= p;
    answers[i].confidence = static_cast<float>(product);
  }
  return answers;
}

}  // namespace arrcoc::tiny
