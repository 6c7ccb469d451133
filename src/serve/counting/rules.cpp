#include "serve/counting/rules.h"

#include "arrcoc/error.h"

namespace arrcoc::serving {

Count rule_named(const std::string& kind) {
  static constexpr std::pair<const char*, Count> kRules[] = {
      {"native", count_native},
      {"smart-resize", count_smart_resize},
      {"soft-tokens", count_soft_tokens},
      {"rows", count_rows},
      {"fixed", count_fixed},
      {"tiles", count_tiles},
      {"covering-tiles", count_covering},
      {"anyres", count_anyres},
      {"split", count_split},
      {"global-and-tiles", count_global_and_tiles},
      {"global-and-rows", count_global_and_tiles},
      {"pan-and-scan", count_pan_and_scan},
      {"gpt-tiles", count_gpt_tiles},
      {"gpt-patches", count_gpt_patches},
      {"claude", count_claude},
      {"gemini", count_gemini},
  };
  for (const auto& [name, count] : kRules)
    if (kind == name) return count;
  throw Error(ErrorCode::not_found, "no rule '" + kind + "' that counts picture tokens");
}

int64_t picture_tokens(const Family& family, int width, int height, Detail detail) {
  return rule_named(family.rule.kind)(family, std::max(1, width), std::max(1, height), detail);
}

}  // namespace arrcoc::serving
