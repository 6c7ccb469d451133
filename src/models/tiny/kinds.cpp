#include "models/tiny/kinds.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "arrcoc/error.h"
#include "base/json.h"
#include "base/text.h"

namespace arrcoc::tiny {

namespace {

constexpr double kLeast = 1e-3;  // a chance below does not count against an answer without bound

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool digit(char c) { return text::is_digit(static_cast<unsigned char>(c)); }
bool letter(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u >= 0x80 || text::is_letter(u);
}

// Runs of letters and runs of digits, lower case.
std::vector<std::string> runs_of(const std::string& text) {
  std::vector<std::string> out;
  const auto kind = [](char c) { return digit(c) ? 1 : letter(c) ? 2 : 0; };
  for (size_t i = 0; i < text.size(); ++i) {
    if (kind(text[i]) == 0) continue;
    if (i == 0 || kind(text[i - 1]) != kind(text[i])) out.emplace_back();
    out.back() += lower(text[i]);
  }
  return out;
}

bool names_month(const std::string& run) {
  constexpr const char* kMonths[] = {"january",   "february", "march",    "april",
                                     "may",       "june",     "july",     "august",
                                     "september", "october",  "november", "december"};
  return std::any_of(std::begin(kMonths), std::end(kMonths), [&](const std::string& month) {
    return (run.size() >= 3 && month.compare(0, run.size(), run) == 0) || run == "sept";
  });
}

bool has_currency(const std::string& answer, const std::vector<std::string>& runs) {
  constexpr const char* kSigns[] = {"$", "\u20ac", "\u00a3", "\u00a2"};
  return std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&](const char* sign) { return answer.find(sign) != std::string::npos; }) ||
         std::any_of(runs.begin(), runs.end(),
                     [](const std::string& run) { return run == "rm" || run == "usd"; });
}

// Three numbers with a stroke, a point or a dash between them.
bool numeric_date(const std::string& answer, const std::vector<std::string>& runs) {
  if (runs.size() != 3) return false;
  const auto strokes = std::count_if(answer.begin(), answer.end(),
                                     [](char c) { return c == '/' || c == '.' || c == '-'; });
  return strokes == 2 && std::all_of(runs.begin(), runs.end(),
                                     [](const std::string& run) { return run.size() <= 4; });
}

AnswerShape shape_of_digits(const std::string& answer, const std::vector<std::string>& runs) {
  if (numeric_date(answer, runs)) return AnswerShape::date;
  if (runs.size() == 1) {
    const std::string& run = runs[0];
    const bool year = run.size() == 4 && (run[0] == '2' || (run[0] == '1' && run[1] >= '8'));
    return year ? AnswerShape::year : AnswerShape::whole;
  }
  const bool plain = answer.find_first_not_of("0123456789.,+-() ") == std::string::npos;
  const bool groups = std::all_of(runs.begin() + 1, runs.end(),
                                  [](const std::string& run) { return run.size() <= 3; });
  const bool marks = answer.find_first_of(".,") != std::string::npos;
  const bool dashes = answer.find('-', 1) != std::string::npos;
  return plain && groups && marks && !dashes ? AnswerShape::decimal : AnswerShape::digits;
}

}  // namespace

AnswerShape shape_of(const std::string& answer) {
  const std::vector<std::string> runs = runs_of(answer);
  const bool digits = std::any_of(answer.begin(), answer.end(), digit);
  const bool letters = std::any_of(answer.begin(), answer.end(), [](char c) {
    return text::is_letter(static_cast<unsigned char>(c));
  });
  if (digits) {
    if (answer.find('%') != std::string::npos) return AnswerShape::percent;
    if (has_currency(answer, runs)) return AnswerShape::money;
    if (std::any_of(runs.begin(), runs.end(), names_month)) return AnswerShape::date;
    return letters ? AnswerShape::mixed : shape_of_digits(answer, runs);
  }
  const size_t words = text::split_words(answer).size();
  return words <= 1 ? AnswerShape::word : words <= 3 ? AnswerShape::words : AnswerShape::text;
}

std::vector<std::string> asking_words(const std::string& question) {
  std::set<std::string> out;
  std::string before;
  for (std::string& run : runs_of(question)) {
    if (digit(run[0])) run = "#";
    if (before == "which" || before == "what" || before == "how") out.insert(before + " " + run);
    out.insert(run);
    before = std::move(run);
  }
  return {out.begin(), out.end()};
}

std::array<double, kShapes> KindTable::chances(const std::string& question) const {
  std::array<double, kShapes> out{};
  const auto add = [&](const std::string& word) {
    const auto found = rows.find(word);
    if (found == rows.end()) return;
    for (size_t k = 0; k < kShapes; ++k) out[k] += static_cast<double>(found->second[k]);
  };
  add("");
  for (const std::string& word : asking_words(question)) add(word);
  const double most = *std::max_element(out.begin(), out.end());
  double sum = 0;
  for (double& v : out) sum += v = std::exp(v - most);
  for (double& v : out) v /= sum;
  return out;
}

double kind_sign(const KindTable* table, const std::string& question, const std::string& answer) {
  if (table == nullptr || answer.empty() || answer == "none") return 0;
  const double chance = table->chances(question)[static_cast<size_t>(shape_of(answer))];
  return std::log(std::max(kLeast, chance)) - table->usual;
}

KindTable kinds_from_json(const std::string& text) {
  KindTable out;
  JsonFields fields = JsonFields::parse("kinds of answers", text);
  fields.number("usual", out.usual, -100, 0).ignore("measured");
  if (const json* rows = fields.take("rows")) {
    const auto bad = [] {
      throw Error(ErrorCode::bad_json,
                  "kinds of answers: every row must be " + std::to_string(kShapes) + " numbers");
    };
    if (!rows->is_object()) bad();
    for (const auto& [word, row] : rows->items()) {
      if (!row.is_array() || row.size() != kShapes) bad();
      for (size_t k = 0; k < kShapes; ++k) {
        if (!row[k].is_number() || !(std::abs(row[k].get<double>()) < 1e3)) bad();
        out.rows[word][k] = row[k].get<float>();
      }
    }
  }
  fields.done();
  return out;
}

std::string to_json(const KindTable& table) {
  ordered_json out = {{"usual", rounded(table.usual)}, {"rows", ordered_json::object()}};
  for (const auto& [word, row] : table.rows) {
    auto& to = out["rows"][word] = ordered_json::array();
    for (const float v : row) to.push_back(std::round(static_cast<double>(v) * 100) / 100);
  }
  return out.dump();
}

std::shared_ptr<const KindTable> kinds_of(const std::string& folder) {
  if (folder.empty()) return nullptr;  // of networks in memory
  const auto path = std::filesystem::path(folder) / "kinds.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return nullptr;
  try {
    return std::make_shared<const KindTable>(kinds_from_json(read_text(path.string())));
  } catch (const Error& problem) {
    throw Error(problem.code(), path.string() + ": " + problem.what());
  }
}

}  // namespace arrcoc::tiny
