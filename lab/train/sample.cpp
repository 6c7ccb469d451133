#include "lab/train/sample.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "lab/train/dice.h"

namespace arrcoc::training {
namespace {

struct Word {
  std::string text;
  Box box;
  float height = 0;
};

std::vector<Box> scaled(std::vector<Box> boxes, float f) {
  for (Box& b : boxes) b = {b.x0 * f, b.y0 * f, b.x1 * f, b.y1 * f};
  return boxes;
}

// Area mean for shrinking: each target pixel averages the source pixels that it covers.
std::vector<uint8_t> shrink(const scenes::Image& image, int width, int height) {
  std::vector<uint8_t> out(static_cast<size_t>(width) * height * 3);
  for (int y = 0; y < height; ++y) {
    const int y0 = y * image.height / height,
              y1 = std::max(y0 + 1, (y + 1) * image.height / height);
    for (int x = 0; x < width; ++x) {
      const int x0 = x * image.width / width, x1 = std::max(x0 + 1, (x + 1) * image.width / width);
      int sum[3] = {0, 0, 0};
      for (int v = y0; v < y1; ++v)
        for (int u = x0; u < x1; ++u)
          for (int c = 0; c < 3; ++c)
            sum[c] += image.rgb[(static_cast<size_t>(v) * image.width + u) * 3 + c];
      const int count = (y1 - y0) * (x1 - x0);
      for (int c = 0; c < 3; ++c)
        out[(static_cast<size_t>(y) * width + x) * 3 + c] =
            static_cast<uint8_t>((sum[c] + count / 2) / count);
    }
  }
  return out;
}

// Slots of a grid filled in order of x (glyphs come sorted).
void label(const std::vector<scenes::Glyph>& glyphs, int width, int height, int rows, int cols,
           int slots, std::vector<uint8_t>& out) {
  out.assign(static_cast<size_t>(rows) * cols * slots, tiny::kPad);
  for (const scenes::Glyph& glyph : glyphs) {
    const int r = static_cast<int>(std::floor(glyph.y / height));
    const int c = static_cast<int>(std::floor(glyph.x / width));
    if (r < 0 || c < 0 || r >= rows || c >= cols) continue;
    uint8_t* slot = &out[(static_cast<size_t>(r) * cols + c) * slots];
    for (int i = 0; i < slots; ++i)
      if (slot[i] == tiny::kPad) {
        slot[i] = static_cast<uint8_t>(tiny::symbol_of(glyph.code));
        break;
      }
  }
}

void append_symbol(std::string& text, char32_t code) {
  text += tiny::decode({static_cast<uint8_t>(tiny::symbol_of(code))});
}

// Runs of characters without a gap, in reading order.
std::vector<Word> words_of(const std::vector<scenes::Glyph>& glyphs) {
  std::vector<Word> words;
  const scenes::Glyph* last = nullptr;
  for (const scenes::Glyph& glyph : glyphs) {
    if (glyph.code <= 32 || glyph.code == 160) {
      last = nullptr;
      continue;
    }
    const float h = glyph.height;
    const bool joined = last && std::abs(glyph.y - last->y) < 0.6F * h && glyph.x > last->x &&
                        glyph.x - last->x < 0.95F * h && std::abs(h - last->height) < 0.5F;
    if (!joined) words.push_back({"", {glyph.x - 0.3F * h, glyph.y - 0.5F * h, 0, 0}, h});
    Word& word = words.back();
    append_symbol(word.text, glyph.code);
    word.box.x1 = glyph.x + 0.3F * h;
    word.box.y0 = std::min(word.box.y0, glyph.y - 0.5F * h);
    word.box.y1 = std::max(word.box.y1, glyph.y + 0.5F * h);
    last = &glyph;
  }
  return words;
}

const Word* right_of(const std::vector<Word>& words, size_t i) {
  const Word& word = words[i];
  const Word* best = nullptr;
  for (const Word& other : words) {
    const float overlap = std::min(word.box.y1, other.box.y1) - std::max(word.box.y0, other.box.y0);
    if (&other == &word || other.box.x0 <= word.box.x1 - 2 || overlap < 0.5F * word.height)
      continue;
    if (!best || other.box.x0 < best->box.x0) best = &other;
  }
  return best;
}

const Word* below(const std::vector<Word>& words, size_t i) {
  const Word& word = words[i];
  const Word* best = nullptr;
  for (const Word& other : words) {
    const float overlap = std::min(word.box.x1, other.box.x1) - std::max(word.box.x0, other.box.x0);
    if (&other == &word || other.box.y0 < word.box.y1 - 0.3F * word.height || overlap <= 0)
      continue;
    if (other.box.y0 - word.box.y1 > 3 * word.height) continue;
    if (!best || other.box.y0 < best->box.y0) best = &other;
  }
  return best;
}

Ask word_ask(Task task, const std::string& question, const Word& answer, const Word& evidence) {
  Ask ask;
  ask.task = task;
  ask.question = tiny::encode_question(question);
  ask.answer = tiny::encode(answer.text);
  ask.answer_boxes = {answer.box};
  if (task == Task::after) ask.evidence_boxes = {evidence.box};
  ask.complexity = 0;
  ask.intent = task == Task::after ? "word.after" : "word.find";
  return ask;
}

// Questions about words alone: matching what is asked with what is written is half of looking.
void ask_words(const std::vector<Word>& words, Dice& dice, std::vector<Ask>& out) {
  static const char* const kFind[] = {"find %",          "where is \"%\"?",      "%",
                                      "find the word %", "where does it say %?", "\"%\""};
  static const char* const kAfter[] = {"what comes after %?",        "which word follows \"%\"?",
                                       "what is to the right of %?", "%?",
                                       "what is next to \"%\"?",     "what does it say after %?"};
  static const char* const kBelow[] = {"what is below %?", "which word is under \"%\"?",
                                       "what stands below %?"};
  std::map<std::string, int> seen;
  for (const Word& word : words) ++seen[word.text];
  const auto fill = [](std::string phrase, const std::string& word) {
    return phrase.replace(phrase.find('%'), 1, word);
  };
  for (int tries = 0; tries < 24 && out.size() < 8 && !words.empty(); ++tries) {
    const size_t i = static_cast<size_t>(dice.below(static_cast<int>(words.size())));
    const Word& word = words[i];
    if (seen[word.text] != 1 || word.text.size() < 2 || word.text.size() > 40) continue;
    const float choice = dice.uniform();
    if (choice < 0.4F) {
      out.push_back(word_ask(Task::find, fill(kFind[dice.below(6)], word.text), word, word));
      continue;
    }
    const bool down = choice > 0.8F;
    const Word* other = down ? below(words, i) : right_of(words, i);
    if (!other || other->text.size() > 40) continue;
    const char* phrase = down ? kBelow[dice.below(3)] : kAfter[dice.below(6)];
    out.push_back(word_ask(Task::after, fill(phrase, word.text), *other, word));
  }
}

// Characters of cells and tokens, and where text is.
void set_labels(std::vector<scenes::Glyph> glyphs, Sample& sample) {
  // Characters smaller than the eye of the network are not asked for.
  std::erase_if(
      glyphs, [](const scenes::Glyph& g) { return g.code <= 32 || g.code == 160 || g.height < 6; });
  std::stable_sort(glyphs.begin(), glyphs.end(),
                   [](const scenes::Glyph& a, const scenes::Glyph& b) { return a.x < b.x; });
  const int grid = sample.canvas / 16;
  label(glyphs, 8, 16, grid, 2 * grid, tiny::kCellSlots, sample.cells);
  label(glyphs, 16, 16, grid, grid, tiny::kGlyphSlots, sample.tokens);
  label(glyphs, 8, 8, 2 * grid, 2 * grid, tiny::kGlyphSlots, sample.halves);
  for (int i = 0; i < grid * 2 * grid; ++i)
    if (sample.cells[static_cast<size_t>(i) * tiny::kCellSlots] != tiny::kPad)
      sample.inked.push_back(i);
  sample.text.assign(static_cast<size_t>(grid) * grid, 0);
  for (const scenes::Glyph& g : glyphs) {
    const float half = g.height * 0.35F;
    const CellRange range =
        touched({g.x - half, g.y - half, g.x + half, g.y + half}, 16, grid, grid);
    for (int r = range.r0; r < range.r1; ++r)
      for (int c = range.c0; c < range.c1; ++c) sample.text[static_cast<size_t>(r) * grid + c] = 1;
  }
}

}  // namespace

void paint(const std::vector<uint8_t>& rgb, int width, int height, int canvas, uint8_t* out) {
  const size_t row = static_cast<size_t>(canvas) * 3;
  for (int y = 0; y < height; ++y) {
    uint8_t* to = out + y * row;
    std::memcpy(to, rgb.data() + static_cast<size_t>(y) * width * 3,
                static_cast<size_t>(width) * 3);
    const uint8_t* last = to + static_cast<size_t>(width - 1) * 3;
    for (int x = width; x < canvas; ++x) std::memcpy(to + static_cast<size_t>(x) * 3, last, 3);
  }
  for (int y = height; y < canvas; ++y) std::memcpy(out + y * row, out + (height - 1) * row, row);
}

CellRange touched(const Box& box, int side, int rows, int cols) {
  const auto low = [&](float v, int count) {
    return std::clamp(static_cast<int>(std::floor(v / side)), 0, count);
  };
  const auto high = [&](float v, int count) {
    return std::clamp(static_cast<int>(std::ceil(v / side)), 0, count);
  };
  return {low(box.y0, rows), high(box.y1, rows), low(box.x0, cols), high(box.x1, cols)};
}

Sample make_sample(const scenes::Scene& scene, uint64_t ticket, int canvas, bool pinned) {
  Sample sample;
  sample.ticket = ticket;
  sample.kind = scene.kind;
  sample.canvas = canvas;
  Dice dice(scene.seed, ticket, 77);
  const int which = dice.below(static_cast<int>(scene.images.size()));
  const scenes::Image& image = scene.images[static_cast<size_t>(which)];
  const float factor = std::min(
      1.0F, static_cast<float>(canvas) / static_cast<float>(std::max(image.width, image.height)));
  const int width = std::clamp(static_cast<int>(std::lround(image.width * factor)), 1, canvas);
  const int height = std::clamp(static_cast<int>(std::lround(image.height * factor)), 1, canvas);
  sample.geometry = sample.native = {width, height, 0};
  sample.columns = canvas / 16;
  sample.pixels =
      at::empty({canvas, canvas, 3}, at::TensorOptions().dtype(at::kByte).pinned_memory(pinned));
  paint(factor < 1.0F ? shrink(image, width, height) : image.rgb, width, height, canvas,
        sample.pixels.data_ptr<uint8_t>());
  std::vector<scenes::Glyph> glyphs = image.glyphs;
  for (scenes::Glyph& glyph : glyphs) {
    glyph.x *= factor;
    glyph.y *= factor;
    glyph.height *= factor;
  }
  ask_words(words_of(glyphs), dice, sample.words);
  set_labels(std::move(glyphs), sample);
  for (const scenes::Question& question : scene.questions) {
    if (question.picture != which || question.answer.empty()) continue;
    Ask ask;
    ask.question = tiny::encode_question(question.text);
    ask.answer = tiny::encode(question.answer);
    if (ask.answer.size() > static_cast<size_t>(tiny::kMaxAnswer) || ask.question.empty()) continue;
    ask.answer_boxes = scaled(question.answer_boxes, factor);
    ask.evidence_boxes = scaled(question.evidence_boxes, factor);
    ask.complexity = static_cast<int>(question.complexity);
    ask.intent = question.intent;
    sample.asks.push_back(std::move(ask));
  }
  return sample;
}

int thing_at(const Sample& sample, float x, float y, float area) {
  const Sample::Thing* best = nullptr;
  for (const Sample::Thing& thing : sample.things) {
    const Box& b = thing.box;
    if (x < b.x0 || x >= b.x1 || y < b.y0 || y >= b.y1 || area > 1.5F * b.area()) continue;
    if (!best || b.area() < best->box.area()) best = &thing;
  }
  return best ? best->name : -1;
}

int tier_of(const Ask& ask, const Geometry& geometry) {
  const Grid grid = geometry.grid(0);
  int cells = 0;
  for (const auto* boxes : {&ask.answer_boxes, &ask.evidence_boxes})
    for (const Box& box : *boxes) {
      const CellRange range = touched(box, 16, grid.rows, grid.cols);
      cells += std::max(0, range.r1 - range.r0) * std::max(0, range.c1 - range.c0);
    }
  // A path of splits down to the boxes costs about 40 tokens; cells share their parents.
  const int need = 40 + cells + cells / 3;
  int tier = 0;
  while (tier + 1 < tiny::kTiers && tiny::kTierTokens[tier] < need) ++tier;
  if (ask.complexity == 0) return std::min(tier, 1);
  return ask.complexity == 1 ? std::clamp(tier, 1, 2) : std::max(tier, 2);
}

}  // namespace arrcoc::training
