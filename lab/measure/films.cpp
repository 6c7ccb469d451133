#include "lab/measure/films.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/measure/evaluation.h"

namespace arrcoc::measuring {

namespace {

constexpr float kAlike = 0.06F;  // RGB distance / sqrt 3 of thumb pixels that look alike

double largest_side(const Geometry& g) { return kFilmFine * std::max(g.width, g.height) / kFrame; }

double covered_finely(const Allocation& allocation, const Box& box) {
  return covered(allocation, box, largest_side(allocation.geometry));
}

bool alike(const filming::Thumb& a, const filming::Thumb& b, size_t pixel) {
  int sum = 0;
  for (size_t c = 3 * pixel; c < 3 * pixel + 3; ++c) {
    const int d = a.rgb[c] - b.rgb[c];
    sum += d * d;
  }
  return static_cast<float>(sum) <= 3 * 255.0F * 255 * kAlike * kAlike;
}

// Share of the thumb's pixels in the box and under fine leaves that look as when these were paid.
double still_shown(const Film& film, size_t i, const Allocation& allocation,
                   const std::vector<int64_t>& since) {
  const filming::Thumb& now = film.thumbs[i];
  const float sx = static_cast<float>(now.width) / static_cast<float>(film.geometry.width);
  const float sy = static_cast<float>(now.height) / static_cast<float>(film.geometry.height);
  int64_t under = 0, same = 0;
  for (size_t l = 0; l < since.size(); ++l) {
    const Leaf& leaf = allocation.leaves[l];
    if (static_cast<double>(Geometry::side(leaf.level)) > largest_side(film.geometry)) continue;
    const Box box = intersect(allocating::box_of(film.geometry, leaf), film.boxes[i]);
    if (box.area() <= 0) continue;
    const int y1 = std::min(now.height, static_cast<int>(std::ceil(box.y1 * sy)));
    const int x1 = std::min(now.width, static_cast<int>(std::ceil(box.x1 * sx)));
    for (int y = static_cast<int>(box.y0 * sy); y < y1; ++y)
      for (int x = static_cast<int>(box.x0 * sx); x < x1; ++x) {
        const size_t pixel = static_cast<size_t>(y) * now.width + x;
        ++under;
        same += alike(now, film.thumbs[static_cast<size_t>(since[l])], pixel);
      }
  }
  return under > 0 ? static_cast<double>(same) / static_cast<double>(under) : 1;
}

Allocation allocated(const Film& film, size_t i, int tokens, const filming::Options& options,
                     const char* allocator) {
  Relevance relevance;
  relevance.map = film.looks[i];
  Budget budget;
  budget.tokens = tokens;
  return allocating::allocate(relevance, film.geometry, budget, allocator, options.allocate);
}

// spent: what following paid, frame by frame; boxes: of the frames that have one.
void alone(const Film& film, const std::vector<int>& spent, const filming::Options& options,
           FilmScore& score, FilmBox* boxes) {
  const auto frames = static_cast<int64_t>(spent.size());
  const int64_t all = std::accumulate(spent.begin(), spent.end(), int64_t{0});
  int64_t used = 0;
  Allocation same;
  std::vector<int64_t> since;
  for (int64_t k = 0; k < frames; ++k) {
    const auto i = static_cast<size_t>(k);
    // What a frame could not use, less than a split, is left to the next one.
    const int64_t tokens = all * (k + 1) / frames - used;
    Allocation even, breadth;
    if (tokens > 0) {
      even = allocated(film, i, static_cast<int>(tokens), options, "quadtree");
      breadth = allocated(film, i, static_cast<int>(tokens), options, "breadth-first");
      used += even.tokens();
    }
    if (spent[i] > 0) {
      same = allocated(film, i, spent[i], options, "quadtree");
      since.assign(same.leaves.size(), k);
    }
    if (film.boxes[i].area() <= 0) continue;
    boxes->alone = tokens > 0 ? covered_finely(even, film.boxes[i]) : 0;
    boxes->breadth = tokens > 0 ? covered_finely(breadth, film.boxes[i]) : 0;
    boxes->same = covered_finely(same, film.boxes[i]);
    boxes->same_shown = boxes->same * still_shown(film, i, same, since);
    ++boxes;
  }
  score.alone_tokens += used;
  score.furthest = std::max(score.furthest, std::abs(all - used));
}

void follow(const Film& film, filming::Options options, const FilmSources& sources,
            FilmBaselines baselines, FilmScore& score) {
  options.interest = filming::interest_in(film.question);
  filming::Follower follower(options, sources.flow, sources.segments);
  std::vector<int> spent;
  const size_t before = score.boxes.size();
  for (size_t i = 0; i < film.thumbs.size(); ++i) {
    const filming::Step step =
        follower.step(film.thumbs[i], film.geometry, [&] { return film.looks[i]; });
    spent.push_back(step.tokens);
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
    FilmBox& box = score.boxes.emplace_back();
    box.group = film.clip >= 0 ? film.clip : static_cast<int>(i) / kFilmBlock;
    box.covered = covered_finely(step.allocation, film.boxes[i]);
    box.shown = box.covered * still_shown(film, i, step.allocation, step.since);
  }
  for (size_t k = before; k < score.boxes.size(); ++k)
    score.boxes[k].paid =
        static_cast<double>(follower.spent()) / static_cast<double>(film.thumbs.size());
  score.looks += follower.close_looks();
  if (baselines == FilmBaselines::all)
    alone(film, spent, options, score, score.boxes.data() + before);
}

using Value = std::function<double(const FilmBox&)>;
Interval differences(const FilmScore& a, const Value& what, const FilmScore& b,
                     const Value& other) {
  std::vector<double> values;
  std::vector<int> groups;
  for (size_t i = 0; i < a.boxes.size(); ++i) {
    values.push_back(what(a.boxes[i]) - other(b.boxes[i]));
    groups.push_back(a.boxes[i].group);
  }
  return values.empty() ? Interval{} : bootstrap(values, groups);
}

}  // namespace

double FilmScore::mean(double FilmBox::*what) const {
  double sum = 0;
  for (const FilmBox& box : boxes) sum += box.*what;
  return boxes.empty() ? 0 : sum / static_cast<double>(boxes.size());
}

Interval FilmScore::less(double FilmBox::*what, double FilmBox::*other) const {
  return differences(*this, what, *this, other);
}

Interval gain(const FilmScore& now, const FilmScore& before, const Value& what) {
  return differences(now, what, before, what);
}

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
