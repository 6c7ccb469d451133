#include "lab/train/real/sample.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "arrcoc/error.h"
#include "lab/train/real/counts.h"
#include "lab/train/real/questions.h"
#include "lab/train/real/swap.h"
#include "lab/train/real/words.h"

namespace arrcoc::training::real {
namespace {

constexpr float kSmallest = 6;       // ems, in pixels of the grid, that characters are asked for
constexpr float kLoosePart = 0.06F;  // of the picture: larger boxes say only about where
constexpr int kBlock = 8;            // pixels
constexpr int kFlat = 30;            // grey levels between dark and light in a cell without print

// Darkest and lightest pixel of each block.
class Contrast {
 public:
  explicit Contrast(const scenes::Canvas& canvas)
      : rows_((canvas.height + kBlock - 1) / kBlock), cols_((canvas.width + kBlock - 1) / kBlock) {
    low_.assign(static_cast<size_t>(rows_) * cols_, 255);
    high_.assign(low_.size(), 0);
    for (int y = 0; y < canvas.height; ++y) {
      const uint8_t* p = canvas.at(0, y);
      const size_t row = static_cast<size_t>(y / kBlock) * cols_;
      for (int x = 0; x < canvas.width; ++x, p += 3) {
        const auto v = static_cast<uint8_t>((p[0] + 2 * p[1] + p[2]) / 4);
        const size_t at = row + static_cast<size_t>(x / kBlock);
        low_[at] = std::min(low_[at], v);
        high_[at] = std::max(high_[at], v);
      }
    }
  }
  bool flat(const Box& box) const {
    const CellRange range = touched(box, kBlock, rows_, cols_);
    int low = 255, high = 0;
    for (int r = range.r0; r < range.r1; ++r)
      for (int c = range.c0; c < range.c1; ++c) {
        low = std::min<int>(low, low_[static_cast<size_t>(r) * cols_ + c]);
        high = std::max<int>(high, high_[static_cast<size_t>(r) * cols_ + c]);
      }
    return high - low < kFlat;
  }

 private:
  int rows_, cols_;
  std::vector<uint8_t> low_, high_;
};

// Words of the view and the centres of their characters, which turn along.
struct Moved {
  std::vector<Word> words;
  std::vector<std::vector<scenes::Glyph>> glyphs;  // none where a word is cut
};

// Labels of a grid of cells; sx, sy: pixels of the grid a pixel of the picture.
struct LabelGrid {
  float sx, sy;
  int width, height;  // of a cell
  int rows, cols;     // that exist in the picture
  int stride;         // cells a row of the array
  int slots;

  // Nothing is known but where the paper is plain, and where words are that were read for sure:
  // those cells hold their characters and no others. Words that were not read for sure spoil what
  // they touch. Returns which cells hold a character.
  std::vector<uint8_t> fill(const Moved& print, const Contrast& contrast,
                            std::vector<uint8_t>& out) const {
    const auto& words = print.words;
    const auto& glyphs = print.glyphs;
    std::vector<uint8_t> state(static_cast<size_t>(rows) * stride, 0);  // 1 known, 2 spoilt
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c)
        state[static_cast<size_t>(r) * stride + c] = contrast.flat(
            {static_cast<float>(c * width) / sx, static_cast<float>(r * height) / sy,
             static_cast<float>((c + 1) * width) / sx, static_cast<float>((r + 1) * height) / sy});
    const auto cells = [&](const Box& b, auto&& visit) {
      const Box box{b.x0 * sx / static_cast<float>(width), b.y0 * sy / static_cast<float>(height),
                    b.x1 * sx / static_cast<float>(width), b.y1 * sy / static_cast<float>(height)};
      const CellRange range = touched(box, 1, rows, cols);
      for (int r = range.r0; r < range.r1; ++r)
        for (int c = range.c0; c < range.c1; ++c) visit(static_cast<size_t>(r) * stride + c);
    };
    std::vector<std::pair<float, std::pair<size_t, uint8_t>>> named;
    for (size_t i = 0; i < words.size(); ++i) {
      const bool sure = words[i].confidence >= kSure && !glyphs[i].empty() &&
                        glyphs[i].front().height * sy >= kSmallest;
      cells(words[i].box, [&](size_t at) {
        if (!sure)
          state[at] = 2;
        else if (state[at] == 0)
          state[at] = 1;
      });
      if (!sure) continue;
      for (const scenes::Glyph& g : glyphs[i]) {
        const int r = static_cast<int>(std::floor(g.y * sy / static_cast<float>(height)));
        const int c = static_cast<int>(std::floor(g.x * sx / static_cast<float>(width)));
        if (r < 0 || c < 0 || r >= rows || c >= cols) continue;
        named.push_back(
            {g.x,
             {static_cast<size_t>(r) * stride + c, static_cast<uint8_t>(tiny::symbol_of(g.code))}});
      }
    }
    std::stable_sort(named.begin(), named.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t at = 0; at < state.size(); ++at)
      std::memset(&out[at * slots], state[at] == 1 ? tiny::kPad : kNotKnown,
                  static_cast<size_t>(slots));
    std::vector<uint8_t> inked(state.size(), 0);
    for (const auto& [x, glyph] : named) {
      const auto& [at, symbol] = glyph;
      if (state[at] != 1) continue;
      inked[at] = 1;
      for (int k = 0; k < slots; ++k)
        if (out[at * slots + k] == tiny::kPad) {
          out[at * slots + k] = symbol;
          break;
        }
    }
    return inked;
  }
};

Moved moved(const std::vector<Word>& words, const View& view) {
  Moved out;
  const float w = static_cast<float>(view.width), h = static_cast<float>(view.height);
  const float scale = h / view.crop.height();
  for (const Word& word : words) {
    const float y = 0.5F * (word.box.y0 + word.box.y1);
    Word next = word;
    // Only the height of the word itself, not of the hull of a turned line.
    const scenes::Point a = view(scenes::Point{word.box.x0, y}),
                        b = view(scenes::Point{word.box.x1, y});
    const float half = 0.5F * word.box.height() * scale;
    next.box = {std::min(a.x, b.x), std::min(a.y, b.y) - half, std::max(a.x, b.x),
                std::max(a.y, b.y) + half};
    if (next.box.x0 < -1 || next.box.y0 < -2 || next.box.x1 > w + 1 || next.box.y1 > h + 2) {
      // Cut words: their characters are not to be read, but they are print.
      next.box = intersect(next.box, {0, 0, w, h});
      if (next.box.area() <= 0) continue;
      next.confidence = 0;
      next.centres.clear();
    }
    std::vector<scenes::Glyph> glyphs;
    if (!next.centres.empty()) glyphs = glyphs_of(word);
    for (scenes::Glyph& g : glyphs) {
      const scenes::Point p = view(scenes::Point{g.x, g.y});
      g = {g.code, p.x, p.y, g.height * scale};
    }
    for (float& x : next.centres) x = view(scenes::Point{x, y}).x;
    out.words.push_back(std::move(next));
    out.glyphs.push_back(std::move(glyphs));
  }
  return out;
}

bool any_word_is(const std::string& text, std::initializer_list<const char*> words) {
  std::string word;
  for (char c : text + " ") {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      word += static_cast<char>(c | 32);
      continue;
    }
    for (const char* w : words)
      if (word == w) return true;
    word.clear();
  }
  return false;
}

// "left" and "right" change places on a mirrored photograph.
std::string mirrored(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 4, "left") == 0) {
      out += "right";
      i += 4;
    } else if (text.compare(i, 5, "right") == 0) {
      out += "left";
      i += 5;
    } else {
      out += text[i++];
    }
  }
  return out;
}

// Charts are also asked about what no label says.
bool needs_sums(const Item& item) {
  if (item.answer == "yes" || item.answer == "no") return true;
  return any_word_is(
      item.question,
      {"difference", "sum",      "average", "ratio", "mean",   "median",   "total",    "add",
       "times",      "many",     "more",    "less",  "exceed", "exceeds",  "combined", "divide",
       "multiply",   "subtract", "minus",   "plus",  "gap",    "addition", "color",    "colour"});
}

// Boxes as far as the view shows them; none when a box is cut by more than `lost` of its area.
std::vector<Box> shown(const std::vector<Box>& boxes, const View& view, float lost, bool& whole) {
  std::vector<Box> out;
  const Box all{0, 0, static_cast<float>(view.width), static_cast<float>(view.height)};
  for (const Box& box : boxes) {
    const Box to = view(box), seen = intersect(to, all);
    if (seen.area() < (1 - lost) * to.area()) whole = false;
    if (seen.area() > 0) out.push_back(seen);
  }
  return out;
}

// Words of the page that the question names.
std::vector<Box> named_in(const std::string& question, const std::vector<Word>& words) {
  static const std::set<std::string> kCommon = {
      "what", "which",     "when",     "where", "whose", "whom", "the",  "this", "that", "given",
      "name", "mentioned", "document", "page",  "many",  "much", "does", "from", "with", "number",
      "date", "and",       "for",      "who",   "how",   "are",  "was",  "has",  "were", "have"};
  std::set<std::string> asked;
  std::string word;
  for (char c : question + " ") {
    if (c == ' ' || c == '?' || c == '"' || c == '/' || c == '-') {
      const std::string plain = letters(word);
      if (plain.size() >= 3 && !kCommon.count(plain)) asked.insert(plain);
      word.clear();
    } else {
      word += c;
    }
  }
  std::vector<Box> out;
  for (const Word& w : words)
    if (asked.count(letters(w.text))) out.push_back(w.box);
  return out;
}

Box scaled(const Box& b, float sx, float sy) {
  return {b.x0 * sx, b.y0 * sy, b.x1 * sx, b.y1 * sy};
}

std::optional<Ask> ask_of(const Entry& entry, const Item& item, const View& view, Dice* dice) {
  Ask ask;
  const bool place_only = item.kind == "ref" || item.kind == "where";
  ask.task = place_only ? Task::find : Task::answer;
  if (!place_only && item.answer.empty()) return {};
  bool whole = true;
  ask.answer_boxes = shown(item.boxes, view, entry.photo ? 0.35F : 0.15F, whole);
  if (!item.boxes.empty() && !whole) return {};
  bool ignored = true;
  ask.evidence_boxes = shown(item.evidence, view, 0.5F, ignored);
  if (place_only && ask.answer_boxes.empty()) return {};
  // A question that needs sums tells nothing about looking up.
  const bool chart = item.kind == "chart" || item.kind == "chart_auto";
  if (dice && chart && item.boxes.empty() && (entry.words.size() >= 5 || needs_sums(item)))
    return {};
  // A piece of the picture may not show what is asked about, or show it on another side.
  const float part = view.crop.width() * view.crop.height() /
                     (static_cast<float>(entry.width) * static_cast<float>(entry.height));
  const bool side = item.kind == "side" || item.kind == "side_what";
  if ((item.boxes.empty() || side) && part < 0.95F) return {};
  std::string question = item.question, answer = item.answer;
  if (view.flip) question = mirrored(question);
  if (view.flip && item.kind == "side") answer = mirrored(answer);
  if (dice && dice->chance(0.3F)) question = lower(question);
  if (dice && dice->chance(0.15F) && !question.empty() && question.back() == '?')
    question.pop_back();
  ask.question = tiny::encode_question(question);
  ask.answer = tiny::encode(answer);
  if (ask.question.empty() || (!place_only && ask.answer.empty()) ||
      ask.answer.size() > static_cast<size_t>(tiny::kMaxAnswer))
    return {};
  float area = 0;
  for (const Box& box : ask.answer_boxes) area += box.area();
  area /= static_cast<float>(view.width) * static_cast<float>(view.height);
  if (ask.answer_boxes.empty()) {
    ask.aim = Aim::none;
  } else if (entry.photo) {
    ask.aim = Aim::object;
  } else if (item.box_from == "several" || item.box_from == "paragraph" || area > kLoosePart) {
    ask.aim = Aim::loose;
  }
  ask.complexity = entry.photo                          ? (item.kind == "count" ? 1 : 0)
                   : view.width * view.height > 1200000 ? 2
                                                        : 1;
  ask.intent = "real." + item.kind;
  ask.accepted = item.answers;
  return ask;
}

// A picture on its way to a sample.
struct Making {
  const Entry& entry;
  const Wish& wish;
  const View& view;
  Dice* dice;  // null: nothing depends on chance
};

// Sizes of the frame and of the picture that tokens are cut from.
void set_sizes(const Making& m, Sample& sample) {
  const View& view = m.view;
  const int longer = std::max(view.width, view.height);
  const auto resized = [&](int longest) {
    const double scale = static_cast<double>(longest) / longer;
    const auto side = [&](int n) { return std::max(1, static_cast<int>(std::lround(n * scale))); };
    return Geometry{side(view.width), side(view.height), 0};
  };
  const Geometry whole{view.width, view.height, 0};
  // Now and then small pictures are looked at as they are.
  const float zoom = m.dice && m.dice->chance(0.25F) ? 1.0F : m.wish.zoom;
  const int frame =
      std::min(m.wish.canvas, static_cast<int>(std::lround(zoom * static_cast<float>(longer))));
  sample.geometry = frame == longer ? whole : resized(frame);
  sample.native = view.canvas > 0 ? resized(view.canvas) : whole;
  if (std::max(sample.native.width, sample.native.height) > m.wish.native)
    throw Error(ErrorCode::too_large,
                m.entry.path + ": tokens from " + std::to_string(sample.native.width) + "x" +
                    std::to_string(sample.native.height) + " pixels do not fit on a canvas of " +
                    std::to_string(m.wish.native));
}

void set_pixels(const scenes::Canvas& canvas, const Wish& wish, Sample& sample) {
  const auto painted = [&](const Geometry& size, int side) {
    at::Tensor out =
        at::empty({side, side, 3}, at::TensorOptions().dtype(at::kByte).pinned_memory(wish.pinned));
    resize_onto(canvas, size.width, size.height, side, out.data_ptr<uint8_t>());
    return out;
  };
  sample.pixels = painted(sample.geometry, wish.canvas);
  sample.picture = painted(sample.native, wish.native);
}

// Pixels of a resized picture a pixel of the view.
struct Factors {
  float x, y;
};
Factors factors(const Geometry& to, const View& view) {
  return {static_cast<float>(to.width) / static_cast<float>(view.width),
          static_cast<float>(to.height) / static_cast<float>(view.height)};
}

// Where print is, on the frame's cells.
void set_text(const Moved& print, const Contrast& contrast, const Factors& f, Sample& sample) {
  const Grid seen = sample.geometry.grid(0);
  const auto at = [&, grid = sample.canvas / 16](int r, int c) -> uint8_t& {
    return sample.text[static_cast<size_t>(r) * grid + c];
  };
  for (int r = 0; r < seen.rows; ++r)
    for (int c = 0; c < seen.cols; ++c)
      if (contrast.flat({static_cast<float>(c * 16) / f.x, static_cast<float>(r * 16) / f.y,
                         static_cast<float>(c * 16 + 16) / f.x,
                         static_cast<float>(r * 16 + 16) / f.y}))
        at(r, c) = 0;
  for (const Word& word : print.words) {
    const Box& b = word.box;
    const float inset = 0.15F * b.height();
    const CellRange range =
        touched({b.x0 * f.x, (b.y0 + inset) * f.y, b.x1 * f.x, (b.y1 - inset) * f.y}, 16, seen.rows,
                seen.cols);
    for (int r = range.r0; r < range.r1; ++r)
      for (int c = range.c0; c < range.c1; ++c) at(r, c) = 1;
  }
}

// Labels of the frame's cells and of the native picture's; all unknown on photographs.
void set_labels(const Making& m, const Moved& print, const scenes::Canvas& canvas, Sample& sample) {
  const int grid = m.wish.canvas / 16;
  const Grid seen = sample.geometry.grid(0), own = sample.native.grid(0),
             fine = sample.native.grid(-1);
  sample.cells.assign(static_cast<size_t>(grid) * 2 * grid * tiny::kCellSlots, kNotKnown);
  sample.columns = own.cols;
  sample.tokens.assign(static_cast<size_t>(own.cells()) * tiny::kGlyphSlots, kNotKnown);
  sample.halves.assign(4 * sample.tokens.size(), kNotKnown);
  sample.text.assign(static_cast<size_t>(grid) * grid, kNotKnown);
  if (m.entry.photo) return;
  const Contrast contrast(canvas);
  const Factors f = factors(sample.geometry, m.view), n = factors(sample.native, m.view);
  const std::vector<uint8_t> inked =
      LabelGrid{
          f.x, f.y, 8, 16, seen.rows, std::min(2 * grid, 2 * seen.cols), 2 * grid, tiny::kCellSlots}
          .fill(print, contrast, sample.cells);
  for (size_t i = 0; i < inked.size(); ++i)
    if (inked[i]) sample.inked.push_back(static_cast<int32_t>(i));
  LabelGrid{n.x, n.y, 16, 16, own.rows, own.cols, own.cols, tiny::kGlyphSlots}.fill(print, contrast,
                                                                                    sample.tokens);
  LabelGrid{n.x, n.y, 8, 8, fine.rows, fine.cols, 2 * own.cols, tiny::kGlyphSlots}.fill(
      print, contrast, sample.halves);
  set_text(print, contrast, f, sample);
}

// Questions and things, in native pixels.
void set_questions(const Data& data, const Making& m, const std::vector<Word>& words,
                   Sample& sample) {
  const auto& [entry, wish, view, dice] = m;
  const bool counted = dice && entry.photo && entry.listed;  // asked anew for this view
  for (const Item& item : entry.items) {
    if (counted && (item.kind == "count" || (item.kind == "where" && dice->chance(0.5F)))) continue;
    if (std::optional<Ask> ask = ask_of(entry, item, view, dice)) {
      if (!entry.photo && ask->evidence_boxes.empty())
        ask->context_boxes = named_in(item.question, words);
      if (ask->task != Task::find || entry.photo) sample.asks.push_back(std::move(*ask));
    }
  }
  if (counted)
    for (Ask& ask : count_asks(data, entry, view, *dice)) sample.asks.push_back(std::move(ask));
  if (dice && !entry.photo)
    sample.words = reading_asks(words, view.width, view.height, wish.reading, *dice);
  // A page without questions of its own is measured by what can be read on it.
  if (!dice && !entry.photo && entry.items.empty()) {
    Dice fixed(sample.ticket);
    sample.asks = reading_asks(words, view.width, view.height, wish.reading, fixed);
    std::erase_if(sample.asks, [](const Ask& ask) { return ask.task == Task::find; });
  }
  const Factors n = factors(sample.native, view);
  for (auto* asks : {&sample.asks, &sample.words})
    for (Ask& ask : *asks)
      for (auto* boxes : {&ask.answer_boxes, &ask.evidence_boxes, &ask.context_boxes})
        for (Box& box : *boxes) box = scaled(box, n.x, n.y);
  const Box all{0, 0, static_cast<float>(view.width), static_cast<float>(view.height)};
  for (const Name& name : entry.names) {
    const Box moved = view(name.box), box = intersect(moved, all);
    if (box.area() > 0.4F * moved.area())
      sample.things.push_back({scaled(box, n.x, n.y), name.which});
  }
}

Sample sample_of(const Data& data, const Pixels& pixels, uint64_t ticket, const Making& m) {
  Sample sample;
  sample.ticket = ticket;
  sample.kind = m.entry.set;
  sample.canvas = m.wish.canvas;
  sample.real = true;
  scenes::Canvas canvas = render(pixels, m.view);
  if (m.dice) age(canvas, m.entry, *m.dice);
  set_sizes(m, sample);
  set_pixels(canvas, m.wish, sample);
  const Moved print = moved(m.entry.words, m.view);
  set_labels(m, print, canvas, sample);
  set_questions(data, m, print.words, sample);
  return sample;
}

}  // namespace

Wish wish_of(const Options& o, bool photo) {
  Wish wish;
  wish.canvas = photo ? o.canvas / 2 : o.canvas;
  wish.zoom = o.frame_zoom;
  wish.tokens = o.canvas;
  wish.longest = o.native;
  wish.native = photo ? o.canvas : std::max(o.native, o.canvas);
  wish.swapped = o.swapped;
  return wish;
}

Sample training_sample(const Data& data, const Entry& entry, uint64_t ticket, const Wish& wish,
                       Dice& dice) {
  View view = drawn_view(entry, entry.photo ? wish.canvas : wish.longest, wish.tokens, dice);
  if (view.flip)
    for (const Item& item : entry.items)
      if (any_word_is(item.question, {"l", "r", "lt", "rt", "lft", "rgt"})) view.flip = false;
  const std::shared_ptr<const Pixels> stored = data.pixels(entry);
  // On receipts and charts what stands where tells what it is.
  const bool document = std::any_of(entry.items.begin(), entry.items.end(), [](const Item& item) {
    return item.kind == "doc" || item.kind == "form";
  });
  if (document && wish.swapped > 0 && dice.chance(wish.swapped)) {
    Entry other = entry;
    Pixels mixed = *stored;
    if (swap_words(other, mixed, dice))
      return sample_of(data, mixed, ticket, {other, wish, view, &dice});
  }
  return sample_of(data, *stored, ticket, {entry, wish, view, &dice});
}

Sample held_sample(const Data& data, const Entry& entry, uint64_t ticket, const Wish& wish) {
  const View view = plain_view(entry, entry.photo ? wish.canvas : wish.longest, wish.tokens);
  return sample_of(data, *data.pixels(entry), ticket, {entry, wish, view, nullptr});
}

}  // namespace arrcoc::training::real
