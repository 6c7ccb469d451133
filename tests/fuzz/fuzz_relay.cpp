// A request passes the relay, whatever dialect it is read in, with its pictures replaced and every
// other byte as it came; no picture and no file: URL slips past the first glance at the body.
#include <algorithm>
#include <cstdint>
#include <string>

#include "arrcoc/error.h"
#include "serve/relay/dialects.h"

using namespace arrcoc;
using namespace arrcoc::serving;

namespace {

void must(bool holds) {
  if (!holds) __builtin_trap();
}

bool inside_each_other(const std::vector<PicturePart>& pictures) {
  for (const PicturePart& outer : pictures)
    for (const PicturePart& inner : pictures)
      if (&outer != &inner && inner.place.to_string().starts_with(outer.place.to_string() + "/"))
        return true;
  return false;
}

// What becomes of one picture: one view, several, or words in its place.
std::vector<json> parts_for(const Dialect& dialect, const PicturePart& picture, size_t how) {
  if (how == 1) {
    const json words = dialect.words("left out");
    return words.is_null() ? std::vector<json>{} : std::vector<json>{words};
  }
  return std::vector<json>(how == 2 ? 2 : 1, dialect.view(*picture.part, "QUJD"));
}

// The text's own pieces around the pictures, cut where value_at says that these are.
void other_bytes_stay(std::string_view text, const Dialect& dialect,
                      const std::vector<PicturePart>& pictures) {
  std::vector<JsonEdit> edits;
  std::string expected;
  size_t at = 0;
  for (const PicturePart& picture : pictures) {
    const std::string view = dialect.view(*picture.part, "QUJD").dump();
    edits.push_back({picture.place, JsonEdit::How::replace, view});
    const std::string_view old = value_at(text, picture.place);
    must(parse_json(old, "a part", 200) == *picture.part);
    const auto begin = static_cast<size_t>(old.data() - text.data());
    must(begin >= at);
    expected.append(text, at, begin - at);
    expected += view;
    at = begin + old.size();
  }
  must(edited(text, edits) == expected.append(text, at));
}

// Edits of the text come to the same as those of the values that it spells.
void same_as_values(std::string_view text, const json& given, const Dialect& dialect,
                    const std::vector<PicturePart>& pictures) {
  std::vector<JsonEdit> edits;
  json expected = given;
  for (size_t i = pictures.size(); i-- > 0;) {
    const PicturePart& picture = pictures[i];
    const std::vector<json> parts = parts_for(dialect, picture, i % 3);
    edits.push_back({picture.place, parts.empty() ? JsonEdit::How::remove : JsonEdit::How::replace,
                     joined(parts)});
    json& list = expected[picture.place.parent_pointer()];
    auto place = list.erase(list.begin() + std::stoi(picture.place.back()));
    for (const json& part : parts) place = list.insert(place, part) + 1;
  }
  if (given.contains("arrcoc")) {
    edits.push_back({json::json_pointer("/arrcoc"), JsonEdit::How::remove, ""});
    expected.erase("arrcoc");
  }
  must(parse_json(edited(text, edits), "edited", 200) == expected);
}

void pass(std::string_view text, const json& given, const Dialect& dialect) {
  Conversation talk = dialect.read(given);
  talk.settle();
  must(talk.newest <= talk.messages.size());
  must(talk.question().size() <= text.size() && talk.text_tokens() >= 0);
  for (const RelayMessage& message : talk.messages)
    if (message.message) canonical(*message.message);
  must(talk.pictures.empty() || may_hold_pictures(text));
  std::vector<JsonEdit> appended;
  if (!talk.pictures.empty())
    dialect.append(talk.messages.back(), {dialect.view(*talk.pictures.back().part, "QUJD")},
                   appended);
  must(json::accept(edited(text, appended)));
  const bool nested = inside_each_other(talk.pictures);
  try {
    other_bytes_stay(text, dialect, talk.pictures);
    same_as_values(text, given, dialect, talk.pictures);
    must(!nested);
  } catch (const Error&) {
    must(nested);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  json given;
  try {
    given = parse_json(text, "it", 200);
  } catch (const Error&) {
    spells_file(text);
    return 0;
  }
  must(file_url_in(given).empty() || may_hold_pictures(text));
  if (!given.is_object()) return 0;
  for (const char* path :
       {"/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat", "/api/generate"})
    pass(text, given, *dialect_at(path));
  return 0;
}
