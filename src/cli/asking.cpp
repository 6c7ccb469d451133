#include "cli/asking.h"

#include <algorithm>

#include "arrcoc/error.h"
#include "ask/plan.h"

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

void require_effect(const std::vector<std::string>& policies, const nlohmann::json& given) {
  for (const std::string& policy : policies)
    if (answering::source_of(policy) == answering::Source::pipeline) return;
  for (const char* key : {"channels", "providers", "information", "salience", "coupling",
                          "balancer", "preset", "sigmoid_weights", "void_variance", "cell"}) {
    if (!given.contains(key)) continue;
    std::string flag = key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    throw Error(ErrorCode::bad_argument,
                "--" + flag + " changes nothing under policy " + policies.front() +
                    ", whose map is not made by the scorers; try --policy lexical or coupling");
  }
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
  for (const std::string& name : out) {
    if (name.empty()) throw Error(ErrorCode::bad_argument, "an empty name in '" + list + "'");
    if (std::count(out.begin(), out.end(), name) > 1)
      throw Error(ErrorCode::bad_argument, "'" + name + "' is named twice");
  }
  return out;
}

}  // namespace arrcoc::cli
