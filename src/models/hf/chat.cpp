// How each family writes a conversation down.
#include "arrcoc/error.h"
#include "models/hf/hf.h"

namespace arrcoc::hf {
namespace {

// What a user types must not become a control token or a placeholder.
std::string harmless(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] != '<') continue;
    for (const char* mark : {"|", "image>", "video>", "IMG_", "s>", "/s>", "unk>"}) {
      if (text.compare(i + 1, std::char_traits<char>::length(mark), mark) == 0) {
        out += ' ';
        break;
      }
    }
  }
  return out;
}

void check_role(const Message& message) {
  if (message.role != "system" && message.role != "user" && message.role != "assistant") {
    throw Error(ErrorCode::bad_argument,
                "unknown role '" + message.role + "'; known: system, user, assistant");
  }
}

std::string times(const std::string& text, int64_t count) {
  std::string out;
  for (int64_t i = 0; i < count; ++i) out += text;
  return out;
}

// A thumbnail, then the tiles row by row with marks between them.
std::string ovis_picture(const Slot& slot) {
  std::string out = "<IMG_START><IMG_ATOM><IMG_GRID>";
  if (slot.tile_rows * slot.tile_cols > 1) {
    for (int64_t row = 0; row < slot.tile_rows; ++row) {
      for (int64_t col = 0; col < slot.tile_cols; ++col) {
        out += "<IMG_ATOM>";
        if (col + 1 < slot.tile_cols) out += "<IMG_COL>";
      }
      if (row + 1 < slot.tile_rows) out += "<IMG_ROW>";
    }
  }
  return out + "<IMG_END>";
}

std::string picture_text(const std::string& family, const Slot& slot) {
  if (family == "llava") return times("<image>\n", slot.views);
  if (family == "ovis2") return ovis_picture(slot) + "\n";
  return times("<|vision_start|><|image_pad|><|vision_end|>", slot.views);
}

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

}  // namespace

std::string chat_text(const std::string& family, const std::vector<Message>& messages,
                      const std::vector<Slot>& pictures) {
  bool llava = family == "llava";
  bool qwen = family.rfind("qwen", 0) == 0;
  if (!llava && !qwen && family != "ovis2") {
    throw Error(ErrorCode::unsupported, "no chat template for '" + family + "'");
  }
  std::string out;
  bool greets = family == "qwen2_vl" || family == "qwen2_5_vl";
  if (greets && (messages.empty() || messages[0].role != "system")) {
    out += "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n";
  }
  size_t next = 0;
  for (const Message& message : messages) {
    check_role(message);
    std::string shown;
    for (int i = 0; i < message.pictures; ++i) {
      if (next >= pictures.size()) {
        throw Error(ErrorCode::bad_argument, "the messages show more pictures than were given");
      }
      shown += picture_text(family, pictures[next++]);
    }
    std::string text = harmless(message.text);
    if (llava) {
      if (message.role != "system") out += upper(message.role) + ": ";
      out += shown + text + " ";
    } else {
      out += "<|im_start|>" + message.role + "\n" + shown + text + "<|im_end|>\n";
    }
  }
  if (next != pictures.size()) {
    throw Error(ErrorCode::bad_argument, "more pictures were given than the messages show");
  }
  return out + (llava ? "ASSISTANT:" : "<|im_start|>assistant\n");
}

}  // namespace arrcoc::hf
