// What surrounds the text's own ids: the post-processor's tokens, truncation and padding.
#include <algorithm>

#include "arrcoc/error.h"
#include "models/hf/json.h"
#include "models/tokenizers/steps.h"

namespace arrcoc::tokenizers {
namespace {

using nlohmann::json;

constexpr int64_t kMaxLength = INT32_MAX;          // of truncation
constexpr int64_t kMaxPadding = int64_t{1} << 17;  // tokens a file may ask to be added

std::vector<int64_t> ids_of(const json& special, const std::string& file) {
  const json& list = jsonio::member(special, "ids", file);
  if (!list.is_array()) jsonio::fail(file, "ids", "is not a list");
  std::vector<int64_t> ids;
  for (const json& id : list) ids.push_back(jsonio::whole(id, "ids", 0, INT32_MAX, file));
  return ids;
}

Frame template_frame(const json& value, const std::string& file) {
  const json& parts = jsonio::member(value, "single", file);
  if (!parts.is_array()) jsonio::fail(file, "single", "is not a list");
  Frame frame;
  bool seen = false;
  for (const json& part : parts) {
    if (jsonio::has(part, "Sequence")) {
      if (seen) jsonio::fail(file, "single", "holds the text twice");
      seen = true;
      continue;
    }
    std::string name = jsonio::text(jsonio::member(part, "SpecialToken", file), "id", file);
    const json& known = jsonio::member(value, "special_tokens", file);
    auto ids = ids_of(jsonio::member(known, name.c_str(), file), file);
    auto& side = seen ? frame.after : frame.before;
    side.insert(side.end(), ids.begin(), ids.end());
  }
  if (!seen) jsonio::fail(file, "single", "does not hold the text");
  return frame;
}

int64_t pair_id(const json& value, const char* key, const IdOf& id_of, const std::string& file) {
  const json& pair = jsonio::member(value, key, file);
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) {
    jsonio::fail(file, key, "is not [token, id]");
  }
  auto known = id_of(pair[0].get<std::string>());
  return known ? *known : jsonio::whole(pair[1], key, 0, INT32_MAX, file);
}

bool left_side(const json& value, const std::string& file) {
  return jsonio::text(value, "direction", "Right", file) == "Left";
}

}  // namespace

Frame make_frame(const json& value, const IdOf& id_of, const std::string& file, int depth) {
  if (depth > kMaxDepth) jsonio::fail(file, "post_processor", "is nested too deeply");
  if (value.is_null()) return {};
  std::string type = jsonio::text(value, "type", file);
  if (type == "ByteLevel") return {};
  if (type == "TemplateProcessing") return template_frame(value, file);
  if (type == "RobertaProcessing" || type == "BertProcessing") {
    return {{pair_id(value, "cls", id_of, file)}, {pair_id(value, "sep", id_of, file)}};
  }
  if (type == "Sequence") {
    const json& list = jsonio::member(value, "processors", file);
    if (!list.is_array()) jsonio::fail(file, "processors", "is not a list");
    Frame frame;
    for (const json& step : list) {
      Frame outer = make_frame(step, id_of, file, depth + 1);
      outer.before.insert(outer.before.end(), frame.before.begin(), frame.before.end());
      frame.after.insert(frame.after.end(), outer.after.begin(), outer.after.end());
      frame.before = std::move(outer.before);
    }
    return frame;
  }
  throw Error(ErrorCode::unsupported, file + ": unknown post-processor '" + type + "'");
}

Fitting make_fitting(const json& whole, const std::string& file) {
  Fitting fitting;
  if (jsonio::has(whole, "truncation")) {
    const json& cut = whole["truncation"];
    fitting.max_length =
        static_cast<size_t>(jsonio::whole(cut, "max_length", 512, 1, kMaxLength, file));
    fitting.cut_left = left_side(cut, file);
  }
  if (jsonio::has(whole, "padding")) {
    const json& pad = whole["padding"];
    fitting.pad = true;
    fitting.pad_left = left_side(pad, file);
    fitting.pad_id = jsonio::whole(pad, "pad_id", 0, 0, INT32_MAX, file);
    fitting.pad_multiple_of =
        static_cast<size_t>(jsonio::whole(pad, "pad_to_multiple_of", 0, 0, kMaxPadding, file));
    if (jsonio::has(pad, "strategy") && jsonio::has(pad["strategy"], "Fixed")) {
      fitting.pad_to =
          static_cast<size_t>(jsonio::whole(pad["strategy"], "Fixed", 0, 0, kMaxPadding, file));
    }
  }
  return fitting;
}

std::vector<int64_t> fit(std::vector<int64_t> ids, const Frame& frame, const Fitting& fitting) {
  size_t around = frame.before.size() + frame.after.size();
  if (fitting.max_length > 0) {
    size_t room = fitting.max_length > around ? fitting.max_length - around : 0;
    if (ids.size() > room) {
      auto extra = static_cast<std::ptrdiff_t>(ids.size() - room);
      if (fitting.cut_left) {
        ids.erase(ids.begin(), ids.begin() + extra);
      } else {
        ids.erase(ids.end() - extra, ids.end());
      }
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
