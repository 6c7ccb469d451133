#include "serve/discovery.h"

#include "arrcoc/error.h"
#include "serve/counting/rules.h"
#include "serve/http_exchange.h"

namespace arrcoc::serving {

namespace {

constexpr auto kTimeout = std::chrono::seconds(2);
constexpr std::chrono::seconds kFresh(600), kAgain(30);
constexpr size_t kLargest = 1 << 20, kMostModels = 1024;

std::string text_of(const json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

// Since 0.30.0 Ollama leaves pictures to llama-server (ollama/ollama#16031).
bool runs_llama_server(const std::string& version) {
  int major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2) return false;
  return major > 0 || minor >= 30;
}

// Ollama: llm/llama_server.go qwenVLServerArgs starts these with --image-min-tokens 1024; not
// Qwen3.5.
constexpr int kOllamaQwen = 1024;
bool has_ollama_floor(const Family& family) {
  return family.name == "qwen2-vl" || family.name == "qwen3-vl";
}

}  // namespace

Discovery::Discovery(Connect connect, std::string base, httplib::Headers headers)
    : connect_(std::move(connect)), base_(std::move(base)), headers_(std::move(headers)) {}

// POST where there is a body.
Discovery::Heard Discovery::get(const std::string& path, const json& body) const {
  httplib::Request request;
  request.method = body.is_null() ? "GET" : "POST";
  request.path = path;
  request.headers = headers_;
  if (!body.is_null()) {
    request.body = body.dump();
    request.set_header("Content-Type", "application/json");
  }
  auto client = connect_();
  client->set_connection_timeout(kTimeout);
  client->set_read_timeout(kTimeout);
  client->set_write_timeout(kTimeout);
  const auto until = Clock::now() + kTimeout;
  HttpExchange exchange(threads_, std::move(client), std::move(request));
  Heard out;
  if (exchange.wait_head(until) != HttpExchange::Head::there) return out;
  out.reached = true;
  if (exchange.status() != 200) return out;
  std::string text;
  auto state = HttpExchange::Body::more;
  while (state == HttpExchange::Body::more && text.size() <= kLargest && Clock::now() < until)
    state = exchange.take(until, text);
  if (state != HttpExchange::Body::ended || text.size() > kLargest) return out;
  try {
    out.data = parse_json(text, "the upstream's " + path);
  } catch (const Error&) {
  }
  if (!out.data.is_object()) out.data = nullptr;
  return out;
}

Discovery::Told Discovery::ask() const {
  Told out;
  const Heard models = get(base_ + "/models");
  if (!models.reached) return out;
  const json list = models.data.is_null() ? json() : models.data.value("data", json());
  std::string owner;
  for (const json& model : list.is_array() ? list : json::array()) {
    if (out.roots.size() >= kMostModels) break;
    const std::string id = text_of(model, "id"), root = text_of(model, "root");
    if (!id.empty() && !root.empty()) out.roots[id] = root;
    if (owner.empty()) owner = text_of(model, "owned_by");
  }
  out.anything = list.is_array();
  if (owner == "vllm" || owner == "sglang") return out;  // they have no such paths
  if (const json props = get("/props").data; !props.is_null()) {
    out.file = text_of(props, "model_path");
    out.anything = true;
    if (!out.file.empty() || owner == "llamacpp") out.server = Server::llama_cpp;
    return out;
  }
  if (const json version = get("/api/version").data; !version.is_null()) {
    out.anything = true;
    if (runs_llama_server(text_of(version, "version"))) out.server = Server::ollama;
  }
  return out;
}

std::string Discovery::architecture(const std::string& model) {
  const auto known = architectures_.find(model);
  if (known != architectures_.end()) return known->second;
  if (architectures_.size() >= kMostModels) architectures_.clear();
  const json shown = get("/api/show", json{{"model", model}}).data;
  const json info = shown.is_null() ? json() : shown.value("model_info", json());
  return architectures_[model] = text_of(info, "general.architecture");
}

Family Discovery::family(const std::string& model) {
  Family out = family_of(model);
  if (is_hosted(out)) return out;
  const std::scoped_lock lock(mutex_);
  try {
    if (Clock::now() >= until_) {
      told_ = ask();
      architectures_.clear();
      until_ = Clock::now() + (told_.anything ? kFresh : kAgain);
    }
    if (const auto root = told_.roots.find(model);
        out.name == "unknown" && root != told_.roots.end())
      out = family_of(root->second);
    if (out.name == "unknown" && !told_.file.empty()) out = family_of(told_.file);
    if (out.name == "unknown" && told_.server == Server::ollama)
      out = family_of(architecture(model));
  } catch (const std::exception&) {  // no thread, no memory: the name has to do
    return out;
  }
  if (told_.server == Server::unknown || is_hosted(out)) return out;
  out = on_llama_cpp(std::move(out));
  if (told_.server == Server::ollama && has_ollama_floor(out)) out.limits.min_tokens = kOllamaQwen;
  return out;
}

}  // namespace arrcoc::serving
