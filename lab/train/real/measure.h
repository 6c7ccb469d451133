// How well real questions are answered, on pictures that were held aside.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lab/train/pool.h"

namespace arrcoc::training::real {

struct Result {          // of one question
  uint64_t picture = 0;  // the sample's ticket
  std::string set, intent, question, wanted, given;
  double likelihood = 0;                    // product of the characters' probabilities
  double anls = 0, exact = 0, relaxed = 0;  // best over the accepted answers
  double recall = -1, pointing = -1;        // -1 without a box
  int tokens = 0;
};

struct Score {
  int questions = 0, answered = 0, boxes = 0;
  double anls = 0, exact = 0, relaxed = 0;  // means over questions with an answer
  double recall = 0, pointing = 0;          // means over questions with a box
};
std::map<std::string, Score> scores_of(const std::vector<Result>& results);

struct Budgets {
  int pages = 400;  // sets of documents, and pictures whose native longer side is over 1024
  int others = 180;
  int places = 100;  // questions that ask for a place alone
};

// Every question of the samples, by the realizer's maps; with `oracle` by their boxes where they
// are known. The pool has room for a few pictures and is overwritten.
std::vector<Result> measure(const tiny::RealizerNet& realizer, const tiny::Tensors& look,
                            const tiny::Answerer& answerer, const tiny::Tensors& write, Pool& pool,
                            const std::vector<std::shared_ptr<const Sample>>& samples,
                            at::ScalarType type, const Budgets& budgets, bool oracle = false);

// One line a set.
std::string table(const std::map<std::string, Score>& scores);

}  // namespace arrcoc::training::real
