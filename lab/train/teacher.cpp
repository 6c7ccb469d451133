#include "lab/train/teacher.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include "lab/train/evaluate.h"
#include "lab/train/losses.h"
#include "lab/train/outcome.h"

namespace arrcoc::training {
namespace {

using at::Tensor;

constexpr double kPhotoCounts = 0.5;  // what a photograph's question counts beside a page's

}  // namespace

std::vector<int> Teacher::choose(const Stream& stream, const Plan& plan, int part,
                                 Dice& dice) const {
  const int wanted = std::max(1, stream.pictures() / options_.accumulate);
  // All tokens of a small picture are as many as about four ordinary questions have.
  if (plan.mode == Plan::dense)
    return stream.choose(std::max(1, wanted / 4), part, options_.canvas / 2, dice);
  return stream.choose(wanted, part, std::numeric_limits<int>::max(), dice);
}

// Scenes and pages together, photographs on their smaller canvas; scenes alone in dense steps, for
// which nobody looks.
std::vector<Teacher::Scenery> Teacher::scenery(const Plan& wanted, int part, Dice& dice) const {
  std::vector<Scenery> out;
  const auto add = [&](const Plan& plan, const std::vector<int>& slots, int questions, int taught) {
    if (slots.empty()) return;
    out.push_back(
        {plan,
         draw(pool(), slots, questions, {options_.words, options_.real_words}, dice,
              plan.outcome || (plan.again && options_.history_outcome > 0) ? options_.taught : 0),
         taught > 0 ? std::min(taught, questions) : questions});
  };
  Plan plan = wanted;
  const auto& streams = streams_.each();
  std::vector<int> slots = choose(*streams[0], plan, part, dice);
  if (slots.empty()) {  // no small picture in the pool
    plan.mode = Plan::full;
    slots = choose(*streams[0], plan, part, dice);
  }
  if (plan.mode == Plan::dense) {
    add(plan, slots, options_.questions, options_.taught);
    slots.clear();
    plan.mode = Plan::full;
  }
  std::vector<int> photos;
  for (size_t i = 1; i < streams.size(); ++i) {
    const std::vector<int> more = choose(*streams[i], plan, part, dice);
    std::vector<int>& into = pool().grid(streams[i]->shelf()) == pool().grid() ? slots : photos;
    into.insert(into.end(), more.begin(), more.end());
  }
  add(plan, slots, options_.questions, options_.taught);
  // Few questions are known of a photograph, and they are cheap to look for.
  add(plan, photos, std::max(1, options_.questions / 2), 0);
  return out;
}

// The realizer's forward pass.
Teacher::Looked Teacher::look(const Scenery& scenery, Dice& dice) {
  const Stopwatch watch(meters_.host_seconds["look"]);
  const auto& [plan, batch, taught] = scenery;
  // Backward is the dearer part: some questions of each picture are enough to teach by, the others
  // are only looked at when their maps are wanted.
  std::vector<size_t> first, others;
  for (size_t i = 0; i < batch.size(); ++i)
    (static_cast<int>(i) % batch.each < taught ? first : others).push_back(i);
  Batch lesson = part_of(batch, first, pool().device());
  lesson.each = taught;
  const PageLabels labels = page_labels(pool(), lesson, dice);
  const tiny::Tensors w = networks_.look_tensors();
  const tiny::RealizerNet& realizer = networks_.realizer();
  const tiny::PageFeatures features = realizer.read(w, pool().page(batch.slots), networks_.type());
  const tiny::Judgement judged = realizer.judge(w, features, lesson.question, lesson.pages, taught);
  Looked out;
  out.logits = judged.relevance;
  out.count = static_cast<double>(taught) * static_cast<double>(batch.slots.size());
  if (batch.grid < pool().grid()) out.count *= kPhotoCounts;
  if (plan.outcome || (plan.mode == Plan::full && plan.own_maps > 0))
    out.maps = maps_of(scenery, labels.inside, w, features, judged.relevance, others);
  if (plan.realizer_learns) out.loss = look_loss(lesson, labels, w, features, judged);
  return out;
}

Tensor Teacher::maps_of(const Scenery& scenery, const Tensor& inside, const tiny::Tensors& w,
                        const tiny::PageFeatures& features, const Tensor& taught_logits,
                        const std::vector<size_t>& others) const {
  const at::NoGradGuard no_grad;
  const Batch& batch = scenery.batch;
  const int taught = scenery.taught;
  const auto of_pages = [&](const Tensor& logits, int each) {
    const int64_t pages = static_cast<int64_t>(batch.slots.size()), g = batch.grid;
    return visible_relevance(logits, inside.repeat_interleave(each, 0)).view({pages, each, g, g});
  };
  Tensor maps = of_pages(taught_logits, taught);
  if (scenery.plan.outcome) {
    maps = maps.repeat({1, batch.each / taught, 1, 1});  // the others are copies
  } else if (!others.empty()) {
    const Batch rest = part_of(batch, others, pool().device());
    const int left = batch.each - taught;
    const Tensor logits =
        networks_.realizer().judge(w, features, rest.question, rest.pages, left).relevance;
    maps = at::cat({maps, of_pages(logits, left)}, 1);
  }
  return maps.flatten(0, 1);
}

Tensor Teacher::look_loss(const Batch& lesson, const PageLabels& labels, const tiny::Tensors& w,
                          const tiny::PageFeatures& features, const tiny::Judgement& judged) {
  Window& window = meters_.window;
  const LookLosses losses = look_losses(networks_.realizer(), w, features, judged, lesson, labels);
  Tensor loss = losses.relevance + losses.glyph + 0.2 * losses.text + 0.1 * losses.tier +
                options_.sparsity * losses.tokens + 0.1 * losses.tensions;
  if (losses.lookup.defined()) {
    loss = loss + 0.1 * losses.lookup;
    window.add("lookup", losses.lookup);
  }
  if (labels.names.defined() && networks_.names()) {
    Tensor right;
    const Tensor named = networks_.names()->cells(features.words, labels.names, &right);
    loss = loss + options_.names * named;
    window.add("page_names", named);
    window.add("page_names_right", right);
  }
  // Photographs have their own curves.
  const bool photos = lesson.grid * 16 < options_.canvas;
  const std::string own = photos ? "photo_" : "";
  window.add(own + "relevance", losses.relevance);
  if (losses.object.defined()) window.add(own + "pointing", losses.object);
  if (photos) return loss;
  window.add("page_glyph", losses.glyph);
  window.add("page_glyph_right", losses.glyph_accuracy);
  window.add("text", losses.text);
  window.add("tier", losses.tier);
  window.add("tokens", losses.tokens);
  return loss;
}

Teacher::Taught Teacher::teach(const Plan& plan, int part, Dice& dice) {
  if (plan.again) return teach_again(plan, part, dice);
  const std::vector<Scenery> all = scenery(plan, part, dice);
  std::vector<Looked> looked(all.size());
  double count = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    // Looking costs more than answering: a frozen realizer looks only where its maps are wanted.
    const Plan& own = all[i].plan;
    const bool wanted = own.realizer_learns || own.outcome ||
                        (own.mode == Plan::full && own.own_maps > 0 && own.answerer_learns);
    if (own.mode != Plan::dense && wanted) looked[i] = look(all[i], dice);
    count += looked[i].count;
  }
  {
    // The one place that waits for the device; backward follows, so that the device works while the
    // host chooses cells.
    const Stopwatch watch(meters_.host_seconds["wait"]);
    for (Looked& each : looked)
      if (each.maps.defined()) each.maps = each.maps.to(at::kCPU).contiguous();
  }
  const auto learn = [&] {
    const Stopwatch watch(meters_.host_seconds["learn"]);
    for (Looked& each : looked)
      if (each.loss.defined()) (each.loss * (each.count / count / options_.accumulate)).backward();
  };
  if (!plan.outcome) learn();
  if (plan.answerer_learns) {
    Tensor scores;
    CellLists cells;
    std::vector<const Batch*> batches;
    {
      const Stopwatch watch(meters_.host_seconds["cells"]);
      for (size_t i = 0; i < all.size(); ++i) {
        const auto& [own, batch, taught] = all[i];
        auto chosen = plan.outcome ? drawn_cells(options_, own, batch, looked[i].maps, dice, scores)
                                   : cells_for(options_, own, batch, looked[i].maps, dice);
        std::move(chosen.begin(), chosen.end(), std::back_inserter(cells));
        batches.push_back(&batch);
      }
    }
    const Tensor earned = answer(plan, joined(batches), std::move(cells), dice);
    if (plan.outcome && looked[0].loss.defined()) {
      meters_.window.add("reward", earned.mean());
      const Tensor sent = send(scores, pool().device());
      looked[0].loss = looked[0].loss +
                       options_.outcome_weight * outcome_loss(looked[0].logits, sent, earned,
                                                              options_.taught, all[0].batch.each);
    }
  }
  if (plan.outcome) learn();
  Taught out;
  for (const Scenery& each : all) {
    out.questions += static_cast<int64_t>(each.batch.size());
    out.pictures += static_cast<int64_t>(each.batch.slots.size());
  }
  return out;
}

}  // namespace arrcoc::training
