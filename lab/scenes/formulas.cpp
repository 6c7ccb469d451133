// Formulas among text: a small typesetter for rows, fractions, powers, roots, sums and integrals.
#include <algorithm>
#include <cmath>
#include <memory>

#include "lab/scenes/draft.h"
#include "lab/scenes/layouts.h"

namespace arrcoc::scenes {
namespace {

struct Math;
using Ptr = std::shared_ptr<const Math>;

// A piece of a formula: how it is drawn and how it is written in LaTeX. Parts of a fraction: above,
// below; of a script: base, up, down (or null); of a big sign: sign, low, high.
struct Math {
  enum class Kind { symbol, row, fraction, script, root, big } kind = Kind::symbol;
  std::string latex;
  std::string shown = {};  // symbol: UTF-8
  bool italic = false;
  std::vector<Ptr> parts = {};
};

Ptr symbol(const std::string& shown, const std::string& latex, bool italic = false) {
  return std::make_shared<Math>(Math{Math::Kind::symbol, latex, shown, italic});
}
Ptr symbol(const std::string& text) { return symbol(text, text); }
Ptr node(Math::Kind kind, const std::string& latex, std::vector<Ptr> parts) {
  return std::make_shared<Math>(Math{kind, latex, "", false, std::move(parts)});
}

Ptr row(const std::vector<Ptr>& parts) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string latex;
  for (const Ptr& p : parts) {
    // A command must not run into the letter after it.
    const size_t slash = latex.rfind('\\');
    const bool command = slash != std::string::npos && slash + 1 < latex.size() &&
                         latex.find_first_not_of(letters, slash + 1) == std::string::npos;
    if (command && !p->latex.empty() && std::isalnum(static_cast<unsigned char>(p->latex[0])))
      latex += " ";
    latex += p->latex;
  }
  return node(Math::Kind::row, latex, parts);
}
Ptr fraction(const Ptr& a, const Ptr& b) {
  return node(Math::Kind::fraction, "\\frac{" + a->latex + "}{" + b->latex + "}", {a, b});
}
Ptr script(const Ptr& base, const Ptr& up, const Ptr& down) {
  auto arm = [](const Ptr& p) { return p->latex.size() == 1 ? p->latex : "{" + p->latex + "}"; };
  std::string latex = base->latex;
  if (down) latex += "_" + arm(down);
  if (up) latex += "^" + arm(up);
  return node(Math::Kind::script, latex, {base, up, down});
}
Ptr root(const Ptr& a) { return node(Math::Kind::root, "\\sqrt{" + a->latex + "}", {a}); }
Ptr big(const Ptr& sign, const Ptr& low, const Ptr& high) {
  return node(Math::Kind::big, sign->latex + "_{" + low->latex + "}^{" + high->latex + "}",
              {sign, low, high});
}
Ptr num(int v) { return symbol(std::to_string(v)); }
Ptr var(const std::string& name) { return symbol(name, name, true); }
Ptr op(const std::string& sign) { return symbol(" " + sign + " ", sign); }

Ptr atom(Random& r) {
  switch (r.between(0, 4)) {
    case 0:
      return num(r.between(2, 99));
    case 1: {
      const Row& greek = r.pick(r.table<"formula.greek", 2>());
      return symbol(greek[0], greek[1]);
    }
    default:
      return var(r.pick<"formula.variable">());
  }
}

// Draws are written in the order in which they are made; it is part of what a seed means.
Ptr term(Random& r, int depth) {
  switch (depth <= 0 ? r.between(0, 2) : r.between(0, 7)) {
    case 0:
      return atom(r);
    case 1: {
      const Ptr up = num(r.between(2, 9));
      return script(var(r.pick<"formula.base">()), up, nullptr);
    }
    case 2: {
      const Ptr down = r.chance(0.5F) ? num(r.between(0, 9)) : var(r.pick<"formula.index">());
      return script(var(r.pick<"formula.indexed">()), nullptr, down);
    }
    case 3: {
      const Ptr below = term(r, depth - 1);
      return fraction(term(r, depth - 1), below);
    }
    case 4:
      return root(term(r, depth - 1));
    case 5: {
      const Ptr factor = num(r.between(2, 12));
      return row({factor, atom(r)});
    }
    case 6: {
      const Ptr a = term(r, 0), sign = op(r.pick({"+", "-"}));
      return row({symbol("("), a, sign, term(r, 0), symbol(")")});
    }
    default: {
      const std::string& name = r.pick<"formula.function">();
      return row({symbol(name, "\\" + name), symbol("("), atom(r), symbol(")")});
    }
  }
}

Ptr left_side(Random& r) {
  if (!r.chance(0.7F)) {
    const Ptr name = var(r.pick<"formula.left-function">());
    return row({name, symbol("("), var(r.pick<"formula.argument">()), symbol(")")});
  }
  if (r.chance(0.5F)) return var(r.pick<"formula.left">());
  const Ptr down = var(r.pick<"formula.left-index">());
  return script(var(r.pick<"formula.left-indexed">()), nullptr, down);
}

Ptr equation(Random& r, Ptr& left) {
  left = left_side(r);
  std::vector<Ptr> all = {left, op("=")};
  if (r.chance(0.2F)) {
    const bool sum = r.chance(0.6F);
    const Ptr high = r.chance(0.5F) ? var("n") : num(r.between(4, 20));
    const Ptr low = sum ? row({var("i"), symbol("="), num(r.between(0, 1))}) : num(r.between(0, 3));
    all.push_back(big(sum ? symbol("∑", "\\sum") : symbol("∫", "\\int"), low, high));
    all.push_back(term(r, 0));
  } else {
    all.push_back(term(r, 2));
    for (int i = r.between(0, 2); i > 0; --i) {
      all.push_back(op(r.pick({"+", "-", "+"})));
      all.push_back(term(r, 1));
    }
  }
  return row(all);
}

struct Extent {
  float width = 0, up = 0, down = 0;
};

class Setter {
 public:
  Setter(Page& page, const Family& family, Color ink) : page_(page), family_(family), ink_(ink) {}

  Extent measure(const Math& m, float size) { return set(m, size, nullptr); }
  // Draws as one item whose box is returned with it.
  Run draw(const Math& m, float size, Point at) {
    group_ = page_.begin_group();
    set(m, size, &at);
    page_.end_group();
    group_.text = m.latex;
    return group_;
  }

 private:
  // Measures and, when `at` is given (left end of the baseline), draws.
  Extent set(const Math& m, float size, const Point* at) {
    switch (m.kind) {
      case Math::Kind::symbol: {
        const Style face = style(family_, size, ink_, m.italic ? Weight::italic : Weight::regular);
        if (at) add(page_.text(at->x, at->y, m.shown, face).box);
        return {page_.measure(m.shown, face) + size * 0.03F, size * 0.72F, size * 0.2F};
      }
      case Math::Kind::row:
        return set_row(m, size, at);
      case Math::Kind::fraction:
        return set_fraction(m, size, at);
      case Math::Kind::script:
        return set_script(m, size, at);
      case Math::Kind::root:
        return set_root(m, size, at);
      case Math::Kind::big:
        return set_big(m, size, at);
    }
    return {};
  }
  void part(const Math& m, int index, float size, float x, float y) {
    const Point at{x, y};
    set(*m.parts[static_cast<size_t>(index)], size, &at);
  }

  Extent set_row(const Math& m, float size, const Point* at) {
    Extent e;
    Point pen = at ? *at : Point{};
    for (const Ptr& p : m.parts) {
      const Extent part = set(*p, size, at ? &pen : nullptr);
      pen.x += part.width;
      e = {e.width + part.width, std::max(e.up, part.up), std::max(e.down, part.down)};
    }
    return e;
  }

  Extent set_fraction(const Math& m, float size, const Point* at) {
    const float inner = size * 0.9F;
    const Extent a = measure(*m.parts[0], inner), b = measure(*m.parts[1], inner);
    const float width = std::max(a.width, b.width) + size * 0.3F;
    if (at) {
      const float bar = at->y - size * 0.28F;
      part(m, 0, inner, at->x + (width - a.width) / 2, bar - size * 0.14F - a.down);
      part(m, 1, inner, at->x + (width - b.width) / 2, bar + size * 0.18F + b.up);
      stroke({at->x + size * 0.06F, bar}, {at->x + width - size * 0.06F, bar},
             std::max(1.0F, size * 0.06F));
    }
    return {width, a.up + a.down + size * 0.45F, b.up + b.down - size * 0.1F};
  }

  Extent set_script(const Math& m, float size, const Point* at) {
    Extent e = set(*m.parts[0], size, at);
    const float inner = size * 0.68F, x = at ? at->x + e.width : 0;
    float wide = 0;
    if (m.parts[1]) {
      if (at) part(m, 1, inner, x, at->y - size * 0.42F);
      const Extent up = measure(*m.parts[1], inner);
      wide = std::max(wide, up.width);
      e.up = std::max(e.up, up.up + size * 0.42F);
    }
    if (m.parts[2]) {
      if (at) part(m, 2, inner, x, at->y + size * 0.2F);
      const Extent low = measure(*m.parts[2], inner);
      wide = std::max(wide, low.width);
      e.down = std::max(e.down, low.down + size * 0.22F);
    }
    e.width += wide + size * 0.05F;
    return e;
  }

  Extent set_root(const Math& m, float size, const Point* at) {
    const Extent e = measure(*m.parts[0], size);
    if (at) {
      const float x = at->x, y = at->y, top = y - e.up - size * 0.12F, low = y + e.down * 0.8F,
                  t = std::max(1.0F, size * 0.06F);
      stroke({x + size * 0.05F, y - size * 0.25F}, {x + size * 0.25F, low}, t * 1.4F);
      stroke({x + size * 0.25F, low}, {x + size * 0.5F, top}, t);
      stroke({x + size * 0.5F, top}, {x + size * 0.6F + e.width, top}, t);
      part(m, 0, size, x + size * 0.58F, y);
    }
    return {e.width + size * 0.75F, e.up + size * 0.2F, e.down};
  }

  Extent set_big(const Math& m, float size, const Point* at) {
    const float inner = size * 0.62F, outer = size * 1.5F;
    const Extent sign = measure(*m.parts[0], outer), low = measure(*m.parts[1], inner),
                 high = measure(*m.parts[2], inner);
    const float width = std::max({low.width, high.width, sign.width}) + size * 0.2F;
    if (at) {
      const float x = at->x, y = at->y;
      part(m, 0, outer, x + (width - sign.width) / 2, y + size * 0.25F);
      part(m, 1, inner, x + (width - low.width) / 2, y + size * 0.6F + low.up);
      part(m, 2, inner, x + (width - high.width) / 2, y - size * 1.1F - high.down);
    }
    return {width, size * 1.15F + high.up + high.down, size * 0.5F + low.up + low.down};
  }

  void add(const Box& box) { group_.box = hull(group_.box, box); }
  void stroke(Point a, Point b, float t) {
    add({std::min(a.x, b.x), std::min(a.y, b.y) - t, std::max(a.x, b.x), std::max(a.y, b.y) + t});
    if (page_.drawn(group_)) page_.line(a, b, t, ink_);
  }

  Page& page_;
  const Family& family_;
  Color ink_;
  Run group_;
};

void formula_questions(Page& page, const Run& run, const Ptr& left, const std::string& no,
                       const Run& label) {
  page.ask("formula.number", run, 1, medium, {{"number", no}}, {label.box});
  page.ask("formula.left", left->latex, {run}, 0.3F, medium, {{"number", no}}, {label.box});
  if (run.text.size() < 40)
    page.ask("formula.which", no, {label}, 0.4F, complex, {{"formula", run.text}}, {run.box});
}

}  // namespace

Sheet formula_page(Context& c) {
  Random& r = c.random;
  const bool portrait = r.chance(0.5F);
  const int long_side = c.options.longest,
            short_side = static_cast<int>(long_side * r.real(0.65F, 0.8F));
  const bool slate = r.chance(0.12F);
  const Color paper = slate ? Color{40, 62, 54} : kWhite,
              ink = slate ? Color{235, 238, 230} : mix(kBlack, {60, 60, 60}, r.unit());
  Sheet sheet("formulas", slate ? Finish::photo : Finish::scan);
  Page& page =
      sheet.add(c, portrait ? short_side : long_side, portrait ? long_side : short_side, paper);
  const float w = page.w(), h = page.h();
  const Family& family = c.family("math");
  const float size = c.px(r.real(13, 19)), margin = c.px(r.real(40, 90)), step = size * 1.45F,
              room = w - 2 * margin;
  const Style body = style(family, size, ink);
  const bool numbered = r.chance(0.85F);
  Setter setter(page, family, ink);
  float y = c.px(r.real(44, 70));
  const int first = r.between(1, 60);
  bool empty = true;
  for (int n = first; y < h - size * 6 && n < first + 7; ++n) {
    const auto lines = page.paragraph(margin, y, room, step, paragraph_text(r, r.between(1, 2)),
                                      body, Align::left, 4);
    y += step * lines.size() + size * 0.4F;
    Ptr left, eq;
    const float big_size = size * r.real(1.05F, 1.5F);
    Extent e;
    auto fits = [&] { return eq->latex.size() <= kAnswerLimit && e.width < room - size * 5; };
    for (int tries = 0; tries < 30 && (tries == 0 || !fits()); ++tries) {
      eq = equation(r, left);
      e = setter.measure(*eq, big_size);
    }
    if (y + e.up + e.down + size > h - size || !fits()) break;
    y += e.up;
    const Run run = setter.draw(*eq, big_size, {(w - e.width) / 2, y});
    empty = false;
    const std::string no = std::to_string(n);
    if (numbered)
      formula_questions(page, run, left, no, page.right(w - margin, y, "(" + no + ")", body));
    y += e.down + step * (numbered ? 1.1F : 1.0F);
    if (numbered) continue;
    page.ask("formula.read", run, 3);
    page.paragraph(margin, y + size, room, step, paragraph_text(r, r.between(2, 6)), body,
                   Align::left, static_cast<int>((h - y - size * 2) / step));
    break;
  }
  if (empty) return formula_page(c);
  if (numbered)
    page.ask_none("formula.number", 0.2F, medium, {{"number", std::to_string(first + 40)}});
  return sheet;
}

}  // namespace arrcoc::scenes
