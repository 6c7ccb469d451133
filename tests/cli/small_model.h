// A random checkpoint of a golden family with its tokenizer, as it would come from the hub.
#pragma once

#include <gtest/gtest.h>

#include "cli/process.h"
#include "hf/small_folder.h"
#include "places.h"

namespace arrcoc::test {

inline std::string make_model(const Folder& folder, const std::string& family) {
  namespace support = arrcoc::testing_support;
  const std::string goldens = places::data() + "/goldens";
  const std::string model = folder / family;
  std::ofstream(folder / "config.json") << support::small_config(goldens, family).dump();
  const Outcome made = run_arrcoc("models init --config " + (folder / "config.json") + " --out " +
                                  model + " --dtype float32 --seed 1");
  EXPECT_EQ(made.code, 0) << made.err;
  std::ofstream(model + "/tokenizer.json") << support::small_tokenizer(goldens, family).dump();
  return model;
}

}  // namespace arrcoc::test
