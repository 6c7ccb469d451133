// Any line is a message or a JSON-RPC error, and any message has a result or one, in whichever era.
#include <cstdint>
#include <string_view>

#include "serve/mcp/message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace arrcoc;
  using namespace arrcoc::serving::mcp;
  json id;
  std::string said;
  try {
    const Message message = parse_message({reinterpret_cast<const char*>(data), size});
    id = message.id;
    Calls calls;
    calls.cancel(message.params.value("requestId", json()));
    if (message.kind != Kind::request) return 0;
    const Calls::Flag flag = calls.begin(id);
    calls.cancel(id);
    if (!*flag) __builtin_trap();
    if (message.modern()) require_modern(message);
    said = reply_text(id, result_of(message, [](const auto& name, const auto& arguments) {
                        return ordered_json{{"name", name}, {"arguments", arguments}};
                      }));
  } catch (const RpcError& problem) {
    said = reply_text(id.is_null() ? problem.id : id, problem);
  }
  const json reply = json::parse(said);
  if (reply["jsonrpc"] != "2.0" || reply.contains("result") == reply.contains("error"))
    __builtin_trap();
  if (said.find('\n') != std::string::npos) __builtin_trap();
  return 0;
}
