// Comparing a tokenizer with what the reference wrote down.
#include "arrcoc/model.h"
#include "models/settings.h"
#include "models/tokenizers/tokenizer.h"

namespace arrcoc {

// golden: a list of {"text", "ids", "decoded"}, the last one optional.
std::vector<TensorCheck> check_tokenizer(const std::string& path, const std::string& golden) {
  const auto tokenizer = load_tokenizer(path);
  const json cases = Settings::read(golden);
  if (!cases.is_array() || cases.empty())
    throw Error(ErrorCode::bad_json, golden + ": not a list of cases");
  std::vector<TensorCheck> out;
  for (size_t i = 0; i < cases.size(); ++i) {
    TensorCheck& check = out.emplace_back();
    check.name = "case " + std::to_string(i);
    try {
      const Settings one(cases[i], golden);
      const auto text = one.get<std::string>("text");
      const auto ids = one.wholes("ids", 0, INT32_MAX);
      if (tokenizer->encode(text) != ids) check.problem = "other ids for " + json(text).dump();
      const std::string decoded = tokenizer->decode(ids);
      if (one.get("decoded", decoded) != decoded)
        check.problem = "other text for " + one.need("decoded").dump();
    } catch (const Error& error) {
      check.problem = error.what();
    }
  }
  return out;
}

}  // namespace arrcoc
