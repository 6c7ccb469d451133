// Reading JSON that others wrote.
#include "base/json.h"

#include <gtest/gtest.h>

#include "arrcoc/allocate.h"

using namespace arrcoc;

namespace {

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::bad_json);
    return problem.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

}  // namespace

TEST(Json, NestingIsBoundedBeforeParsing) {
  EXPECT_NO_THROW(parse_json("[[[]]]", "it", 3));
  EXPECT_NE(refusal([] { parse_json("[[[[]]]]", "it", 3); }).find("deeper than 3"),
            std::string::npos);
  EXPECT_NO_THROW(parse_json(R"(["[[[[[[", "\"[[[[["])", "it", 3));  // brackets in strings
  EXPECT_THROW(parse_json(std::string(1000000, '['), "it"), Error);
  EXPECT_THROW(parse_json("{\"a\": \xFF}", "it"), Error);
}

TEST(Json, ValuesHaveTheirTypesAndRanges) {
  int whole = 0;
  float number = 0;
  uint64_t seed = 0;
  bool flag = false;
  std::string text;
  std::vector<std::string> list;
  SplitGain gain = SplitGain::peak;
  read_value("it", "k", json(7), whole);
  EXPECT_EQ(whole, 7);
  read_value("it", "k", json("mass"), gain);
  EXPECT_EQ(gain, SplitGain::mass);
  for (const json& bad : {json("x"), json(1.5), json(1e12), json(nullptr), json(uint64_t{1} << 63)})
    EXPECT_THROW(read_value("it", "k", bad, whole), Error) << bad;
  EXPECT_THROW(read_value("it", "k", json(-1), seed), Error);
  EXPECT_THROW(read_value("it", "k", json(1e300), number), Error);
  EXPECT_THROW(read_value("it", "k", json(1), flag), Error);
  EXPECT_THROW(read_value("it", "k", json(1), text), Error);
  EXPECT_THROW(read_value("it", "k", json({"a", 1}), list), Error);
  EXPECT_NE(refusal([&] { read_value("it", "k", json("sum"), gain); }).find("peak, mass"),
            std::string::npos);
}

TEST(Json, FieldsAreReadOnceAndWhatIsLeftOverIsNamed) {
  double slope = 1, absent = 5;
  JsonFields fields = JsonFields::parse("it", R"({"slope": 2, "note": [], "colour": 1})");
  fields.number("slope", slope, 0, 10).number("absent", absent, 0, 10).ignore("note");
  EXPECT_EQ(slope, 2);
  EXPECT_EQ(absent, 5);
  EXPECT_NE(refusal([&] { fields.done(); }).find("'colour'"), std::string::npos);
  EXPECT_NE(refusal([&] { fields.number("slope", slope, 3, 10); }).find("from 3 to 10"),
            std::string::npos);
  EXPECT_THROW(JsonFields::parse("it", "[]"), Error);
}
