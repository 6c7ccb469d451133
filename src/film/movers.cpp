// Things that move, as wholes: their moving edges are joined and filled, and their shape says
// whether they can be what the question names.
#include <algorithm>
#include <cmath>

#include "arrcoc/film.h"
#include "base/words.h"

namespace arrcoc::filming {

namespace {

constexpr float kMoves = 0.15F;  // mean motion of a cell that moves
constexpr int kSmallest = 3;     // cells; less is a flicker
constexpr float kInside = 0.6F;  // a mover's still parts, against its moving ones

// data/words/film.txt
struct Tables {
  WordFile file = word_file("film");
  WordSet people = file.set("people"), vehicles = file.set("vehicles"), moving = file.set("moving");
};

// 1 for a shape that fits, down to 0.25. Upright things are at least 1.4 times as high as wide.
float fit(const Interest& interest, float width, float height) {
  if (interest.upright == 0) return 1;
  const float lean = std::log(height / width) / std::log(1.4F);  // 1: upright, -1: lying
  return std::clamp(0.625F + 0.375F * interest.upright * lean, 0.25F, 1.0F);
}

struct Mover {
  std::vector<int> cells;  // joined ones
  int moving = 0;          // of them above kMoves
  int r0 = 0, r1 = 0, c0 = 0, c1 = 0;
};

// 1 for cells that move or touch one that does, corners too.
std::vector<char> near_motion(const Map& motion) {
  const size_t rows = static_cast<size_t>(motion.rows), cols = static_cast<size_t>(motion.cols);
  std::vector<char> moves(rows * cols), along(rows * cols), out(rows * cols);
  for (size_t i = 0; i < moves.size(); ++i) moves[i] = motion.values[i] > kMoves;
  for (size_t r = 0; r < rows; ++r) {
    const char* from = moves.data() + r * cols;
    char* to = along.data() + r * cols;
    for (size_t c = 0; c < cols; ++c)
      to[c] = static_cast<char>(from[c] | from[c > 0 ? c - 1 : c] | from[c + 1 < cols ? c + 1 : c]);
  }
  for (size_t r = 0; r < rows; ++r) {
    const char* above = along.data() + (r > 0 ? r - 1 : r) * cols;
    const char* below = along.data() + (r + 1 < rows ? r + 1 : r) * cols;
    const char* here = along.data() + r * cols;
    for (size_t c = 0; c < cols; ++c)
      out[r * cols + c] = static_cast<char>(here[c] | above[c] | below[c]);
  }
  return out;
}

// Everything joined to the cell `start`; taken cells are struck from `open`.
Mover gather(const Map& motion, int start, std::vector<char>& open) {
  Mover out;
  out.r0 = out.r1 = start / motion.cols;
  out.c0 = out.c1 = start % motion.cols;
  std::vector<int> todo = {start};
  open[static_cast<size_t>(start)] = 0;
  while (!todo.empty()) {
    const int cell = todo.back();
    todo.pop_back();
    out.cells.push_back(cell);
    const int row = cell / motion.cols, col = cell % motion.cols;
    if (motion.at(row, col) > kMoves) {
      ++out.moving;
      out.r0 = std::min(out.r0, row), out.r1 = std::max(out.r1, row);
      out.c0 = std::min(out.c0, col), out.c1 = std::max(out.c1, col);
    }
    for (int r = std::max(0, row - 1); r <= std::min(motion.rows - 1, row + 1); ++r)
      for (int c = std::max(0, col - 1); c <= std::min(motion.cols - 1, col + 1); ++c) {
        char& free = open[static_cast<size_t>(r) * motion.cols + c];
        if (free) todo.push_back(r * motion.cols + c);
        free = 0;
      }
  }
  return out;
}

}  // namespace

Interest interest_in(const Query& query) {
  Interest out;
  const Tables& t = read_once<Tables>();
  const bool people = has_any(query.words, t.people), vehicles = has_any(query.words, t.vehicles);
  if (people != vehicles) out.upright = people ? 1.0F : -1.0F;
  if (people || vehicles || has_any(query.words, t.moving)) {
    out.moving = true;
    out.rest = 0.5F;
  }
  return out;
}

Map movers(const Map& motion, const Interest& interest) {
  Map out = like(motion, 0);
  std::vector<char> open = near_motion(motion);
  for (int start = 0; start < static_cast<int>(motion.size()); ++start) {
    if (!open[static_cast<size_t>(start)]) continue;
    const Mover mover = gather(motion, start, open);
    if (mover.moving < kSmallest) continue;
    const float share =
        fit(interest, static_cast<float>(mover.c1 - mover.c0 + 1) * motion.cell_width,
            static_cast<float>(mover.r1 - mover.r0 + 1) * motion.cell_height);
    for (int cell : mover.cells) {
      const int row = cell / motion.cols, col = cell % motion.cols;
      // The rim was only joined to close gaps.
      if (row < mover.r0 || row > mover.r1 || col < mover.c0 || col > mover.c1) continue;
      out.at(row, col) = share * std::max(motion.at(row, col), kInside);
    }
  }
  return out;
}

}  // namespace arrcoc::filming
