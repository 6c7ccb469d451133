#include "lab/scenes/phrases.h"

#include <algorithm>
#include <unordered_map>

#include "arrcoc/error.h"
#include "lab/scenes/words.h"

namespace arrcoc::scenes {

using Phrases = std::unordered_map<std::string, std::vector<const char*>>;
const Phrases& document_phrases();  // phrases_documents.cpp
const Phrases& chart_phrases();     // phrases_charts.cpp
const Phrases& scene_phrases();     // phrases_scenes.cpp

namespace {

const std::vector<const char*>& templates(const std::string& intent) {
  for (const Phrases* table : {&document_phrases(), &chart_phrases(), &scene_phrases()})
    if (auto found = table->find(intent); found != table->end()) return found->second;
  throw Error(ErrorCode::not_found, "no phrases for the intent " + intent);
}

std::string fill(std::string text, const Ask& ask) {
  for (const auto& [name, value] : ask.slots) {
    const std::string slot = "{" + name + "}";
    for (size_t at = text.find(slot); at != std::string::npos;
         at = text.find(slot, at + value.size()))
      text.replace(at, slot.size(), value);
  }
  return text;
}

// One slip of the fingers: two letters swapped, one lost, one doubled, or a neighbour on the
// keyboard.
void typo(Random& r, std::string& text) {
  std::vector<size_t> letters;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (plain(text[i]) && plain(text[i + 1])) letters.push_back(i);
  }
  if (letters.empty()) return;
  const size_t at = r.pick(letters);
  static const std::string row = "qwertyuiopasdfghjklzxcvbnm";
  switch (r.between(0, 3)) {
    case 0:
      std::swap(text[at], text[at + 1]);
      break;
    case 1:
      text.erase(at, 1);
      break;
    case 2:
      text.insert(at, 1, text[at]);
      break;
    default: {
      const size_t key = row.find(text[at]);
      if (key != std::string::npos) text[at] = row[key + 1 < row.size() ? key + 1 : key - 1];
    }
  }
}

// A figure that is no percentage must not be asked for as one.
bool suits(const std::string& form, const Ask& ask) {
  for (const auto& [name, value] : ask.slots)
    if (name == "unit" && value == "number")
      for (const char* word : {"percent", "share", "people"})
        if (form.find(word) != std::string::npos) return false;
  return true;
}

}  // namespace

std::string phrase(Random& r, const Ask& ask) {
  std::string form = r.pick(templates(ask.intent));
  while (!suits(form, ask)) form = r.pick(templates(ask.intent));
  std::string text = fill(form, ask);
  if (r.chance(0.05F))
    text = r.pick({"Please tell me: ", "I need to know: ", "Quick question: ", "Hi, ",
                   "Can you tell me, "}) +
           text;
  const bool formula = ask.intent.rfind("formula", 0) == 0;  // letters there mean what they are
  if (r.chance(0.15F) && !formula) text = lower(text);
  if (r.chance(0.01F) && !formula) text = upper(text);
  if (r.chance(0.12F))
    while (!text.empty() && (text.back() == '?' || text.back() == '.')) text.pop_back();
  if (r.chance(0.02F)) text += text.back() == '?' ? "?" : " ?";
  if (r.chance(0.06F) && !formula) typo(r, text);
  if (text.size() > kQuestionLimit) text.resize(kQuestionLimit);
  return text;
}

std::string normalise_answer(const std::string& answer, bool keep_case) {
  const std::string text = trim(answer);
  return keep_case ? text : lower(text);
}

std::string figure(const std::string& text) {
  std::string out;
  for (char c : text)
    if ((c >= '0' && c <= '9') || c == '.' || c == ',' || c == '-') out += c;
  while (!out.empty() && (out.back() == '.' || out.back() == ',' || out.back() == '-'))
    out.pop_back();
  while (!out.empty() && (out.front() == '.' || out.front() == ',')) out.erase(0, 1);
  return out;
}

}  // namespace arrcoc::scenes
