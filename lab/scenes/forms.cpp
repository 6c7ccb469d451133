// Forms: key and value pairs in one or two columns, boxed, dotted or ruled, filled in by
// typewriter, by hand or in print; check boxes; letterhead and small print.
#include <algorithm>
#include <cmath>

#include "lab/scenes/layouts.h"
#include "lab/scenes/phrases.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {
namespace {

struct Field {
  std::string key, value;
  bool quantity = false;  // asked for as a figure: without currency, percent sign or unit
};

std::vector<Field> invent(Random& r) {
  const Land land = r.chance(0.6F) ? Land::us : any_land(r);
  const std::string name = person(r), firm = company(r, land);
  auto day = [&] {
    return format(date(r, 1958, 2021),
                  static_cast<int>(r.weighted({1, 1, 1, 1, 1, 0.5F, 0.5F, 3, 2, 4, 0.5F, 1})));
  };
  auto some_cents = [&] { return r.between(100, 2000000); };
  std::vector<Field> all = {
      {r.pick(
           {"Name", "Full Name", "Name of Applicant", "Employee Name", "Contact", "Submitted by"}),
       name},
      {r.pick({"Date", "Date Issued", "Date of Request", "Effective Date", "Date Received"}),
       day()},
      {r.pick({"Company", "Name of Company", "Vendor", "Supplier", "Organization", "Agency",
               "Applicant Agency"}),
       firm},
      {r.pick({"Address", "Street Address", "Mailing Address"}), street(r, land)},
      {r.pick({"City", "City, State, Zip", "Location"}), city_line(r, land)},
      {r.pick({"Telephone", "Phone", "Phone No.", "Telephone No.", "Tel."}), phone(r, land)},
      {r.pick({"Fax", "Fax No.", "Fax Number", "Telefax"}), phone(r, land)},
      {r.pick({"Order No.", "P.O. Number", "Purchase Order No.", "Requisition No."}),
       pattern(r, r.pick({"#####", "@@-####", "######", "#-#####"}))},
      {r.pick({"Account No.", "Acct. No.", "Account Number", "Contract No."}),
       pattern(r, r.pick({"####-####", "########", "##-###-##"}))},
      {r.pick({"Amount", "Total Amount", "Amount Requested", "Authorized Amount", "Total Cost"}),
       "$" + money(some_cents(), true), true},
      {r.pick({"Department", "Dept.", "Division", "Cost Center"}),
       r.pick({"Research", "Marketing", "Purchasing", "Biochemistry", "Sales", "Public Affairs",
               "Accounting", "Engineering", "Personnel", "Quality Control"})},
      {r.pick({"Position", "Title", "Occupation", "Job Title"}),
       r.pick({"Manager", "Assistant Director", "Research Associate", "Secretary", "Vice President",
               "Chemist", "Sales Representative", "Supervisor", "Analyst"})},
      {r.pick({"Project", "Project Title", "Study", "Program"}), title_case(topic(r))},
      {r.pick({"Project No.", "Study No.", "Job Number", "File No."}),
       pattern(r, r.pick({"##-###", "@###", "####", "@@##-#"}))},
      {r.pick({"Brand", "Product", "Product Name", "Item"}),
       r.pick({"Silver ", "Golden ", "Royal ", "Blue ", "Star "}) + surname(r)},
      {r.pick({"Approved by", "Authorized by", "Supervisor", "Reviewed by", "Requested by"}),
       person(r)},
      {r.pick({"Quantity", "No. of Copies", "Units", "Number of Samples"}),
       std::to_string(r.between(2, 960))},
      {r.pick({"Birth Date", "Date of Birth", "Born"}), format(date(r, 1920, 1995), 9)},
      {r.pick({"Social Security No.", "Employee No.", "I.D. No.", "Badge No."}),
       pattern(r, "###-##-####")},
      {r.pick({"Starting Date", "Begin Date", "From"}), day()},
      {r.pick({"Completion Date", "Due Date", "Ending Date"}), day()},
      {r.pick({"Terms", "Payment Terms"}),
       r.pick({"Net 30", "2% 10 days, net 30", "Cash", "Net 60 days", "C.O.D."})},
      {r.pick({"Ship Via", "Shipped by", "Carrier"}),
       r.pick({"Air Freight", "Parcel Post", "Motor Freight", "Rail Express", "Courier"})},
      {r.pick({"Market", "Territory", "Region"}), city(r, land)},
      {r.pick({"Weight", "Gross Weight"}),
       std::to_string(r.between(2, 980)) + r.pick({" lbs", " kg"}), true},
      {r.pick({"E-mail", "Email Address"}), email(r, name, firm)},
      {r.pick({"Page", "Pages", "Number of Pages"}), std::to_string(r.between(1, 48))},
      {r.pick({"Invoice No.", "Voucher No.", "Check No."}), digits(r, r.between(4, 7))},
      {r.pick({"Tax Rate", "Commission", "Discount"}), std::to_string(r.between(1, 40)) + "%",
       true},
      {r.pick({"Subject", "Re", "Purpose"}), cap(topic(r))}};
  for (Field& f : all)
    if (r.strangeness > 0 && r.chance(0.5F)) f.key = strange(r, f.key);
  r.shuffle(all);
  return all;
}

}  // namespace

Sheet form(Context& c) {
  Random& r = c.random;
  const bool portrait = r.chance(0.4F);
  const int long_side = c.options.longest;
  const int short_side = static_cast<int>(long_side * r.real(0.6F, 0.8F));
  const int w = portrait ? short_side : long_side, h = portrait ? long_side : short_side;
  Sheet sheet;
  sheet.layout = "form";
  sheet.finish = Finish::scan;
  sheet.pages.emplace_back(c, w, h, Color{255, 255, 255});
  Page& page = sheet.pages.back();

  const Color ink = mix({0, 0, 0}, {70, 70, 70}, r.unit());
  const bool typed = r.chance(0.5F), by_hand = !typed && r.chance(0.25F);
  const Family& label_family = c.family(r.chance(0.6F) ? "sans" : "serif");
  const Family& value_family = typed     ? c.family("typewriter")
                               : by_hand ? c.family("hand")
                                         : label_family;
  const float size = c.px(r.chance(0.25F) ? r.real(18, 25) : r.real(12, 19));
  const Style label =
      style(label_family, size, ink, r.chance(0.35F) ? Weight::bold : Weight::regular);
  const Style value = style(
      value_family, size * (by_hand ? 1.35F : r.real(0.95F, 1.15F)),
      by_hand && r.chance(0.5F) ? Color{40, 50, 140} : ink,
      !typed && !by_hand && label.font == value_family.regular && r.chance(0.3F) ? Weight::bold
                                                                                 : Weight::regular);
  const float margin = c.px(r.real(30, 80));
  float y = c.px(r.real(36, 70));

  std::vector<Field> fields = invent(r);
  std::vector<Field> absent(fields.end() - 3, fields.end());
  fields.resize(fields.size() - 3);

  // Head: organisation, title, form number.
  if (r.chance(0.6F)) {
    const Style firm = style(label_family, size * r.real(1.0F, 1.4F), ink, Weight::bold);
    const bool centred = r.chance(0.5F);
    const std::string name = r.chance(0.5F) ? upper(company(r, Land::us)) : company(r, Land::us);
    const Run run =
        page.text(centred ? w / 2.0F : margin, y, name, page.narrowed(name, firm, w - 2 * margin),
                  centred ? Align::centre : Align::left);
    page.ask({"letter.company", {}, run.text, {run}, {}, Level::simple, 0.7F});
    y += size * 2;
  }
  const std::string title = upper(r.pick({"Purchase Order",          "Petty Cash Voucher",
                                          "Expense Report",          "Application for Employment",
                                          "Request for Check",       "Project Data Sheet",
                                          "Credit Card Charge Form", "Authorization Form",
                                          "Travel Request",          "Sample Request Form",
                                          "Registration Form",       "Grant Application",
                                          "Shipping Notice",         "Personnel Record",
                                          "Budget Support Sheet",    "Laboratory Report",
                                          "Inspection Report",       "Membership Form",
                                          "Delivery Note",           "Change of Address",
                                          "Coupon Order Form",       "Media Request",
                                          "Telephone Message"}));
  const Style head = style(label_family, size * r.real(1.3F, 1.8F), ink, Weight::bold);
  const Run title_run = page.text(w / 2.0F, y + size, title,
                                  page.narrowed(title, head, w - 2 * margin), Align::centre);
  page.ask({"form.title", {}, title, {title_run}, {}, Level::simple, 1.0F});
  if (r.chance(0.3F))
    page.canvas.hline(title_run.box.x0, title_run.box.x1, title_run.box.y1 + 3, 1, ink);
  y += size * 3.2F;

  const int columns = r.chance(0.5F) ? 2 : 1;
  const float gutter = c.px(r.real(16, 40));
  const float column = (w - 2 * margin - gutter * (columns - 1)) / columns;
  const int look = r.between(0, 4);  // 0 boxes, 1 dots, 2 rule, 3 plain, 4 value below the key
  const float pitch = std::max(size, value.size) * (look == 0   ? r.real(2.3F, 3.0F)
                                                    : look == 4 ? 3.1F
                                                    : by_hand   ? r.real(2.1F, 2.6F)
                                                                : r.real(1.8F, 2.4F));
  const std::string colon = r.pick({":", "", ":", " :"});
  float widest = 0;
  for (const Field& f : fields) widest = std::max(widest, page.measure(f.key + colon, label));
  const bool tabbed = r.chance(0.6F) && widest < column * 0.5F;
  const float foot = h - c.px(r.real(60, 140));
  size_t next = 0;
  for (; y + pitch < foot && next < fields.size(); y += pitch) {
    for (int col = 0; col < columns && next < fields.size(); ++col) {
      const Field& f = fields[next];
      const float x = margin + col * (column + gutter);
      float vx = look == 4 ? x + size * 0.6F
                           : (tabbed ? x + widest + size
                                     : x + page.measure(f.key + colon, label) + size * 0.7F);
      if (vx + page.measure(f.value, value) > x + column) {
        ++next;  // does not fit into this column: left out
        --col;
        continue;
      }
      ++next;
      const float base = look == 4 ? y + size * 1.42F + value.size * 1.1F : y + size;
      const Run key = page.text(x + (look == 0 ? 4 : 0), look == 0 ? y + size * 0.9F : y + size,
                                f.key + colon, label);
      if (look == 0) vx = std::max(vx, key.end + size * 0.4F);
      const float drift = typed || by_hand ? c.px(r.real(-1.8F, 1.5F)) : 0.0F;
      if (look == 1) page.canvas.dashed(vx - 2, x + column, base + 3, 1.5F, 3, 1, ink);
      if (look == 2) page.canvas.hline(vx - 2, x + column, base + 4, 1, ink);
      if (look == 0 || look == 4)
        page.canvas.frame(x - 2, y - size * 0.35F, x + column + 2, y - size * 0.35F + pitch, 1,
                          ink);
      const Run shown = page.text(vx, base + drift, f.value, value);
      page.ask({"form.field",
                {{"key", f.key}},
                f.quantity ? figure(f.value) : f.value,
                {shown},
                {key.box},
                Level::simple,
                1.5F});
    }
  }
  // A row of check boxes.
  if (y + size * 3 < foot && r.chance(0.5F)) {
    struct Choice {
      const char* key;
      std::vector<std::string> options;
    };
    static const std::vector<Choice> choices = {
        {"Status", {"New", "Renewal", "Cancelled", "Pending"}},
        {"Type of Request", {"New", "Change", "Renewal", "Deletion"}},
        {"Priority", {"Urgent", "Routine", "High", "Low"}},
        {"Payment", {"Cash", "Check", "Credit card", "Transfer"}},
        {"Member", {"Yes", "No", "Applied"}},
        {"Sex", {"Male", "Female", "Other"}},
        {"Approved", {"Yes", "No", "Pending"}}};
    const Choice& choice = r.pick(choices);
    const std::string key = choice.key;
    const Run run = page.text(margin, y + size, key + ":", label);
    float x = run.end + size;
    std::vector<std::string> options = choice.options;
    r.shuffle(options);
    const int marked = r.between(0, 2);
    for (int i = 0; i < 3; ++i) {
      page.canvas.frame(x, y + size * 0.2F, x + size * 0.85F, y + size * 1.05F, 1, ink);
      if (i == marked) {
        page.canvas.line({x + 2, y + size * 0.3F}, {x + size * 0.8F, y + size}, 1.6F, value.color);
        page.canvas.line({x + size * 0.8F, y + size * 0.3F}, {x + 2, y + size}, 1.6F, value.color);
      }
      const Run option =
          page.text(x + size * 1.2F, y + size, options[static_cast<size_t>(i)], label);
      if (i == marked)
        page.ask({"form.checked",
                  {{"key", key}},
                  option.text,
                  {option},
                  {run.box},
                  Level::medium,
                  0.8F});
      x = option.end + size * 1.4F;
    }
    y += size * 2.5F;
  }
  // Small print below.
  if (y + size * 2 < foot) {
    const Style small =
        style(label_family, std::max(c.px(9.5F), size * 0.75F), mix(ink, {255, 255, 255}, 0.2F));
    page.paragraph(margin, y + size * 1.5F, w - 2 * margin, small.size * 1.35F,
                   paragraph_text(r, r.between(1, 5)), small, Align::left,
                   static_cast<int>((foot - y - size) / (small.size * 1.35F)));
  }
  if (r.chance(0.4F)) {
    const Run run = page.text(r.chance(0.5F) ? w / 2.0F : w - margin, h - c.px(24),
                              std::to_string(r.between(1, 98)),
                              style(label_family, size * 0.9F, ink), Align::right);
    page.ask({"doc.page", {}, run.text, {run}, {}, Level::simple, 0.4F});
  }
  for (const Field& f : absent)
    page.ask({"form.field", {{"key", f.key}}, "none", {}, {}, Level::simple, 0.4F});
  return sheet;
}

}  // namespace arrcoc::scenes
