// Any body is a request or an error in the protocol's form, whichever protocol it is read in, its
// data: URLs are bytes or an error, and it has a budget.
#include <cstdint>
#include <string>

#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/protocols/protocol.h"
#include "serve/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace arrcoc;
  using namespace arrcoc::serving;
  try {
    const json body = parse_json(std::string(reinterpret_cast<const char*>(data), size), "it");
    const auto quietly = [&](auto&& parse, const Protocol& protocol = openai_chat()) {
      try {
        parse(body);
      } catch (const ApiError& e) {
        if (e.status() != 400 || !json::accept(protocol.error(e))) __builtin_trap();
      } catch (const arrcoc::Error&) {
      }
    };
    quietly([](const json& b) { parse_relevance(b); });
    quietly([](const json& b) { parse_feedback(b); });
    for (const Endpoint& at : endpoints()) {
      const auto read = [&at](const json& b) {
        const ChatRequest request = at.protocol.parse(b, at.counts);
        const Knobs knobs = request.knobs("");
        if (knobs.pictures.size() != request.pictures().size()) __builtin_trap();
        if (budget_of(knobs, 16, "", "auto").empty()) __builtin_trap();
        for (const std::string* url : request.pictures()) data_url_bytes(*url);
        request.question();
        Said said;
        said.text = request.question().text;
        dump(at.protocol.whole(request, said));
        const auto events = at.protocol.events(request, "id");
        if (events->text(said.text).empty() || events->end(said).empty()) __builtin_trap();
      };
      quietly(read, at.protocol);
    }
  } catch (const arrcoc::Error&) {
  }
  return 0;
}
