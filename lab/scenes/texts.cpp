// Pages of texts and tables that people wrote, with the questions that people asked about them.
#include "lab/scenes/texts.h"

#include <algorithm>
#include <set>

#include "arrcoc/error.h"
#include "lab/scenes/writing.h"

namespace arrcoc::scenes {
namespace {

const Texts& given(const Context& c) {
  if (c.options.texts == nullptr ||
      (c.options.texts->texts.empty() && c.options.texts->tables.empty()))
    throw Error(ErrorCode::bad_argument, "scenes of the kind texts need a file of texts");
  return *c.options.texts;
}

// Words of four letters or more, which join a question to what must be read beside the answer.
std::set<std::string> long_words(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : lower(text) + " ")
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0) {
      word += c;
    } else {
      if (word.size() >= 4) words.insert(word);
      word.clear();
    }
  return words;
}

bool meet(const std::set<std::string>& question, const std::string& text) {
  const std::set<std::string> words = long_words(text);
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return question.contains(word); });
}

bool ends_sentence(const std::string& word) {
  return word.size() > 2 && (word.back() == '.' || word.back() == '?' || word.back() == '!');
}

// runs: the words of the text that were written, in order.
void ask_about(Page& page, const WrittenText& text, const std::vector<Run>& runs) {
  std::vector<size_t> starts;
  for (size_t at = 0; at < text.text.size() && starts.size() < runs.size(); ++at)
    if (text.text[at] != ' ' && (at == 0 || text.text[at - 1] == ' ')) starts.push_back(at);
  for (const WrittenText::Asked& asked : text.asked) {
    const size_t end = asked.at + asked.answer.size();
    size_t first = runs.size(), last = 0;
    for (size_t i = 0; i < runs.size(); ++i)
      if (starts[i] < end && starts[i] + runs[i].text.size() > asked.at) {
        first = std::min(first, i);
        last = i;
      }
    if (first == runs.size() || starts[last] + runs[last].text.size() < end) continue;
    const std::set<std::string> words = long_words(asked.question);
    std::vector<Box> evidence;
    size_t from = first, to = last;
    while (from > 0 && !ends_sentence(runs[from - 1].text)) --from;
    while (to + 1 < runs.size() && !ends_sentence(runs[to].text)) ++to;
    for (size_t i = from; i <= to; ++i)
      if ((i < first || i > last) && meet(words, runs[i].text)) evidence.push_back(runs[i].box);
    const auto begin = runs.begin();
    page.ask(
        "texts.passage", asked.answer,
        {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last) + 1},
        1, medium, {{"question", asked.question}}, std::move(evidence));
  }
}

// Passages under their titles in one or two columns, from s.y down to the foot.
void passages(Writing& s, int columns, float foot) {
  const Texts& texts = given(s.c);
  if (texts.texts.empty()) return;
  const float gutter = s.size * 2, top = s.y,
              width = (s.room() - gutter * static_cast<float>(columns - 1)) /
                      static_cast<float>(columns);
  const float indent = s.r.chance(0.5F) ? s.size * 1.6F : 0;
  const bool titled = s.r.chance(0.7F);
  for (int k = 0; k < columns; ++k) {
    const float left = s.margin + static_cast<float>(k) * (width + gutter);
    Prose prose{s.page, s.body, left, left + width, s.step, left, top, foot};
    while (foot - prose.y > s.step * 4) {
      const WrittenText& text = s.r.pick(texts.texts);
      if (titled) {
        s.page.text(left, prose.y, text.title, s.page.narrowed(text.title, s.strong, width));
        prose.y += s.step * 1.2F;
      }
      prose.x = left + indent;
      ask_about(s.page, text, prose.write_some(text.text));
      prose.newline();
      if (s.r.chance(0.5F)) prose.y += s.step * 0.6F;
    }
    s.y = std::max(s.y, prose.y);
  }
}

class TablePage : Writing {
 public:
  explicit TablePage(Context& context)
      : Writing(context, "written table", context.random.chance(0.5F), 0.68F, 0.8F),
        table_(r.pick(given(c).tables)) {
    choose_ink(65);
    family_ = &c.family(r.pick({"typewriter", "serif", "sans", "sans", "narrow"}));
    margin = c.px(r.real(26, 60));
    y = c.px(r.real(36, 80));
    fit(c.px(r.real(12, 18)));
  }

  Sheet draw() {
    const float foot = h - c.px(r.real(34, 60));
    if (r.chance(0.3F)) {
      passages(*this, 1, y + (foot - y) * r.real(0.2F, 0.45F));
      y += size;
    }
    if (r.chance(0.8F)) {
      headline(table_.title, strong, r.chance(0.5F));
      y += size * 1.1F;
    }
    rows(foot);
    y += size * 2;
    if (r.chance(0.5F) && foot - y > step * 6) passages(*this, 1, foot);
    return std::move(sheet);
  }

 private:
  // The largest type with which all columns fit, as wide as their longest cell or wrapped at 0.34
  // of the room; of the smallest type as many columns as fit.
  void fit(float largest) {
    for (size = largest; true; size *= 0.93F) {
      body = style(*family_, size, ink);
      strong = bold(*family_, size, ink);
      step = size * 1.3F;
      widths_.clear();
      float sum = 0;
      for (size_t k = 0; k < table_.heads.size(); ++k) {
        float width = page.measure(table_.heads[k], strong);
        for (const Row& row : table_.rows) width = std::max(width, page.measure(row[k], body));
        widths_.push_back(std::min(width, room() * 0.34F) + size * 0.9F);
        sum += widths_.back();
      }
      const bool smallest = size < c.px(9.5F);
      while (smallest && sum > room()) {
        sum -= widths_.back();
        widths_.pop_back();
      }
      if (sum > room()) continue;
      const float spare = (room() - sum) / static_cast<float>(widths_.size()) * r.unit();
      for (float& width : widths_) width += spare;
      return;
    }
  }

  // One row of cells; the runs of each.
  std::vector<std::vector<Run>> cells(const Row& row, const Style& style) {
    std::vector<std::vector<Run>> all;
    float x = margin, height = 1;
    for (size_t k = 0; k < widths_.size(); ++k) {
      all.push_back(page.paragraph(x + size * 0.3F, y + size * 1.15F, widths_[k] - size * 0.6F,
                                   size * 1.2F, row[k], style));
      height = std::max(height, static_cast<float>(all.back().size()));
      x += widths_[k];
    }
    y += size * (1.2F * height + pad_);
    return all;
  }

  void rows(float foot) {
    const bool ruled = r.chance(0.6F), upright = ruled && r.chance(0.6F);
    pad_ = r.real(0.35F, 0.9F);
    const float top = y;
    float right = margin;
    for (const float width : widths_) right += width;
    auto rule = [&] {
      if (ruled) page.hline(margin, right, y, 1, ink);
    };
    rule();
    const auto heads = cells(table_.heads, strong);
    page.hline(margin, right, y, 1, ink);
    size_t first = 0;
    if (table_.rows.size() > 12 && r.chance(0.5F)) {
      const size_t row = r.pick(table_.asked).row;
      first = row - std::min(row, static_cast<size_t>(r.between(0, 8)));
    }
    std::vector<std::vector<std::vector<Run>>> shown;
    for (size_t i = first; i < table_.rows.size() && y + size * 4.2F < foot; ++i) {
      shown.push_back(cells(table_.rows[i], body));
      rule();
    }
    if (upright) {
      float x = margin;
      for (const float width : widths_) page.vline(x, top, y, 1, ink), x += width;
      page.vline(right, top, y, 1, ink);
    }
    for (const WrittenTable::Asked& asked : table_.asked)
      if (asked.row >= first && asked.row - first < shown.size() && asked.column < widths_.size())
        ask(asked, heads, shown[asked.row - first]);
  }

  void ask(const WrittenTable::Asked& asked, const std::vector<std::vector<Run>>& heads,
           const std::vector<std::vector<Run>>& row) {
    const std::set<std::string> words = long_words(asked.question);
    std::vector<Box> evidence;
    const auto add = [&](const std::vector<Run>& cell) {  // a long cell may pass the page's foot
      if (!cell.empty() && hull(cell).y1 <= h) evidence.push_back(hull(cell));
    };
    add(heads[asked.column]);
    for (size_t k = 0; k < row.size(); ++k)
      if (k != asked.column && meet(words, table_.rows[asked.row][k])) add(row[k]);
    if (!row[asked.column].empty())
      page.ask("texts.cell", table_.rows[asked.row][asked.column], row[asked.column], 1, medium,
               {{"question", asked.question}}, std::move(evidence));
  }

  const WrittenTable& table_;
  const Family* family_ = nullptr;
  std::vector<float> widths_;
  float pad_ = 0.5F;
};

}  // namespace

Sheet passage_page(Context& c) {
  if (given(c).texts.empty()) return TablePage(c).draw();
  Writing s(c, "passages", c.random.chance(0.8F), 0.7F, 0.8F);
  s.choose_ink(65);
  s.choose_type(c.family(s.r.pick({"typewriter", "serif", "serif", "sans"})), 10.5F, 17);
  s.step = s.size * s.r.real(1.2F, 1.55F);
  s.margin = c.px(s.r.real(30, 90));
  s.y = c.px(s.r.real(36, 90));
  passages(s, s.size < c.px(13) && s.r.chance(0.4F) ? 2 : 1, s.h - c.px(s.r.real(40, 80)));
  if (s.r.chance(0.5F)) s.page_number(s.h - c.px(20), number(s.r, 1, 480));
  return std::move(s.sheet);
}

Sheet written_table(Context& c) {
  return given(c).tables.empty() ? passage_page(c) : TablePage(c).draw();
}

}  // namespace arrcoc::scenes
