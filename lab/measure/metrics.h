// The metrics of published sets of questions, by the rules of their own evaluation code.
#pragma once

#include <string>
#include <vector>

#include "arrcoc/registry.h"

namespace arrcoc::measuring {

enum class Metric {
  exact,    // lower case, white space trimmed
  anls,     // DocVQA, InfographicVQA
  relaxed,  // ChartQA
  vqa,      // VQAv2
  textvqa,  // TextVQA
  gqa,      // GQA
  choice,   // V*Bench, HR-Bench
};

}  // namespace arrcoc::measuring

namespace arrcoc {
template <>
struct EnumNames<measuring::Metric> {
  static constexpr const char* kWhat = "metric";
  static constexpr std::pair<measuring::Metric, const char*> kNames[] = {
      {measuring::Metric::exact, "exact match"},
      {measuring::Metric::anls, "ANLS"},
      {measuring::Metric::relaxed, "relaxed 5 %"},
      {measuring::Metric::vqa, "VQA accuracy"},
      {measuring::Metric::textvqa, "VQA accuracy (EvalAI)"},
      {measuring::Metric::gqa, "GQA accuracy"},
      {measuring::Metric::choice, "choice"}};
};
}  // namespace arrcoc

namespace arrcoc::measuring::official {

// DocVQA's script: the distance is that of lower-case texts with runs of white space made one
// space, the length that of the texts as they came; below 0.5 nothing. The best of `wanted`.
double anls(const std::string& given, const std::vector<std::string>& wanted);

// ChartQA: within 5 % of a wanted number other than 0 ("5%" is 0.05), else equal in lower case.
bool relaxed(const std::string& given, const std::string& wanted);

// VQA's processPunctuation and processDigitArticle: punctuation goes, or becomes a space where no
// space is beside it anywhere; articles go, numbers to ten become digits, apostrophes come back.
std::string vqa_text(const std::string& answer);
// The same after EvalAI's word_tokenize, which TextVQA uses.
std::string evalai_text(const std::string& answer);

// VQA accuracy: over all ways to leave one of the answers out, min(1, others like it / 3). VQAv2
// changes texts only where people disagreed.
double vqa(const std::string& given, std::vector<std::string> people);
double textvqa(const std::string& given, std::vector<std::string> people);

// Lower case without ASCII punctuation.
bool gqa(const std::string& given, const std::string& wanted);

// The option that an answer names: its letter as a word of its own (no other option's letter is
// there), else the only option whose text the answer holds. "": none.
std::string chosen(const std::string& given, const std::vector<std::string>& options);

}  // namespace arrcoc::measuring::official
