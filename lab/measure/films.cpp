#include "lab/measure/films.h"

#include <algorithm>

#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {

namespace {

double covered_finely(const Allocation& allocation, const Box& box) {
  const Geometry& g = allocation.geometry;
  return covered(allocation, box, kFilmFine * std::max(g.width, g.height) / kFrame);
}

double covered_by(const Film& film, size_t i, const filming::Options& options,
                  const char* allocator) {
  Relevance relevance;
  relevance.map = film.looks[i];
  Budget budget;
  budget.tokens = options.allowance.most;
  return covered_finely(
      allocating::allocate(relevance, film.geometry, budget, allocator, options.allocate),
      film.boxes[i]);
}

void follow(const Film& film, filming::Options options, const FilmSources& sources,
            FilmBaselines baselines, FilmScore& score) {
  options.interest = filming::interest_in(film.question);
  filming::Follower follower(options, sources.flow, sources.segments);
  for (size_t i = 0; i < film.thumbs.size(); ++i) {
    const filming::Step step =
        follower.step(film.thumbs[i], film.geometry, [&] { return film.looks[i]; });
    ++score.frames;
    score.tokens += step.tokens;
    score.most = std::max<int64_t>(score.most, step.tokens);
    score.hits += step.cut && film.cuts[i];
    score.false_cuts += step.cut && !film.cuts[i];
    score.missed += !step.cut && film.cuts[i];
    if (step.coherence && !film.cuts[i]) {
      ++score.pairs;
      score.coherence += static_cast<double>(*step.coherence);
      score.low += *step.coherence <= 0.8F;
      score.least = std::min(score.least, *step.coherence);
    }
    if (film.boxes[i].area() <= 0) continue;
    ++score.boxes;
    score.covered += covered_finely(step.allocation, film.boxes[i]);
    if (baselines == FilmBaselines::none) continue;
    score.alone += covered_by(film, i, options, "quadtree");
    score.even += covered_by(film, i, options, "breadth-first");
  }
  score.looks += follower.close_looks();
}

}  // namespace

double FilmScore::f1() const {
  const auto all = static_cast<double>(2 * hits + false_cuts + missed);
  return all > 0 ? static_cast<double>(2 * hits) / all : 1;
}

void Film::add(const Picture& picture, const FilmLook& look, const Box& box, bool cut) {
  geometry = geometry_of(picture.width(), picture.height(), look.options);
  Map map = filming::look_at(*look.looker, picture, question);
  map.cell_width = static_cast<float>(geometry.width) / static_cast<float>(map.cols);
  map.cell_height = static_cast<float>(geometry.height) / static_cast<float>(map.rows);
  const float sx = static_cast<float>(geometry.width) / static_cast<float>(picture.width());
  const float sy = static_cast<float>(geometry.height) / static_cast<float>(picture.height());
  thumbs.push_back(filming::thumb_of(picture));
  looks.push_back(std::move(map));
  boxes.push_back({box.x0 * sx, box.y0 * sy, box.x1 * sx, box.y1 * sy});
  cuts.push_back(cut);
}

FilmScore follow(const std::vector<Film>& films, const filming::Options& options,
                 const FilmSources& sources, FilmBaselines baselines) {
  FilmScore score;
  for (const Film& film : films) follow(film, options, sources, baselines, score);
  return score;
}

}  // namespace arrcoc::measuring
