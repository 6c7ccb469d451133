// Formulas among text: a small typesetter for rows, fractions, powers, roots, sums and integrals.
#include <algorithm>
#include <cmath>
#include <memory>

#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

struct Math;
using Ptr = std::shared_ptr<Math>;

// A piece of a formula: how it is drawn and how it is written in LaTeX.
struct Math {
  enum class Kind { symbol, row, fraction, script, root, big } kind = Kind::symbol;
  std::string shown;  // symbol: UTF-8
  std::string latex;
  bool italic = false;
  std::vector<Ptr>
      parts;  // fraction: above, below; script: base, up, down (may be null); big: sign, low, high
};

Ptr symbol(const std::string& shown, const std::string& latex, bool italic) {
  auto m = std::make_shared<Math>();
  m->shown = shown;
  m->latex = latex;
  m->italic = italic;
  return m;
}
Ptr make_node(Math::Kind kind, std::vector<Ptr> parts) {
  auto m = std::make_shared<Math>();
  m->kind = kind;
  m->parts = std::move(parts);
  switch (kind) {
    case Math::Kind::row:
      for (const Ptr& p : m->parts) {
        // A command must not run into the letter after it.
        const bool command =
            !m->latex.empty() && m->latex.rfind('\\') != std::string::npos &&
            std::isalpha(static_cast<unsigned char>(m->latex.back())) &&
            m->latex.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
                                       m->latex.rfind('\\') + 1) == std::string::npos;
        if (command && !p->latex.empty() && std::isalnum(static_cast<unsigned char>(p->latex[0])))
          m->latex += " ";
        m->latex += p->latex;
      }
      break;
    case Math::Kind::fraction:
      m->latex = "\\frac{" + m->parts[0]->latex + "}{" + m->parts[1]->latex + "}";
      break;
    case Math::Kind::script: {
      auto arm = [](const Ptr& p) {
        return p->latex.size() == 1 ? p->latex : "{" + p->latex + "}";
      };
      m->latex = m->parts[0]->latex;
      if (m->parts[2]) m->latex += "_" + arm(m->parts[2]);
      if (m->parts[1]) m->latex += "^" + arm(m->parts[1]);
      break;
    }
    case Math::Kind::root:
      m->latex = "\\sqrt{" + m->parts[0]->latex + "}";
      break;
    case Math::Kind::big:
      m->latex = m->parts[0]->latex + "_{" + m->parts[1]->latex + "}^{" + m->parts[2]->latex + "}";
      break;
    case Math::Kind::symbol:
      break;
  }
  return m;
}
Ptr frac(Ptr a, Ptr b) { return make_node(Math::Kind::fraction, {std::move(a), std::move(b)}); }
Ptr power(Ptr a, Ptr b) {
  return make_node(Math::Kind::script, {std::move(a), std::move(b), nullptr});
}
Ptr index(Ptr a, Ptr b) {
  return make_node(Math::Kind::script, {std::move(a), nullptr, std::move(b)});
}
Ptr root(Ptr a) { return make_node(Math::Kind::root, {std::move(a)}); }
Ptr row(std::vector<Ptr> parts) { return make_node(Math::Kind::row, std::move(parts)); }
Ptr big(Ptr sign, Ptr low, Ptr high) {
  return make_node(Math::Kind::big, {std::move(sign), std::move(low), std::move(high)});
}
Ptr num(int v) { return symbol(std::to_string(v), std::to_string(v), false); }
Ptr var(const std::string& name) { return symbol(name, name, true); }
Ptr op(const std::string& sign) { return symbol(" " + sign + " ", sign, false); }

struct Greek {
  const char* shown;
  const char* latex;
};
const std::vector<Greek> kGreek = {
    {"α", "\\alpha"}, {"β", "\\beta"}, {"γ", "\\gamma"}, {"δ", "\\delta"}, {"λ", "\\lambda"},
    {"μ", "\\mu"},    {"π", "\\pi"},   {"σ", "\\sigma"}, {"θ", "\\theta"}, {"ω", "\\omega"},
    {"ρ", "\\rho"},   {"φ", "\\phi"},  {"Δ", "\\Delta"}, {"Ω", "\\Omega"}};

Ptr greek(Random& r) {
  const Greek& g = r.pick(kGreek);
  return symbol(g.shown, g.latex, false);
}

Ptr atom(Random& r) {
  switch (r.between(0, 4)) {
    case 0:
      return num(r.between(2, 99));
    case 1:
      return greek(r);
    default:
      return var(r.pick({"x", "y", "z", "a", "b", "c", "n", "m", "k", "t",
                         "u", "v", "p", "q", "E", "F", "R", "T", "V", "N"}));
  }
}

Ptr term(Random& r, int depth) {
  switch (depth <= 0 ? r.between(0, 2) : r.between(0, 7)) {
    case 0:
      return atom(r);
    case 1:
      return power(var(r.pick({"x", "y", "z", "a", "r"})), num(r.between(2, 9)));
    case 2:
      return index(var(r.pick({"x", "a", "v", "k", "m"})),
                   r.chance(0.5F) ? num(r.between(0, 9)) : var(r.pick({"i", "n", "j", "max"})));
    case 3:
      return frac(term(r, depth - 1), term(r, depth - 1));
    case 4:
      return root(term(r, depth - 1));
    case 5: {
      std::vector<Ptr> parts = {num(r.between(2, 12)), atom(r)};
      return row(parts);
    }
    case 6:
      return row({symbol("(", "(", false), term(r, 0), op(r.pick({"+", "-"})), term(r, 0),
                  symbol(")", ")", false)});
    default:
      return row({symbol(r.pick({"sin", "cos", "ln", "exp"}), "", false), symbol("(", "(", false),
                  atom(r), symbol(")", ")", false)});
  }
}

// The functions' LaTeX is their shown name with a backslash.
void name_functions(const Ptr& m) {
  if (!m) return;
  for (const char* f : {"sin", "cos", "ln", "exp"})
    if (m->kind == Math::Kind::symbol && m->shown == f && m->latex.empty())
      m->latex = std::string("\\") + f;
  for (const Ptr& p : m->parts) name_functions(p);
}
Ptr renamed(Ptr m) {
  if (!m) return m;
  name_functions(m);
  if (m->kind == Math::Kind::symbol) return m;
  std::vector<Ptr> parts;
  for (const Ptr& p : m->parts) parts.push_back(renamed(p));
  return make_node(m->kind, parts);
}

Ptr equation(Random& r, Ptr& left) {
  left =
      r.chance(0.7F)
          ? (r.chance(0.5F) ? var(r.pick({"y", "E", "F", "S", "P", "Q", "W", "A", "V", "L", "D"}))
                            : index(var(r.pick({"v", "E", "F", "k", "t", "p"})),
                                    var(r.pick({"n", "i", "max", "s"}))))
          : row({var(r.pick({"f", "g", "h"})), symbol("(", "(", false), var(r.pick({"x", "t"})),
                 symbol(")", ")", false)});
  std::vector<Ptr> right;
  if (r.chance(0.2F)) {
    const bool sum = r.chance(0.6F);
    right.push_back(big(
        sum ? symbol("∑", "\\sum", false) : symbol("∫", "\\int", false),
        sum ? row({var("i"), symbol("=", "=", false), num(r.between(0, 1))}) : num(r.between(0, 3)),
        r.chance(0.5F) ? var("n") : num(r.between(4, 20))));
    right.push_back(term(r, 0));
  } else {
    right.push_back(term(r, 2));
    for (int i = r.between(0, 2); i > 0; --i) {
      right.push_back(op(r.pick({"+", "-", "+"})));
      right.push_back(term(r, 1));
    }
  }
  std::vector<Ptr> all = {left, op("=")};
  all.insert(all.end(), right.begin(), right.end());
  left = renamed(left);
  return renamed(row(all));
}

struct Extent {
  float width = 0, up = 0, down = 0;
};

class Setter {
 public:
  Setter(Page& page, const Family& family, Color ink) : page_(page), family_(family), ink_(ink) {}

  Style face(const Math& m, float size) const {
    return style(family_, size, ink_, m.italic ? Weight::italic : Weight::regular);
  }

  Extent measure(const Math& m, float size) const {
    switch (m.kind) {
      case Math::Kind::symbol:
        return {page_.measure(m.shown, face(m, size)) + size * 0.03F, size * 0.72F, size * 0.2F};
      case Math::Kind::row: {
        Extent e;
        for (const Ptr& p : m.parts) {
          const Extent part = measure(*p, size);
          e.width += part.width;
          e.up = std::max(e.up, part.up);
          e.down = std::max(e.down, part.down);
        }
        return e;
      }
      case Math::Kind::fraction: {
        const Extent a = measure(*m.parts[0], size * 0.9F), b = measure(*m.parts[1], size * 0.9F);
        return {std::max(a.width, b.width) + size * 0.3F, a.up + a.down + size * 0.45F,
                b.up + b.down - size * 0.1F};
      }
      case Math::Kind::script: {
        Extent e = measure(*m.parts[0], size);
        float wide = 0;
        if (m.parts[1]) {
          const Extent up = measure(*m.parts[1], size * 0.68F);
          wide = std::max(wide, up.width);
          e.up = std::max(e.up, up.up + size * 0.42F);
        }
        if (m.parts[2]) {
          const Extent low = measure(*m.parts[2], size * 0.68F);
          wide = std::max(wide, low.width);
          e.down = std::max(e.down, low.down + size * 0.22F);
        }
        e.width += wide + size * 0.05F;
        return e;
      }
      case Math::Kind::root: {
        Extent e = measure(*m.parts[0], size);
        return {e.width + size * 0.75F, e.up + size * 0.2F, e.down};
      }
      case Math::Kind::big: {
        const Extent low = measure(*m.parts[1], size * 0.62F),
                     high = measure(*m.parts[2], size * 0.62F),
                     sign = measure(*m.parts[0], size * 1.5F);
        return {std::max({low.width, high.width, sign.width}) + size * 0.2F,
                size * 1.15F + high.up + high.down, size * 0.5F + low.up + low.down};
      }
    }
    return {};
  }

  void draw(const Math& m, float x, float y, float size) {
    switch (m.kind) {
      case Math::Kind::symbol:
        add(page_.text(x, y, m.shown, face(m, size)).box);
        break;
      case Math::Kind::row:
        for (const Ptr& p : m.parts) {
          draw(*p, x, y, size);
          x += measure(*p, size).width;
        }
        break;
      case Math::Kind::fraction: {
        const Extent whole = measure(m, size), a = measure(*m.parts[0], size * 0.9F),
                     b = measure(*m.parts[1], size * 0.9F);
        const float bar = y - size * 0.28F;
        draw(*m.parts[0], x + (whole.width - a.width) / 2, bar - size * 0.14F - a.down,
             size * 0.9F);
        draw(*m.parts[1], x + (whole.width - b.width) / 2, bar + size * 0.18F + b.up, size * 0.9F);
        stroke({x + size * 0.06F, bar}, {x + whole.width - size * 0.06F, bar},
               std::max(1.0F, size * 0.06F));
        break;
      }
      case Math::Kind::script: {
        const float width = measure(*m.parts[0], size).width;
        draw(*m.parts[0], x, y, size);
        if (m.parts[1]) draw(*m.parts[1], x + width, y - size * 0.42F, size * 0.68F);
        if (m.parts[2]) draw(*m.parts[2], x + width, y + size * 0.2F, size * 0.68F);
        break;
      }
      case Math::Kind::root: {
        const Extent e = measure(*m.parts[0], size);
        const float top = y - e.up - size * 0.12F, t = std::max(1.0F, size * 0.06F);
        stroke({x + size * 0.05F, y - size * 0.25F}, {x + size * 0.25F, y + e.down * 0.8F},
               t * 1.4F);
        stroke({x + size * 0.25F, y + e.down * 0.8F}, {x + size * 0.5F, top}, t);
        stroke({x + size * 0.5F, top}, {x + size * 0.6F + e.width, top}, t);
        draw(*m.parts[0], x + size * 0.58F, y, size);
        break;
      }
      case Math::Kind::big: {
        const Extent whole = measure(m, size), low = measure(*m.parts[1], size * 0.62F),
                     high = measure(*m.parts[2], size * 0.62F),
                     sign = measure(*m.parts[0], size * 1.5F);
        draw(*m.parts[0], x + (whole.width - sign.width) / 2, y + size * 0.25F, size * 1.5F);
        draw(*m.parts[1], x + (whole.width - low.width) / 2, y + size * 0.6F + low.up,
             size * 0.62F);
        draw(*m.parts[2], x + (whole.width - high.width) / 2, y - size * 1.1F - high.down,
             size * 0.62F);
        break;
      }
    }
  }

  void start(const Run& group) {
    group_ = group;
    box_ = {};
  }
  Box box() const { return box_; }

 private:
  void add(const Box& box) { box_ = hull(box_, box); }
  void stroke(Point a, Point b, float t) {
    add({std::min(a.x, b.x), std::min(a.y, b.y) - t, std::max(a.x, b.x), std::max(a.y, b.y) + t});
    if (page_.drawn(group_)) page_.canvas.line(a, b, t, ink_);
  }

  Page& page_;
  const Family& family_;
  Color ink_;
  Run group_;
  Box box_;
};

}  // namespace

Sheet formula_page(Context& c) {
  Random& r = c.random;
  Sheet sheet;
  sheet.layout = "formulas";
  sheet.finish = Finish::scan;
  const bool portrait = r.chance(0.5F);
  const int long_side = c.options.longest,
            short_side = static_cast<int>(long_side * r.real(0.65F, 0.8F));
  const int w = portrait ? short_side : long_side, h = portrait ? long_side : short_side;
  const bool slate = r.chance(0.12F);
  const Color paper = slate ? Color{40, 62, 54} : Color{255, 255, 255},
              ink = slate ? Color{235, 238, 230} : mix({0, 0, 0}, {60, 60, 60}, r.unit());
  if (slate) sheet.finish = Finish::photo;
  sheet.pages.emplace_back(c, w, h, paper);
  Page& page = sheet.pages.back();
  const Family& family = c.family("math");
  const float size = c.px(r.real(13, 19)), margin = c.px(r.real(40, 90)), step = size * 1.45F;
  const Style body = style(family, size, ink);
  const bool numbered = r.chance(0.85F);
  Setter setter(page, family, ink);
  float y = c.px(r.real(44, 70));
  const int first = r.between(1, 60);
  int n = first;
  std::vector<std::string> formulas;
  while (y < h - size * 6 && n < first + 7) {
    const auto lines = page.paragraph(margin, y, w - 2 * margin, step,
                                      paragraph_text(r, r.between(1, 2)), body, Align::left, 4);
    y += step * lines.size() + size * 0.4F;
    Ptr left;
    Ptr eq;
    const float big_size = size * r.real(1.05F, 1.5F);
    Extent e;
    for (int tries = 0; tries < 30; ++tries) {
      eq = equation(r, left);
      e = setter.measure(*eq, big_size);
      if (eq->latex.size() <= kAnswerLimit && e.width < w - 2 * margin - size * 5) break;
    }
    if (y + e.up + e.down + size > h - size || eq->latex.size() > kAnswerLimit ||
        e.width >= w - 2 * margin - size * 5)
      break;
    y += e.up;
    Run run = page.begin_group();
    setter.start(run);
    setter.draw(*eq, (w - e.width) / 2, y, big_size);
    page.end_group();
    run.box = setter.box();
    run.text = eq->latex;
    const std::string no = std::to_string(n);
    if (numbered) {
      const Run label = page.text(w - margin, y, "(" + no + ")", body, Align::right);
      page.ask(
          {"formula.number", {{"number", no}}, eq->latex, {run}, {label.box}, Level::medium, 1});
      page.ask(
          {"formula.left", {{"number", no}}, left->latex, {run}, {label.box}, Level::medium, 0.3F});
      if (eq->latex.size() < 40)
        page.ask({"formula.which",
                  {{"formula", eq->latex}},
                  no,
                  {label},
                  {run.box},
                  Level::complex,
                  0.4F});
    }
    formulas.push_back(eq->latex);
    if (!numbered && formulas.size() == 1) {
      page.ask({"formula.read", {}, eq->latex, {run}, {}, Level::simple, 3});
      y += e.down + step;
      page.paragraph(margin, y + size, w - 2 * margin, step, paragraph_text(r, r.between(2, 6)),
                     body, Align::left, static_cast<int>((h - y - size * 2) / step));
      break;
    }
    y += e.down + step * 1.1F;
    ++n;
  }
  if (formulas.empty()) return formula_page(c);
  if (numbered)
    page.ask({"formula.number",
              {{"number", std::to_string(first + 40)}},
              "none",
              {},
              {},
              Level::medium,
              0.2F});
  return sheet;
}

}  // namespace arrcoc::scenes
