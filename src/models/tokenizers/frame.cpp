// What surrounds the text's own ids: the post-processor's tokens, truncation and padding.
#include <algorithm>

#include "arrcoc/error.h"
#include "models/tokenizers/steps.h"

namespace arrcoc::tokenizers {
namespace {

constexpr int64_t kMaxLength = INT32_MAX;          // of truncation
constexpr int64_t kMaxPadding = int64_t{1} << 17;  // tokens a file may ask to be added

Frame template_frame(const Settings& s) {
  Frame frame;
  bool seen = false;
  for (const json& one : s.need_list("single")) {
    const Settings part(one, s.file() + ": single");
    if (part.has("Sequence")) {
      if (seen) s.fail("single", "holds the text twice");
      seen = true;
      continue;
    }
    part.need("SpecialToken");
    const auto name = part.below("SpecialToken").get<std::string>("id");
    s.below("special_tokens").need(name.c_str());
    const auto ids = s.below("special_tokens").below(name.c_str()).wholes("ids", 0, INT32_MAX);
    auto& side = seen ? frame.after : frame.before;
    side.insert(side.end(), ids.begin(), ids.end());
  }
  if (!seen) s.fail("single", "does not hold the text");
  return frame;
}

int64_t pair_id(const Settings& s, const char* key, const IdOf& id_of) {
  const json& pair = s.need(key);
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string())
    s.fail(key, "is not [token, id]");
  const auto known = id_of(pair[0].get<std::string>());
  return known ? *known : s.whole(pair[1], key, 0, INT32_MAX);
}

bool left_side(const Settings& s) { return s.get("direction", "Right") == "Left"; }

}  // namespace

Frame make_frame(const json& value, const IdOf& id_of, const std::string& file) {
  if (value.is_null()) return {};
  const Settings s(value, file);
  const auto type = s.get<std::string>("type");
  if (type == "ByteLevel") return {};
  if (type == "TemplateProcessing") return template_frame(s);
  if (type == "RobertaProcessing" || type == "BertProcessing")
    return {{pair_id(s, "cls", id_of)}, {pair_id(s, "sep", id_of)}};
  if (type == "Sequence") {
    Frame frame;
    for (const json& step : s.need_list("processors")) {
      Frame outer = make_frame(step, id_of, file);
      outer.before.insert(outer.before.end(), frame.before.begin(), frame.before.end());
      frame.after.insert(frame.after.end(), outer.after.begin(), outer.after.end());
      frame.before = std::move(outer.before);
    }
    return frame;
  }
  throw Error(ErrorCode::unsupported, file + ": unknown post-processor '" + type + "'");
}

Fitting make_fitting(const Settings& whole) {
  Fitting fitting;
  if (whole.has("truncation")) {
    const Settings cut = whole.below("truncation");
    fitting.max_length = static_cast<size_t>(cut.whole("max_length", 512, 1, kMaxLength));
    fitting.cut_left = left_side(cut);
  }
  if (whole.has("padding")) {
    const Settings pad = whole.below("padding");
    fitting.pad = true;
    fitting.pad_left = left_side(pad);
    fitting.pad_id = pad.whole("pad_id", 0, 0, INT32_MAX);
    fitting.pad_multiple_of =
        static_cast<size_t>(pad.whole("pad_to_multiple_of", 0, 0, kMaxPadding));
    if (pad.has("strategy") && pad.need("strategy").is_object())
      fitting.pad_to = static_cast<size_t>(pad.below("strategy").whole("Fixed", 0, 0, kMaxPadding));
  }
  return fitting;
}

std::vector<int64_t> fit(std::vector<int64_t> ids, const Frame& frame, const Fitting& fitting) {
  size_t around = frame.before.size() + frame.after.size();
  if (fitting.max_length > 0) {
    size_t room = fitting.max_length > around ? fitting.max_length - around : 0;
    if (ids.size() > room) {
      auto extra = static_cast<std::ptrdiff_t>(ids.size() - room);
      if (fitting.cut_left)
        ids.erase(ids.begin(), ids.begin() + extra);
      else
        ids.erase(ids.end() - extra, ids.end());
    }
  }
  ids.insert(ids.begin(), frame.before.begin(), frame.before.end());
  ids.insert(ids.end(), frame.after.begin(), frame.after.end());
  if (!fitting.pad) return ids;
  size_t length = std::max(ids.size(), fitting.pad_to);
  if (size_t unit = fitting.pad_multiple_of; unit > 0) length = (length + unit - 1) / unit * unit;
  ids.insert(fitting.pad_left ? ids.begin() : ids.end(), length - ids.size(), fitting.pad_id);
  return ids;
}

}  // namespace arrcoc::tokenizers
