// Wrong answers for people: where it looked, what it saw, what it read and what is right.
#include <algorithm>

#include "lab/cli/bench.h"

namespace arrcoc::cli {

namespace {

using measuring::Record;

constexpr int kShown = 420;    // pixels of a drawing's longer side
constexpr float kRoom = 0.6F;  // around a close-up, as a share of it
constexpr std::array<uint8_t, 3> kRightColour = {0, 200, 90}, kReadColour = {255, 90, 40};

Box around(const Box& a, const Box& b) {
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

Box scaled(const Box& b, float sx, float sy) {
  return {b.x0 * sx, b.y0 * sy, b.x1 * sx, b.y1 * sy};
}

std::vector<media::Mark> marks_of(const measuring::Item& item, const Answer& answer) {
  std::vector<media::Mark> out;
  for (const Box& box : item.answer_boxes) out.push_back({box, kRightColour});
  if (answer.box()) out.push_back({*answer.box(), kReadColour});
  return out;
}

// What the close-up shows: all marks where they lie near each other, else the right place alone.
Box region_of(const std::vector<media::Mark>& marks, const Geometry& g) {
  const Box whole{0, 0, static_cast<float>(g.width), static_cast<float>(g.height)};
  if (marks.empty()) return whole;
  Box out = marks.front().box;
  for (const media::Mark& m : marks) {
    const Box both = around(out, m.box);
    if (both.width() <= whole.width() / 2 && both.height() <= whole.height() / 2) out = both;
  }
  const float least = static_cast<float>(std::max(g.width, g.height)) / 5;
  const float x = std::max(kRoom * out.width(), (least - out.width()) / 2);
  const float y = std::max(kRoom * out.height(), (least / 2 - out.height()) / 2);
  return intersect({out.x0 - x, out.y0 - y, out.x1 + x, out.y1 + y}, whole);
}

// The tokens at their level of detail, pixel by pixel around the marks.
at::Tensor close_up(const Picture& picture, const Answer& answer, const AskOptions& options,
                    std::vector<media::Mark> marks) {
  const Allocation& allocation = answer.from().answer().allocation;
  const Geometry& g = allocation.geometry;
  for (media::Mark& m : marks)
    m.box = scaled(m.box, static_cast<float>(g.width) / static_cast<float>(picture.width()),
                   static_cast<float>(g.height) / static_cast<float>(picture.height()));
  media::DrawOptions draw;
  draw.longest = std::max({g.width, g.height, kShown});
  draw.legend = false;
  draw.marks = marks;
  const at::Tensor seen = media::draw_seen(pyramid_of(picture, options), allocation, draw);
  const Box part = scaled(region_of(marks, g), static_cast<float>(seen.size(2)) / g.width,
                          static_cast<float>(seen.size(1)) / g.height);
  const auto x = static_cast<int64_t>(part.x0), y = static_cast<int64_t>(part.y0);
  return seen.narrow(1, y, std::max<int64_t>(1, static_cast<int64_t>(part.y1) - y))
      .narrow(2, x, std::max<int64_t>(1, static_cast<int64_t>(part.x1) - x))
      .contiguous();
}

BenchFailure failure_of(const measuring::Group& group, const measuring::Case& one,
                        const Answer& answer, const Record& record, const AskOptions& options) {
  BenchFailure out;
  out.record = record;
  out.accepted = right_answers(one.item);
  media::DrawOptions draw;
  draw.longest = kShown;
  draw.legend = false;
  draw.marks = marks_of(one.item, answer);
  out.map =
      media::encode_png(media::draw_relevance(group.picture, answer.from().look.relevance, draw));
  out.seen = media::encode_png(close_up(group.picture, answer, options, draw.marks));
  return out;
}

// The most confident of every cause: their places among the questions of their pictures.
using Chosen = std::map<std::pair<std::string, int>, std::map<int, const Record*>>;
Chosen chosen(const BenchCell& cell, int each) {
  std::map<measuring::Cause, std::vector<std::pair<Place, const Record*>>> by_cause;
  for (const auto& [place, r] : places(cell))
    if (r->cause) by_cause[*r->cause].emplace_back(place, r);
  Chosen out;
  for (auto& [cause, all] : by_cause) {
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.second->confidence > b.second->confidence;
    });
    if (all.size() > static_cast<size_t>(each)) all.resize(each);
    for (const auto& [place, r] : all) {
      const auto& [suite, group, index] = place;
      out[{suite, group}][index] = r;
    }
  }
  return out;
}

bool before(const BenchFailure& a, const BenchFailure& b) {
  return std::make_pair(*a.record.cause, -a.record.confidence) <
         std::make_pair(*b.record.cause, -b.record.confidence);
}

}  // namespace

std::vector<BenchFailure> bench_gallery(const BenchCell& cell,
                                        const std::vector<measuring::GroupSource>& sources,
                                        int each) {
  const Chosen wanted = chosen(cell, each);
  std::vector<BenchFailure> out;
  Progress progress("gallery", wanted.size());
  size_t left = wanted.size();
  for (const auto& source : sources)
    while (left > 0) {
      const auto group = source();
      if (!group) break;
      const auto found = wanted.find({group->suite, group->number});
      if (found == wanted.end()) continue;
      // All questions of the picture together, as they were asked.
      const std::vector<Answer> answers =
          answers_to(askers().of(cell.options), *group, cell.options);
      for (const auto& [index, record] : found->second)
        out.push_back(
            failure_of(*group, group->cases[index], answers[index], *record, cell.options));
      --left;
      progress.step();
    }
  std::stable_sort(out.begin(), out.end(), before);
  return out;
}

}  // namespace arrcoc::cli
