// What a policy did with a question, as figures.
#include <algorithm>

#include "arrcoc/error.h"
#include "lab/measure/measure.h"
#include "lab/measure/prompted.h"

namespace arrcoc::measuring {

namespace {

double overlap(const Box& a, const Box& b) {
  const double common = intersect(a, b).area();
  const double all = a.area() + b.area() - common;
  return all > 0 ? common / all : 0;
}

Box around(const std::vector<Box>& boxes) {
  Box out = boxes.front();
  for (const Box& b : boxes)
    out = {std::min(out.x0, b.x0), std::min(out.y0, b.y0), std::max(out.x1, b.x1),
           std::max(out.y1, b.y1)};
  return out;
}

std::vector<Box> needed_boxes(const Item& item) {
  std::vector<Box> out = item.answer_boxes;
  out.insert(out.end(), item.evidence_boxes.begin(), item.evidence_boxes.end());
  return out;
}

// What allocator oracle is told. Where nothing in particular is to be seen (an unanswerable
// question), everything is.
std::vector<Box> evidence_for(const AskOptions& options, const Item& item) {
  if (options.allocator != "oracle") return {};
  std::vector<Box> out = needed_boxes(item);
  if (out.empty())
    out.push_back({0, 0, static_cast<float>(item.width), static_cast<float>(item.height)});
  return out;
}

bool inside(float x, float y, const std::vector<Box>& boxes) {
  return std::any_of(boxes.begin(), boxes.end(),
                     [&](const Box& b) { return x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1; });
}

// The cell where the map is largest, the first of several, lies with its middle in a box.
bool points_into(const Map& map, const std::vector<Box>& boxes) {
  const auto best = std::max_element(map.values.begin(), map.values.end()) - map.values.begin();
  return inside((static_cast<float>(best % map.cols) + 0.5F) * map.cell_width,
                (static_cast<float>(best / map.cols) + 0.5F) * map.cell_height, boxes);
}

void judge_answer(const Item& item, const std::string& given, Record& out) {
  out.answered = true;
  out.wanted = *item.answer;
  for (const std::string& wanted : right_answers(item)) {
    out.right = out.right || exact_match(given, wanted);
    out.relaxed = out.relaxed || relaxed_match(given, wanted);
    out.anls = std::max(out.anls, anls(given, wanted));
  }
  out.metric = item.metric;
  out.score = score(item, given);
  if (item.metric == Metric::choice) out.right = out.relaxed = out.score > 0;  // "(A)" is A
}

void judge_places(const Item& item, const Answer& answer, Record& out) {
  const Allocation& allocation = answer.from().answer().allocation;
  Tally tally;
  tally.add(allocation, item);
  if (tally.boxes > 0) {
    out.boxes = tally.boxes;
    out.recall = tally.recall();
    out.lenient = tally.recall_with_alternates();
    out.lift = tally.mean_lift();
    if (const Map& map = answer.from().look.relevance.map; !map.empty())
      out.pointed = points_into(map, item.answer_boxes);
    if (const auto& box = answer.box()) {
      out.overlap = overlap(*box, around(item.answer_boxes));
      out.box_hit = inside((box->x0 + box->x1) / 2, (box->y0 + box->y1) / 2, item.answer_boxes);
    }
  }
  constexpr int kGrid = Record::kDensity;
  out.density = token_density(allocation, kGrid, kGrid);
  const std::vector<Box> needed = needed_boxes(item);
  if (!needed.empty())
    out.qc3 = correlation(out.density, box_cover(needed, item.width, item.height, kGrid, kGrid));
}

}  // namespace

Record judge(const Group& group, const Case& one, const Answer& answer) {
  Record out;
  out.group = group.number;
  out.policy = answer.policy;
  out.suite = group.suite;
  out.kind = one.item.kind;
  out.complexity = one.complexity;
  out.question = one.item.question;
  out.answer = answer.text;
  if (one.item.answer && answer.stop != Stop::open) judge_answer(one.item, answer.text, out);
  judge_places(one.item, answer, out);
  if (out.answered && !out.right) {
    std::vector<Box> places = one.item.answer_boxes;
    places.insert(places.end(), one.item.alternate_boxes.begin(), one.item.alternate_boxes.end());
    out.cause = cause_of(out, one.item.texts, places);
  }
  out.tokens = static_cast<int>(answer.tokens);
  out.passes = static_cast<int>(answer.from().passes.size());
  out.native_tokens = answer.native_tokens;
  for (const PictureAnswer& picture : answer.pictures)
    for (const Pass& pass : picture.passes)
      for (const EncodedDepths& depths : pass.reply.depths) {
        out.depths.resize(depths.tokens.size());
        for (size_t i = 0; i < out.depths.size(); ++i) out.depths[i] += depths.tokens[i];
      }
  out.milliseconds = answer.milliseconds();
  out.likelihood = answer.likelihood;
  out.confidence = answer.confidence;
  out.unsure = answer.unsure;
  return out;
}

std::vector<Inquiry> inquiries_of(const Group& group, const AskOptions& options) {
  std::vector<Inquiry> out;
  for (const Case& one : group.cases)
    out.push_back({one.item.question, evidence_for(options, one.item)});
  return out;
}

std::vector<Answer> answers_to(const Asker& asker, const Group& group, const AskOptions& options) {
  const std::vector<Inquiry> all = inquiries_of(group, options);
  std::vector<Answer> out;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    const std::string& after = group.cases[begin].item.after;
    const Saying saying(after);
    end = begin + 1;
    if (!group.frames.empty()) {
      out.push_back(asker.ask(group.frames, all[begin].question, options));
      continue;
    }
    while (end < all.size() && group.cases[end].item.after == after) ++end;
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = all.begin() + static_cast<std::ptrdiff_t>(end);
    for (Answer& answer : asker.ask(group.picture, std::vector<Inquiry>(from, to), options))
      out.push_back(std::move(answer));
  }
  return out;
}

namespace {

// Where the tokens of all frames would go.
Answer look_at_film(const Asker& asker, const Group& group, const std::string& question,
                    const AskOptions& options) {
  std::vector<std::shared_ptr<const SeenPicture>> seen;
  for (const Picture& frame : group.frames) seen.push_back(asker.see(frame, options));
  Asking asking(std::move(seen), nullptr, question, asker.fitted(options));
  asking.next();
  return asking.finish();
}

}  // namespace

std::vector<Record> measure(const Asker& asker, const Group& group, const AskOptions& options,
                            const Hearer& hearer) {
  const std::vector<Answer> answers = answers_to(asker, group, options);
  std::vector<Record> out;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (hearer) hearer(group, group.cases[i], answers[i]);
    out.push_back(judge(group, group.cases[i], answers[i]));
  }
  return out;
}

std::vector<Record> measure_looking(const Asker& asker, const Group& group, const AskOptions& given,
                                    const Hearer& hearer) {
  AskOptions options = given;
  std::vector<Record> out;
  for (const Case& one : group.cases) {
    options.allocate.evidence = evidence_for(options, one.item);
    const Answer looked = group.frames.empty()
                              ? asker.look(group.picture, one.item.question, options)
                              : look_at_film(asker, group, one.item.question, options);
    if (hearer) hearer(group, one, looked);
    out.push_back(judge(group, one, looked));
  }
  return out;
}

void check_budget(const std::string& policy, int budget, const std::vector<Record>& records) {
  for (const Record& r : records)
    if (r.tokens > budget)
      throw Error(ErrorCode::bad_argument, "policy " + policy + " spent " +
                                               std::to_string(r.tokens) +
                                               " tokens of a budget of " + std::to_string(budget));
}

}  // namespace arrcoc::measuring
