#include "allocate/random.h"
#include "allocate/selection.h"
#include "allocate/strategies.h"
#include "allocate/tree.h"

namespace arrcoc::allocating {

namespace {

// Draws `budget` cells without replacement with probabilities softmax(relevance / temperature), by
// the Gumbel top-k trick. As the temperature falls this becomes the plain top-k.
class Soft : public Allocator {
 public:
  bool tiles() const override { return false; }
  Allocation allocate(const Relevance& relevance, const Geometry& geometry, const Budget& budget,
                      const AllocateOptions& options) const override {
    const Field field(relevance.map, geometry);
    const Selection from = selection(field, geometry, budget.tokens);
    std::vector<float> scores = from.relevance;
    for (size_t i = 0; i < scores.size(); ++i) {
      // Times the temperature throughout, which keeps the order and small temperatures finite.
      scores[i] += static_cast<float>(options.temperature * random_gumbel(options.seed, i));
    }
    const auto chosen = top(scores, static_cast<size_t>(budget.tokens));
    return finish(cells_of(from, chosen), field, geometry, budget, "soft");
  }
};

}  // namespace

std::unique_ptr<Allocator> make_soft() { return std::make_unique<Soft>(); }

}  // namespace arrcoc::allocating
