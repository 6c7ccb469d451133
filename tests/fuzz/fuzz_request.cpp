// Any body is a request or an error in OpenAI's form, and its data: URLs are bytes or an error.
#include <cstdint>
#include <string>

#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace arrcoc;
  using namespace arrcoc::serving;
  try {
    const json body = parse_json(std::string(reinterpret_cast<const char*>(data), size), "it");
    const auto quietly = [&](auto&& parse) {
      try {
        parse(body);
      } catch (const ApiError& e) {
        if (e.status() != 400 || !json::accept(e.body())) __builtin_trap();
      } catch (const arrcoc::Error&) {
      }
    };
    quietly([](const json& b) { parse_relevance(b); });
    quietly([](const json& b) { parse_feedback(b); });
    quietly([](const json& b) {
      const ChatRequest request = parse_chat(b);
      for (const std::string* url : request.pictures()) data_url_bytes(*url);
      request.question();
    });
  } catch (const arrcoc::Error&) {
  }
  return 0;
}
