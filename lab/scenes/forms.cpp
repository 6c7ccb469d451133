// Forms: key and value pairs in one or two columns, boxed, dotted or ruled, filled in by
// typewriter, by hand or in print; check boxes; letterhead and small print.
#include <algorithm>
#include <cmath>

#include "lab/scenes/writing.h"

namespace arrcoc::scenes {
namespace {

enum class Look { boxes, dots, rule, plain, below };  // below: the value under its key

class Form : Writing {
 public:
  explicit Form(Context& context)
      : Writing(context, "form", context.random.chance(0.4F), 0.6F, 0.8F) {
    choose_ink(70);
    typed_ = r.chance(0.5F);
    by_hand_ = !typed_ && r.chance(0.25F);
    const Family& print = c.family(r.chance(0.6F) ? "sans" : "serif");
    const Family& filled = typed_ ? c.family("typewriter") : by_hand_ ? c.family("hand") : print;
    size = c.px(r.chance(0.25F) ? r.real(18, 25) : r.real(12, 19));
    body = style(print, size, ink);
    strong = bold(print, size, ink);
    label_ = r.chance(0.35F) ? strong : body;
    const bool heavy = !typed_ && !by_hand_ && label_.font == filled.regular && r.chance(0.3F);
    const Color pen = by_hand_ && r.chance(0.5F) ? Color{40, 50, 140} : ink;
    value_ = style(filled, size * (by_hand_ ? 1.35F : r.real(0.95F, 1.15F)), pen,
                   heavy ? Weight::bold : Weight::regular);
    margin = c.px(r.real(30, 80));
    y = c.px(r.real(36, 70));
  }

  Sheet draw() {
    std::vector<Field> list = invent();
    const std::vector<Field> absent(list.end() - 3, list.end());
    list.resize(list.size() - 3);
    head();
    columns(list);
    if (y + size * 3 < foot_ && r.chance(0.5F)) check_boxes();
    if (y + size * 2 < foot_) {
      const Style small =
          coloured(sized(body, std::max(c.px(9.5F), size * 0.75F)), mix(ink, kWhite, 0.2F));
      page.paragraph(margin, y + size * 1.5F, room(), small.size * 1.35F,
                     paragraph_text(r, r.between(1, 5)), small, Align::left,
                     static_cast<int>((foot_ - y - size) / (small.size * 1.35F)));
    }
    if (r.chance(0.4F)) {
      const std::string number = scenes::number(r, 1, 98);
      page.ask("doc.page",
               page.right(r.chance(0.5F) ? w / 2 : w - margin, h - c.px(24), number,
                          sized(body, size * 0.9F)),
               0.4F);
    }
    for (const Field& f : absent) page.ask_none("form.field", 0.4F, simple, {{"key", f.key}});
    return std::move(sheet);
  }

 private:
  std::vector<Field> invent() {
    const Land land = r.chance(0.6F) ? Land::us : any_land(r);
    const std::string name = person(r), firm = company(r, land);
    return shuffled_fields(r, r.table<"form.field">(), land,
                           {{"name", [&] { return name; }},
                            {"firm", [&] { return firm; }},
                            {"email", [&] { return email(r, name, firm); }},
                            {"subject", [&] { return cap(topic(r)); }}});
  }

  // Organisation and title.
  void head() {
    if (r.chance(0.6F)) {
      const Style firm = sized(strong, size * r.real(1.0F, 1.4F));
      const bool middle = r.chance(0.5F);
      const std::string name = r.chance(0.5F) ? upper(company(r, Land::us)) : company(r, Land::us);
      page.ask("letter.company", headline(name, firm, middle), 0.7F);
      y += size * 2;
    }
    const float top = y;
    y += size;
    const std::string title = upper(r.pick<"form.title">());
    const Run run = headline(title, sized(strong, size * r.real(1.3F, 1.8F)));
    page.ask("form.title", run, 1);
    if (r.chance(0.3F)) page.hline(run.box.x0, run.box.x1, run.box.y1 + 3, 1, ink);
    y = top + size * 3.2F;
  }

  void columns(const std::vector<Field>& list) {
    const int columns = r.chance(0.5F) ? 2 : 1;
    const float gutter = c.px(r.real(16, 40));
    column_ = (room() - gutter * (columns - 1)) / columns;
    look_ = static_cast<Look>(r.between(0, 4));
    pitch_ = std::max(size, value_.size) * (look_ == Look::boxes   ? r.real(2.3F, 3.0F)
                                            : look_ == Look::below ? 3.1F
                                            : by_hand_             ? r.real(2.1F, 2.6F)
                                                                   : r.real(1.8F, 2.4F));
    const std::string colon = r.pick<"form.colon">();
    float widest = 0;
    for (const Field& f : list) widest = std::max(widest, page.measure(f.key + colon, label_));
    const bool tabbed = r.chance(0.6F) && widest < column_ * 0.5F;
    foot_ = h - c.px(r.real(60, 140));
    size_t next = 0;
    for (; y + pitch_ < foot_ && next < list.size(); y += pitch_)
      for (int col = 0; col < columns && next < list.size();) {
        const Field& f = list[next++];
        const float left = margin + col * (column_ + gutter);
        const float start = look_ == Look::below ? left + size * 0.6F
                            : tabbed             ? left + widest + size
                                     : left + page.measure(f.key + colon, label_) + size * 0.7F;
        if (start + page.measure(f.value, value_) > left + column_) continue;  // left out
        entry(f, colon, left, start);
        ++col;
      }
  }

  void entry(const Field& f, const std::string& colon, float left, float start) {
    const bool boxed = look_ == Look::boxes;
    const float base = look_ == Look::below ? y + size * 1.42F + value_.size * 1.1F : y + size,
                right = left + column_, top = y - size * 0.35F;
    const Run key = page.text(left + (boxed ? 4 : 0), boxed ? y + size * 0.9F : y + size,
                              f.key + colon, label_);
    if (boxed) start = std::max(start, key.end + size * 0.4F);
    const float drift = typed_ || by_hand_ ? c.px(r.real(-1.8F, 1.5F)) : 0.0F;
    if (look_ == Look::dots) page.dashed(start - 2, right, base + 3, 1.5F, 3, 1, ink);
    if (look_ == Look::rule) page.hline(start - 2, right, base + 4, 1, ink);
    if (boxed || look_ == Look::below) page.frame(left - 2, top, right + 2, top + pitch_, 1, ink);
    const Run shown = page.text(start, base + drift, f.value, value_);
    page.ask("form.field", f.quantity ? figure(f.value) : f.value, {shown}, 1.5F, simple,
             {{"key", f.key}}, {key.box});
  }

  void check_boxes() {
    const Row& choice = r.pick(r.table<"form.choice">());
    const Run key = page.text(margin, y + size, choice[0] + ":", label_);
    std::vector<std::string> options(choice.begin() + 1, choice.end());
    r.shuffle(options);
    const size_t marked = r.next() % 3;
    float left = key.end + size;
    for (size_t i = 0; i < 3; ++i) {
      const float top = y + size * 0.3F, right = left + size * 0.8F, base = y + size;
      page.frame(left, y + size * 0.2F, left + size * 0.85F, y + size * 1.05F, 1, ink);
      if (i == marked) {
        page.line({left + 2, top}, {right, base}, 1.6F, value_.color);
        page.line({right, top}, {left + 2, base}, 1.6F, value_.color);
      }
      const Run option = page.text(left + size * 1.2F, base, options[i], label_);
      if (i == marked)
        page.ask("form.checked", option, 0.8F, medium, {{"key", choice[0]}}, {key.box});
      left = option.end + size * 1.4F;
    }
    y += size * 2.5F;
  }

  bool typed_ = false, by_hand_ = false;
  Style label_, value_;
  Look look_ = Look::plain;
  float column_ = 0, pitch_ = 0, foot_ = 0;
};

}  // namespace

Sheet form(Context& c) { return Form(c).draw(); }

}  // namespace arrcoc::scenes
