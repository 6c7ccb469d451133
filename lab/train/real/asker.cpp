#include "lab/train/real/asker.h"

#include "base/text.h"

namespace arrcoc::training::real {

std::string trimmed(std::string_view text, std::string_view ends) {
  return std::string(text::strip(text, ends));
}

std::optional<std::string> Asker::key(const std::string& text) {
  const std::string plain = trimmed(text, " .,:;*_|");
  if (letters(plain).size() < 2 || plain.size() > 60) return {};
  const std::string wanted = lower(plain);
  if (!page_.once(wanted)) return {};
  return dice_.chance(0.5F) ? plain : wanted;
}

std::string Asker::fill(Phrases phrases, const std::string& a, const std::string& b) {
  std::string phrase = phrases[any(phrases.size())];
  // The text that goes in may hold these marks itself.
  const size_t first = phrase.find('%'), second = phrase.find('@');
  const bool later = second != std::string::npos && (first == std::string::npos || second > first);
  if (later) phrase.replace(second, 1, b);
  if (first != std::string::npos) phrase.replace(first, 1, a);
  if (!later && second != std::string::npos) phrase.replace(second, 1, b);
  if (dice_.chance(0.4F) && phrase[0] >= 'a' && phrase[0] <= 'z')
    phrase[0] = static_cast<char>(phrase[0] - 32);
  if (dice_.chance(0.2F) && phrase.back() == '?') phrase.pop_back();
  return phrase;
}

std::optional<Ask> Asker::made(Task task, const std::string& question, const std::string& answer,
                               std::vector<Box> boxes, std::vector<Box> evidence,
                               const char* intent, int complexity) {
  Ask ask;
  ask.task = task;
  ask.question = tiny::encode_question(question);
  ask.answer = tiny::encode(trimmed(lower(answer)));
  if (ask.question.empty() || ask.answer.empty() ||
      ask.answer.size() > static_cast<size_t>(tiny::kMaxAnswer))
    return {};
  ask.answer_boxes = std::move(boxes);
  ask.evidence_boxes = std::move(evidence);
  ask.complexity = complexity;
  ask.intent = intent;
  return ask;
}

}  // namespace arrcoc::training::real
