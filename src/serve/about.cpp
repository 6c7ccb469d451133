#include "serve/about.h"

#include <sys/stat.h>

#include "arrcoc/version.h"
#include "serve/protocols/fields.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kMostText = 1 << 20;  // bytes to tokenize

}  // namespace

ModelCard card_of(const Model& model, const ModelInfo& info) {
  ModelCard out{model.name(),      info.family, info.dtype,          info.parameters,
                info.stored_bytes, 0,           model.capabilities()};
  struct stat folder {};
  if (::stat(info.folder.c_str(), &folder) == 0) out.changed = folder.st_mtime;
  return out;
}

ordered_json openai_model(const ModelCard& card) {
  return {{"id", card.name},
          {"object", "model"},
          {"created", static_cast<int64_t>(card.changed)},
          {"owned_by", "arrcoc"}};
}

ordered_json props(const ModelCard& card, const Options& options) {
  return {{"model_alias", card.name},
          {"modalities", {{"vision", true}, {"audio", false}}},
          {"build_info", std::string("arrcoc ") + kVersion},
          {"arrcoc",
           {{"policy", options.policy},
            {"budget", options.budget},
            {"takes", to_string(card.can.takes)},
            {"token_pixels", card.can.token_pixels},
            {"turns", card.can.turns},
            {"max_pictures", options.max_pictures}}}};
}

ordered_json version() { return {{"version", kVersion}}; }

ordered_json tokenize(const Model& model, const json& request) {
  fields::require_object(request);
  const char* key = fields::find(request, "content") ? "content" : "prompt";
  const bool prompt = std::string_view(key) == "prompt";
  const std::string text = fields::need_words(request, key);
  if (text.size() > kMostText) fields::wrong(key, "a string of at most 1 MB");
  for (const char* more : {"with_pieces", "return_token_strs"})
    if (fields::flag(request, more)) fields::unsupported("only the numbers of tokens are given");
  // vLLM adds special tokens unless told otherwise, llama-server only when told.
  const char* name = prompt ? "add_special_tokens" : "add_special";
  const bool special = fields::find(request, name) ? fields::flag(request, name) : prompt;
  const std::vector<int64_t> tokens = model.tokenize(text, special);
  return {{"count", tokens.size()}, {"tokens", tokens}};
}

}  // namespace arrcoc::serving
