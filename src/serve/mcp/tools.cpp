#include "serve/mcp/tools.h"

namespace arrcoc::serving::mcp {

namespace {

ordered_json text(const char* description) {
  return {{"type", "string"}, {"description", description}};
}
ordered_json number(const char* description) {
  return {{"type", "number"}, {"description", description}};
}
ordered_json whole(const char* description, int low, int high) {
  return {{"type", "integer"}, {"minimum", low}, {"maximum", high}, {"description", description}};
}

ordered_json box(const char* description, bool or_null = false) {
  return {{"type", or_null ? ordered_json{"array", "null"} : ordered_json("array")},
          {"items", {{"type", "number"}}},
          {"minItems", 4},
          {"maxItems", 4},
          {"description", std::string(description) +
                              ": x0, y0, x1, y1 in pixels of the picture, x1 and y1 outside"}};
}

ordered_json object(ordered_json properties, ordered_json required, bool closed) {
  ordered_json out = {
      {"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
  if (closed) out["additionalProperties"] = false;
  return out;
}

// One picture, by path or by data; clients' schemas cannot say "one of them" everywhere.
ordered_json input(ordered_json more, ordered_json required) {
  ordered_json out = {
      {"path", text("the picture: a file (JPEG, PNG, WebP, TIFF, BMP, HEIC, first page of a PDF) "
                    "below the folders that the server was started with; give path or data")},
      {"data", text("the picture itself, as base64 or a data: URL; give path or data")}};
  out.update(more);
  return object(std::move(out), std::move(required), true);
}

ordered_json output(ordered_json more, ordered_json required) {
  ordered_json out = {{"image", object({{"width", whole("pixels", 1, 1 << 30)},
                                        {"height", whole("pixels", 1, 1 << 30)}},
                                       {"width", "height"}, false)}};
  out.update(more);
  required.insert(required.begin(), "image");
  return object(std::move(out), std::move(required), false);
}

ordered_json spent() {
  return {{"tokens", whole("visual tokens that were spent", 0, 1 << 30)},
          {"native_tokens", whole("visual tokens of the whole picture", 0, 1 << 30)},
          {"milliseconds", number("that it took")}};
}

ordered_json answered() {
  ordered_json out = {
      {"question", text("what was asked")},
      {"answer", text("in a few words; \"none\" where the picture does not say")},
      {"confidence", number("how often such an answer is right, 0 to 1")},
      {"calibrated", {{"type", "boolean"}, {"description", "confidence was fitted to be that"}}},
      {"unsure", {{"type", "boolean"}, {"description", "confidence is low: look for yourself"}}},
      {"box", box("where it was read", true)}};
  out.update(spent());
  return out;
}

ordered_json tool(const char* name, const char* title, const char* description, ordered_json in,
                  ordered_json out) {
  return {{"name", name},
          {"title", title},
          {"description", description},
          {"inputSchema", std::move(in)},
          {"outputSchema", std::move(out)},
          {"annotations",
           {{"title", title},
            {"readOnlyHint", true},
            {"destructiveHint", false},
            {"idempotentHint", true},
            {"openWorldHint", false}}}};
}

ordered_json question() { return text("what is asked about the picture"); }

ordered_json look_tool() {
  ordered_json found = {{"question", text("what was asked")},
                        {"boxes",
                         {{"type", "array"},
                          {"items", object({{"box", box("a place")},
                                            {"relevance", number("0 to 1, strongest first")}},
                                           {"box", "relevance"}, false)}}}};
  found.update(spent());
  return tool("look", "Where does the answer lie?",
              "Says where in a picture the answer to a question lies, without reading it: boxes, "
              "strongest first. Cheap. Follow with zoom on a box, or with read.",
              input({{"question", question()},
                     {"map",
                      {{"type", "boolean"},
                       {"default", false},
                       {"description", "also give the heat map over the picture as an image"}}}},
                    {"question"}),
              output(std::move(found), {"question", "boxes", "tokens", "native_tokens"}));
}

ordered_json zoom_tool() {
  return tool(
      "zoom", "Parts of a picture with every pixel",
      "Cuts parts out of a picture with all of their pixels and gives them as PNG images: those "
      "where the answer to a question lies, or one box. For reading small print and details "
      "yourself without taking in the whole picture.",
      input({{"question", text("what is asked about the picture; give question or box")},
             {"box", box("the part; at most 1568 pixels a side; give question or box")},
             {"crops",
              [] {
                ordered_json most = whole("with a question: parts, at most", 1, kMostCrops);
                most["default"] = 3;
                return most;
              }()}},
            ordered_json::array()),
      output({{"crops",
               {{"type", "array"},
                {"description", "in the order of the images"},
                {"items", object({{"box", box("the part")},
                                  {"relevance", number("0 to 1, with a question")}},
                                 {"box"}, false)}}},
              {"note", text("what was left out, if anything")}},
             {"crops"}));
}

ordered_json read_tool() {
  return tool("read", "Answer a question about a picture",
              "Answers a short question about a picture (a receipt, a chart, a page, a sign, a "
              "photograph) with a small model on this machine, at a few hundred visual tokens: "
              "the answer, how sure it is, where it was read and what it cost.",
              input({{"question", question()},
                     {"budget", text("visual tokens: a number, fast, balanced, accurate or auto")},
                     {"passes", whole("look again while unsure, at most so often", 1, 9)}},
                    {"question"}),
              output(answered(), {"question", "answer", "box", "tokens", "native_tokens"}));
}

ordered_json count_tool() {
  ordered_json found = {
      {"count",
       {{"type", {"integer", "null"}}, {"description", "null: the answer is no whole number"}}}};
  found.update(answered());
  return tool(
      "count", "Count things in a picture",
      "Counts things of one kind in a picture, with how sure the count is. Good for a few "
      "clear things; check counts above ten or unsure ones with zoom.",
      input({{"what", text("what to count, in the plural: 'dogs', 'red circles'")}}, {"what"}),
      output(std::move(found), {"count", "question", "answer", "box", "tokens", "native_tokens"}));
}

}  // namespace

const ordered_json& tools() {
  static const ordered_json all = {look_tool(), zoom_tool(), read_tool(), count_tool()};
  return all;
}

bool has_tool(const std::string& name) {
  for (const ordered_json& one : tools())
    if (one["name"] == name) return true;
  return false;
}

}  // namespace arrcoc::serving::mcp
