// The part of the service that talks to a hosted model.
#include <cmath>

#include "arrcoc/esper.h"
#include "serve/service.h"

namespace arrcoc::serving {

void Service::host(Asked& asked, bool answer) {
  std::vector<Map> maps;
  int budget = 0;
  for (const Ticket& ticket : asked.tickets) {
    wait_all(asked, *ticket);
    budget += ticket->outcome()->budget.tokens;
    if (hosted_->wants_maps()) maps.push_back(ticket->outcome()->relevance.map);
  }
  asked.talk =
      hosted_->start(engine(), asked.request, asked.pictures, std::move(maps), budget, answer);
}

Service::Answered Service::collect_hosted(const Asked& asked) const {
  wait_all(asked, *asked.talk);
  const hf::Turn& turn = asked.talk->turn();
  const hf::Generation& made = turn.answer.generation;
  Answered out;
  out.text = asked.talk->text();
  out.cut = !made.stopped;
  out.usage.kept = turn.tokens;
  out.usage.native = turn.native_tokens;
  out.usage.text = made.prompt_tokens - made.visual_tokens;
  out.usage.completion = static_cast<int64_t>(made.ids.size());
  for (size_t i = 0; i < turn.pictures.size(); ++i) {
    const hf::Sighting& seen = turn.pictures[i];
    auto outcome = std::make_shared<Outcome>(*asked.tickets[i]->outcome());
    Pass pass;
    pass.allocation = seen.allocation;
    pass.answer = out.text;
    pass.uncertainty = esper::uncertainty(made.probability);
    pass.confidence = 1 - pass.uncertainty;
    outcome->relevance.map = seen.relevance;
    outcome->kept = seen.features.size();
    outcome->native = seen.native_tokens;
    outcome->answer.text = out.text;
    outcome->answer.confidence = static_cast<float>(pass.confidence);
    outcome->passes = {std::move(pass)};
    outcome->best = 0;
    outcome->stopped = "passes";
    outcome->stages.insert(outcome->stages.end(), turn.stages.begin(), turn.stages.end());
    out.outcomes.push_back(std::move(outcome));
  }
  return out;
}

}  // namespace arrcoc::serving
