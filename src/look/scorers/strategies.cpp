#include <utility>

#include "look/scorers/maps.h"
#include "look/scorers/scorers.h"

namespace arrcoc {

namespace scoring {

std::unique_ptr<Scorer> scorer_of(std::function<Map(const Sight&)> score, bool reads_question) {
  class Function : public Scorer {
   public:
    Function(std::function<Map(const Sight&)> score, bool reads_question)
        : score_(std::move(score)), reads_question_(reads_question) {}
    Map score(const Sight& sight) const override { return score_(sight); }
    bool reads_question() const override { return reads_question_; }

   private:
    std::function<Map(const Sight&)> score_;
    bool reads_question_;
  };
  return std::make_unique<Function>(std::move(score), reads_question);
}

}  // namespace scoring

template <>
Registry<Scorer>& registry<Scorer>() {
  static Registry<Scorer> scorers = [] {
    using namespace scoring;
    Registry<Scorer> r;
    const auto add = [&](const char* name, const char* summary, Map (*score)(const Sight&),
                         bool reads_question = false) {
      r.add(name, summary, [=] { return scorer_of(score, reads_question); });
    };
    add("shannon", "information: entropy of the luminance histogram", shannon);
    add("spectrum", "information: entropy of the magnitude spectrum", spectrum);
    add("points", "information: edges, high frequencies, nearness to edges", points);
    add("saliency", "salience: centre-surround and motion, fading outwards", saliency);
    add("print", "salience: anything that looks like print", print_map);
    r.add("lexical", "coupling: colours, shapes, places and text that the question names",
          [] { return make_lexical(); });
    add("colours", "coupling: cells of the colours that the question names", colours, true);
    add("attention", "salience: where somebody looked (--gaze) and what earlier passes read",
        attention, true);
    add("none", "a map of zeros", [](const Sight& sight) { return like(sight.shape, 0.0F); });
    return r;
  }();
  return scorers;
}

}  // namespace arrcoc
