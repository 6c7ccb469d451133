// What people ask of a film's time, and what they do not.
#include <gtest/gtest.h>

#include "arrcoc/moments.h"

using namespace arrcoc;
using filming::Asks;
using filming::Plan;
using Things = std::vector<std::string>;

namespace {

std::optional<Plan> plan(const char* text) { return filming::plan_of(parse_query(text)); }

void expect(const char* text, Asks asks, const Things& things) {
  SCOPED_TRACE(text);
  const auto found = plan(text);
  ASSERT_TRUE(found);
  EXPECT_STREQ(to_string(found->asks), to_string(asks));
  EXPECT_EQ(found->things, things);
}

void expect_part(const char* text, const char* each, std::optional<int> shot, bool end = false) {
  SCOPED_TRACE(text);
  const auto found = plan(text);
  ASSERT_TRUE(found);
  EXPECT_STREQ(to_string(found->asks), "part");
  EXPECT_EQ(found->each, each);
  EXPECT_EQ(found->shot, shot);
  EXPECT_EQ(found->end, end);
}

}  // namespace

TEST(Plan, WhereSomethingGoes) {
  expect("Which way did the red car turn?", Asks::direction, {"red car"});
  expect("Is the man with the hat walking left or right?", Asks::direction, {"man with the hat"});
  expect("where's the dog running to", Asks::direction, {"dog"});
  expect("Does the lift go up or down?", Asks::direction, {"lift"});
  expect("In which direction is the ear of corn rolling?", Asks::direction, {"ear of corn"});
}

TEST(Plan, WhatComesFirst) {
  expect("Who arrives first, the dog or the cat?", Asks::first, {"dog", "cat"});
  expect("Which did we see earlier: hot dog, yo-yo or traffic light?", Asks::first,
         {"hot dog", "yo-yo", "traffic light"});
  expect("Of the bus and the tram, which one came last?", Asks::last, {"bus", "tram"});
  expect("Does the waiter come before the cook?", Asks::before, {"waiter", "cook"});
  expect("Did the train pass after the bus?", Asks::after, {"train", "bus"});
}

TEST(Plan, WhenSomethingComesOrGoes) {
  expect("When does the postman show up?", Asks::comes, {"postman"});
  expect("At what point does the fly enter?", Asks::comes, {"fly"});
  expect("how long until the kettle appears?", Asks::comes, {"kettle"});
  expect("when did the cat leave", Asks::goes, {"cat"});
  expect("When do we last see the tiger?", Asks::goes, {"tiger"});
  expect("When is the cup not visible anymore?", Asks::goes, {"cup"});
}

TEST(Plan, WhatChanges) {
  expect("What new thing turned up?", Asks::appears, {});
  expect("Who came in?", Asks::appears, {});
  expect("what went missing", Asks::disappears, {});
  expect("What did disappear between the start and the end?", Asks::disappears, {});
  expect("Is anything different? What changed?", Asks::changed, {});
}

TEST(Plan, HowManyOverTime) {
  expect("How many people walked past in the video?", Asks::count, {"people"});
  expect("Count the cars that drive by.", Asks::count, {"cars"});
  expect("How many trams came altogether?", Asks::count, {"trams"});
  expect("How many cuts does it have?", Asks::cuts, {});
  expect("How many scenes are in the film?", Asks::shots, {});
}

TEST(Plan, APartOfTheFilm) {
  expect_part("What is the price in the second shot?", "What is the price?", 1);
  expect_part("What does the sign say at the beginning of the film?", "What does the sign say?",
              std::nullopt);
  expect_part("At the end, where is the ball?", "Where is the ball?", std::nullopt, true);
  expect_part("What colour is the car in the last frame?", "What colour is the car?", std::nullopt,
              true);
  expect_part("Who is shown before the cut?", "Who is shown?", 0);
  expect_part("What is the title of the final scene?", "What is the title?", -1, true);
  expect_part("Where does the ball end up?", "Where is the ball?", std::nullopt, true);
  expect("Which scene shows the lighthouse?", Asks::shot, {"lighthouse"});
}

// One frame answers these.
TEST(Plan, QuestionsForPicturesHaveNone) {
  for (const char* text : {"What does the sign say?",
                           "Where is the tiger?",
                           "How many goats are there?",
                           "What colour is the car?",
                           "What is the total?",
                           "the person crossing the street",
                           "Who is at the door?",
                           "When does the shop open?",
                           "What does the picture show?",
                           "What is the price of the second item?",
                           "Which is cheaper, the apple or the pear?",
                           "What is at the end of the street?",
                           "What happens here?",
                           "What is the first name?",
                           "What is the phone number?",
                           "Is the door left open?",
                           "What is shown on the screen?",
                           "Which animal is on the right?",
                           "What is the largest object?",
                           "Read the sign.",
                           "What is the expiry date?",
                           "Does the bill include tax?",
                           "What number is on the bus?"})
    EXPECT_FALSE(plan(text)) << text << ": " << to_string(plan(text)->asks);
}
