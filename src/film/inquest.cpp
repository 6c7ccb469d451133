#include "film/inquest.h"

#include <algorithm>
#include <cstdlib>

namespace arrcoc::filming {

Inquest::Inquest(const Asker& asker, const Moments& moments, const TimeOptions& options, int each)
    : asker_(asker),
      options_(options),
      kept_(moments.kept()),
      left_(options.tokens),
      each_(std::clamp(each, kLeastTokens, std::max(kLeastTokens, options.most_each))) {}

const Picture& Inquest::picture(size_t i) {
  if (!open_ || open_->first != i) open_.emplace(i, kept_[i].picture());
  return open_->second;
}

double Inquest::width(size_t i) {
  thumb(i);
  return widths_[i];
}

double Inquest::apart(size_t i, size_t k, const Box& box) {
  const Thumb &a = thumb(i), &b = thumb(k);
  if (a.width != b.width || a.height != b.height) return 255;
  const double scale = a.width / widths_[i];
  const auto side = [&](double from, double to, int size) {
    const double middle = (from + to) / 2 * scale, half = std::max((to - from) * scale, 12.0) / 2;
    return std::pair(std::clamp(static_cast<int>(middle - half), 0, size - 1),
                     std::clamp(static_cast<int>(middle + half), 0, size - 1));
  };
  const auto [x0, x1] = side(box.x0, box.x1, a.width);
  const auto [y0, y1] = side(box.y0, box.y1, a.height);
  int64_t sum = 0, count = 0;
  for (int y = y0; y <= y1; ++y)
    for (int at = (y * a.width + x0) * 3; at < (y * a.width + x1 + 1) * 3; ++at, ++count)
      sum += std::abs(a.rgb[static_cast<size_t>(at)] - b.rgb[static_cast<size_t>(at)]);
  return static_cast<double>(sum) / static_cast<double>(count);
}

const MomentAnswer* Inquest::ask(size_t i, const std::string& question) {
  const std::pair key(i, question);
  if (const auto known = asked_.find(key); known != asked_.end()) return &known->second;
  AskOptions options = options_.ask;
  if (!afford(1, options)) return nullptr;
  return &(asked_[key] = told(i, question, asker_.ask(picture(i), question, options)));
}

const MomentAnswer* Inquest::difference(size_t i, size_t k) {
  const std::string question = "Which object is missing in the second picture?";
  AskOptions options = options_.ask;
  if (!afford(2, options)) return nullptr;
  const Picture here = picture(i);
  const Answer answer = asker_.ask({here, kept_[k].picture()}, question, options);
  return &(asked_[{i, question + std::to_string(k)}] = told(i, question, answer));
}

std::vector<MomentAnswer> Inquest::all() const {
  std::vector<MomentAnswer> out;
  for (const auto& [key, answer] : asked_) out.push_back(answer);
  return out;
}

bool Inquest::afford(int pictures, AskOptions& options) const {
  const int64_t tokens = std::min<int64_t>(int64_t{each_} * pictures, left_);
  if (tokens < int64_t{kLeastTokens} * pictures) return false;
  options.budget = std::to_string(tokens);
  options.own_budget.clear();
  options.passes.passes = 1;
  return true;
}

MomentAnswer Inquest::told(size_t i, const std::string& question, const Answer& answer) {
  left_ -= answer.tokens;
  return {kept_[i].frame, kept_[i].seconds,  kept_[i].shot,     question,
          answer.text,    answer.confidence, answer.from().box, answer.tokens};
}

const Thumb& Inquest::thumb(size_t i) {
  const auto [place, fresh] = thumbs_.try_emplace(i);
  if (fresh) {
    place->second = thumb_of(picture(i));
    widths_[i] = picture(i).width();
  }
  return place->second;
}

}  // namespace arrcoc::filming
