// How each family writes a conversation down.
#include <cstdio>

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
    for (const char* mark :
         {"|", "\xEF\xBD\x9C", "image>", "video>", "IMG_", "s>", "/s>", "unk>", "row_",
          "global-img>", "fake_token_around_image>", "end_of_utterance>"}) {
      if (text.compare(i + 1, std::char_traits<char>::length(mark), mark) == 0) {
        out += ' ';
        break;
      }
    }
  }
  return out;
}

bool plain(Family family) { return family == Family::llava || family == Family::sam_clip; }

bool smol(Family family) { return family == Family::smolvlm || family == Family::idefics3; }

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

// Tiles row by row under their names, then the whole.
std::string smol_picture(const Slot& slot) {
  const std::string around = "<fake_token_around_image>";
  std::string out;
  for (size_t i = 0; i < slot.tiles.size(); ++i) {
    const auto [row, col] = slot.tiles[i];
    out += around + "<row_" + std::to_string(row) + "_col_" + std::to_string(col) + "><image>";
    if (i + 1 == slot.tiles.size() || slot.tiles[i + 1].first != row) out += '\n';
  }
  if (!slot.tiles.empty()) out += '\n';
  return out + around + "<global-img><image>" + around;
}

// Qwen3: every temporal patch with its time before it. The others have it in their positions.
std::string film_text(Family family, const Slot& slot) {
  const std::string frame = "<|vision_start|><|video_pad|><|vision_end|>";
  if (family != Family::qwen3_vl) return frame;
  std::string out;
  for (double seconds : slot.seconds) {
    char time[64];
    std::snprintf(time, sizeof time, "<%.1f seconds>", seconds);
    out += time + frame;
  }
  return out;
}

std::string picture_text(Family family, const Slot& slot) {
  if (plain(family) || family == Family::deepseek_ocr2) return times("<image>\n", slot.views);
  if (family == Family::ovis2) return ovis_picture(slot) + "\n";
  if (smol(family)) return smol_picture(slot);
  if (!slot.seconds.empty()) return film_text(family, slot);
  return times("<|vision_start|><|image_pad|><|vision_end|>", slot.views);
}

// One turn of a conversation with what it shows.
std::string turn_text(Family family, Role role, const std::string& said, bool shows = false) {
  if (smol(family)) {
    const char* who = role == Role::user        ? "User:"
                      : role == Role::assistant ? "Assistant:"
                                                : "System:";
    return who + std::string(shows ? "" : " ") + said + "<end_of_utterance>\n";
  }
  if (family == Family::deepseek_ocr2) return said + "\n";  // it knows no roles
  if (!plain(family))
    return std::string("<|im_start|>") + to_string(role) + "\n" + said + "<|im_end|>\n";
  const char* who = role == Role::user ? "USER: " : role == Role::assistant ? "ASSISTANT: " : "";
  return who + said + " ";
}

}  // namespace

std::string chat_text(Family family, const std::vector<Turn>& turns,
                      const std::vector<Slot>& pictures) {
  if (family < Family::llava)
    throw Error(ErrorCode::unsupported,
                std::string("no chat template for '") + to_string(family) + "'");
  std::string out;
  const bool greets = family == Family::qwen2_vl || family == Family::qwen2_5_vl;
  if (greets && (turns.empty() || turns[0].role != Role::system))
    out = turn_text(family, Role::system, "You are a helpful assistant.");
  if (smol(family)) out = "<|im_start|>";
  size_t next = 0;
  for (const Turn& turn : turns) {
    std::string said;
    for (int i = 0; i < turn.pictures; ++i) {
      if (next >= pictures.size())
        throw Error(ErrorCode::bad_argument, "the messages show more pictures than were given");
      said += picture_text(family, pictures[next++]);
    }
    out += turn_text(family, turn.role, said + harmless(turn.text), turn.pictures > 0);
  }
  if (next != pictures.size())
    throw Error(ErrorCode::bad_argument, "more pictures were given than the messages show");
  if (family == Family::deepseek_ocr2) {
    if (!out.empty()) out.pop_back();
    return out;
  }
  return out + (plain(family)  ? "ASSISTANT:"
                : smol(family) ? "Assistant:"
                               : "<|im_start|>assistant\n");
}

}  // namespace arrcoc::hf
