// Stands in for the tokenizers in builds without ICU: models can be opened, checked and measured,
// but not talked to.
#include "models/tokenizers/tokenizer.h"

#include "arrcoc/error.h"
#include "arrcoc/model.h"

namespace arrcoc {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::unsupported,
              "this build has no tokenizers: install ICU and configure with ARRCOC_TOKENIZERS=ON");
}

class NoTokenizer : public Tokenizer {
 public:
  std::vector<int64_t> encode(std::string_view, bool) const override { refuse(); }
  std::string decode(const std::vector<int64_t>&, bool) const override { refuse(); }
  std::optional<int64_t> id_of(const std::string&) const override { refuse(); }
  std::optional<std::string> token_of(int64_t) const override { refuse(); }
  bool is_special(int64_t) const override { refuse(); }
  size_t size() const override { refuse(); }
};

}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string&) {
  return std::make_shared<NoTokenizer>();
}

std::shared_ptr<const Tokenizer> parse_tokenizer(std::string_view, const std::string&) {
  return std::make_shared<NoTokenizer>();
}

std::vector<TensorCheck> check_tokenizer(const std::string&, const std::string&) { refuse(); }

}  // namespace arrcoc
