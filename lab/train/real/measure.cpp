#include "lab/train/real/measure.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "lab/measure/evaluation.h"
#include "lab/train/batch.h"
#include "lab/train/evaluate.h"

namespace arrcoc::training::real {
namespace {

// Where the map is strongest, in native pixels, lies inside a box.
double pointed(const float* map, int stride, const Sample& sample, const Ask& ask) {
  const Grid grid = sample.geometry.grid(0);
  int best = 0;
  for (int r = 0; r < grid.rows; ++r)
    for (int c = 0; c < grid.cols; ++c)
      if (map[r * stride + c] > map[best]) best = r * stride + c;
  const float x = (static_cast<float>(best % stride) + 0.5F) * 16 / sample.frame_x();
  const float y = (static_cast<float>(best / stride) + 0.5F) * 16 / sample.frame_y();
  for (const Box& b : ask.answer_boxes)
    if (x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1) return 1;
  return 0;
}

// [P,g,g] bool: cells of the pictures.
at::Tensor cells_inside(const Batch& batch) {
  const int64_t g = batch.grid, pages = static_cast<int64_t>(batch.slots.size());
  at::Tensor inside = at::zeros({pages, g, g}, at::kByte);
  for (int64_t p = 0; p < pages; ++p) {
    const Grid real = batch.pool->sample(batch.slots[static_cast<size_t>(p)]).geometry.grid(0);
    inside[p].narrow(0, 0, real.rows).narrow(1, 0, real.cols).fill_(1);
  }
  return send(inside, batch.pool->device()).gt(0);
}

std::vector<Cell> cells_of(const Sample& sample, const Ask& ask, const float* map, int stride,
                           const Budgets& budgets, bool oracle) {
  const Grid own = sample.native.grid(0);
  std::vector<float> native(static_cast<size_t>(own.cells()));
  if (oracle && !ask.answer_boxes.empty())
    oracle_map(ask, sample.native, own.cols, native.data());
  else
    to_native(map, stride, sample.geometry, sample.native, native.data());
  const bool pages = sample.kind.rfind("doc", 0) == 0 || sample.kind.rfind("pdf", 0) == 0 ||
                     std::max(sample.native.width, sample.native.height) > 1024;
  const int budget = ask.task == Task::find ? budgets.places
                     : pages                ? budgets.pages
                                            : budgets.others;
  return quadtree(native.data(), own.cols, sample.native, budget);
}

// All of a result but the answer.
Result looked_for(const Sample& sample, const Ask& ask, const float* map, int stride,
                  const std::vector<Cell>& cells) {
  Result r;
  r.picture = sample.ticket;
  r.set = sample.kind;
  r.intent = ask.intent;
  r.question = tiny::decode(ask.question);
  r.wanted = tiny::decode(ask.answer);
  r.tokens = static_cast<int>(cells.size());
  if (!ask.answer_boxes.empty()) {
    r.recall = recall(cells, ask);
    r.pointing = pointed(map, stride, sample, ask);
  }
  return r;
}

void judge(const std::vector<uint8_t>& symbols, const std::vector<float>& probabilities,
           std::vector<std::string> accepted, Result& r) {
  r.given = tiny::decode(symbols);
  r.likelihood = 1;
  for (float p : probabilities) r.likelihood *= p;
  accepted.push_back(r.wanted);
  for (const std::string& answer : accepted) {
    r.anls = std::max(r.anls, measuring::anls(r.given, answer));
    r.exact = std::max(r.exact, measuring::exact_match(r.given, answer) ? 1.0 : 0.0);
    r.relaxed = std::max(r.relaxed, measuring::relaxed_match(r.given, answer) ? 1.0 : 0.0);
  }
}

}  // namespace

std::map<std::string, Score> scores_of(const std::vector<Result>& results) {
  std::map<std::string, Score> out;
  for (const Result& r : results) {
    Score& s = out[r.set];
    ++s.questions;
    if (!r.wanted.empty()) {
      ++s.answered;
      s.anls += r.anls;
      s.exact += r.exact;
      s.relaxed += r.relaxed;
    }
    if (r.recall >= 0) {
      ++s.boxes;
      s.recall += r.recall;
      s.pointing += r.pointing;
    }
  }
  for (auto& [set, s] : out) {
    const double answered = std::max(1, s.answered), boxes = std::max(1, s.boxes);
    s.anls /= answered;
    s.exact /= answered;
    s.relaxed /= answered;
    s.recall /= boxes;
    s.pointing /= boxes;
  }
  return out;
}

std::vector<Result> measure(const tiny::RealizerNet& realizer, const tiny::Tensors& look,
                            const tiny::Answerer& answerer, const tiny::Tensors& write, Pool& pool,
                            const std::vector<std::shared_ptr<const Sample>>& samples,
                            at::ScalarType type, const Budgets& budgets, bool oracle) {
  at::NoGradGuard no_grad;
  std::vector<Result> out;
  constexpr int kQuestions = 32;  // a picture, at most
  const int64_t cells_a_map = int64_t{pool.grid()} * pool.grid();
  for (size_t first = 0; first < samples.size(); first += static_cast<size_t>(pool.slots())) {
    const size_t last = std::min(samples.size(), first + static_cast<size_t>(pool.slots()));
    std::vector<int> slots;
    for (size_t i = first; i < last; ++i) slots.push_back(static_cast<int>(i - first));
    pool.put(slots, {samples.begin() + static_cast<std::ptrdiff_t>(first),
                     samples.begin() + static_cast<std::ptrdiff_t>(last)});
    const Batch batch = all_of(pool, slots, kQuestions);
    if (batch.size() == 0) continue;
    const tiny::PageFeatures features = realizer.read(look, pool.page(slots), type);
    const at::Tensor logits = realizer.judge(look, features, batch.question, batch.pages).relevance;
    const at::Tensor maps =
        visible_relevance(logits, cells_inside(batch).index_select(0, batch.pages))
            .to(at::kCPU)
            .contiguous();
    std::vector<std::vector<Cell>> cells;
    std::vector<Result> results;
    for (size_t i = 0; i < batch.size(); ++i) {
      const Sample& sample = pool.sample(batch.slot_of[i]);
      const Ask& ask = *batch.asks[i];
      const float* map = maps.data_ptr<float>() + static_cast<int64_t>(i) * cells_a_map;
      cells.push_back(cells_of(sample, ask, map, pool.grid(), budgets, oracle));
      results.push_back(looked_for(sample, ask, map, pool.grid(), cells.back()));
    }
    tiny::AnswererInput seen =
        pool.look(batch.slot_of, cells, std::vector<int>(batch.size(), 0), nullptr);
    seen.question = batch.question;
    const auto written =
        answerer.write_greedy(write, answerer.encode(write, seen, type), tiny::kMaxAnswer);
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!results[i].wanted.empty())
        judge(written.symbols[i], written.probabilities[i], batch.asks[i]->accepted, results[i]);
      out.push_back(std::move(results[i]));
    }
  }
  return out;
}

std::string table(const std::map<std::string, Score>& scores) {
  std::string out;
  char text[200];
  for (const auto& [set, s] : scores) {
    std::snprintf(text, sizeof text,
                  "\n  %-12s %4d questions: anls %.3f exact %.3f relaxed %.3f (%d), recall %.3f "
                  "pointing %.3f (%d)",
                  set.c_str(), s.questions, s.anls, s.exact, s.relaxed, s.answered, s.recall,
                  s.pointing, s.boxes);
    out += text;
  }
  return out;
}

}  // namespace arrcoc::training::real
