#include "film/films.h"

#include <algorithm>

#include "lab/measure/evaluation.h"

namespace arrcoc::filming {

namespace {

// A source that somebody else owns.
template <class Source>
std::shared_ptr<Source> borrowed(Source* source) {
  return std::shared_ptr<Source>(source, [](Source*) {});
}

double covered(const Allocation& allocation, const Box& box) {
  const Geometry& g = allocation.geometry;
  return measuring::covered(allocation, box,
                            kFine * std::max(g.width, g.height) / measuring::kFrame);
}

double covered_by(const Film& film, size_t i, const Options& options, const char* allocator) {
  Relevance relevance;
  relevance.map = film.looks[i];
  Budget budget;
  budget.tokens = options.means.most;
  return covered(
      allocating::allocate(relevance, film.geometry, budget, allocator, options.allocate),
      film.boxes[i]);
}

}  // namespace

double Score::f1() const {
  const auto all = static_cast<double>(2 * hits + false_cuts + missed);
  return all > 0 ? static_cast<double>(2 * hits) / all : 1;
}

void Film::add(const Picture& picture, const std::string& question, const arrcoc::Options& options,
               const Box& box, bool cut) {
  geometry = geometry_of(picture, options);
  this->question = question;
  Map map = look_at(picture, question, options);
  map.cell_width = static_cast<float>(geometry.width) / static_cast<float>(map.cols);
  map.cell_height = static_cast<float>(geometry.height) / static_cast<float>(map.rows);
  const float sx = static_cast<float>(geometry.width) / static_cast<float>(picture.width());
  const float sy = static_cast<float>(geometry.height) / static_cast<float>(picture.height());
  thumbs.push_back(thumb_of(picture));
  looks.push_back(std::move(map));
  boxes.push_back({box.x0 * sx, box.y0 * sy, box.x1 * sx, box.y1 * sy});
  cuts.push_back(cut);
}

void measure(const Film& film, const Options& given, FlowSource* flow, SegmentSource* segments,
             bool baselines, Score& score) {
  Options options = given;
  options.interest = interest_in(parse_query(film.question));
  Realizer realizer(options, borrowed(flow), segments ? borrowed(segments) : nullptr);
  for (size_t i = 0; i < film.thumbs.size(); ++i) {
    const Step step = realizer.step(film.thumbs[i], film.geometry, [&] { return film.looks[i]; });
    ++score.frames;
    score.tokens += step.tokens;
    score.most = std::max<int64_t>(score.most, step.tokens);
    score.hits += step.cut && film.cuts[i];
    score.false_cuts += step.cut && !film.cuts[i];
    score.missed += !step.cut && film.cuts[i];
    if (step.coherence && !film.cuts[i]) {
      ++score.pairs;
      score.coherence += *step.coherence;
      score.low += *step.coherence <= 0.8F;
      score.least = std::min(score.least, *step.coherence);
    }
    if (film.boxes[i].area() <= 0) continue;
    ++score.boxes;
    score.covered += covered(step.allocation, film.boxes[i]);
    if (!baselines) continue;
    score.alone += covered_by(film, i, options, "quadtree");
    score.even += covered_by(film, i, options, "breadth-first");
  }
  score.looks += realizer.close_looks();
}

}  // namespace arrcoc::filming
