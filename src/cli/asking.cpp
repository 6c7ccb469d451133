#include "cli/asking.h"

#include "arrcoc/error.h"

namespace arrcoc::cli {

std::shared_ptr<const answering::Answerer> answerer() {
  static const auto loaded = answering::Answerer::load();
  return loaded;
}

answering::AskOptions ask_options(const std::string& policy, const nlohmann::json& given) {
  answering::AskOptions out = answering::options_for(policy);
  nlohmann::json fields = nlohmann::json::parse(to_json(out.look));
  fields.update(given);
  fields.erase("policy");
  out.look = options_from_json(fields.dump());
  out.look.policy = out.policy;
  return out;
}

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> out(1);
  for (char c : list) {
    if (c == ',') {
      out.emplace_back();
    } else if (c != ' ') {
      out.back() += c;
    }
  }
  for (const std::string& name : out)
    if (name.empty()) throw Error(ErrorCode::bad_argument, "an empty name in '" + list + "'");
  return out;
}

}  // namespace arrcoc::cli
