// What an upstream tells about itself without being asked a question.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "arrcoc/serve.h"
#include "base/json.h"
#include "serve/http.h"
#include "serve/spare_threads.h"

namespace arrcoc::serving {

// Asks llama-server's /props, Ollama's /api/version and /api/show, and /v1/models of whoever has
// it, when it is first needed and then once in a while. Never throws: an upstream that is away or
// tells nothing is asked again half a minute later. Any thread.
class Discovery {
 public:
  using Connect = std::function<std::unique_ptr<httplib::Client>()>;
  // base: where /models is, "/v1". Each question takes at most 2 s and reads at most 1 MB.
  Discovery(Connect connect, std::string base, httplib::Headers headers);

  // The family of a model by its name, by what it was made from (vLLM's root, llama-server's file,
  // Ollama's architecture), counted as that server counts.
  Family family(const std::string& model);

 private:
  enum class Server { unknown, llama_cpp, ollama };
  struct Told {
    Server server = Server::unknown;
    std::string file;                          // llama-server's model_path
    std::map<std::string, std::string> roots;  // by model id
    bool anything = false;
  };

  Told ask() const;
  std::string architecture(const std::string& model);  // Ollama's; "" when it tells none
  struct Heard {
    bool reached = false;  // it answered something
    json data;             // null unless that was a JSON object with status 200
  };
  Heard get(const std::string& path, const json& body = {}) const;

  const Connect connect_;
  const std::string base_;
  const httplib::Headers headers_;
  std::mutex mutex_;  // held while asking: whoever comes meanwhile waits for the same answer
  Told told_;
  Clock::time_point until_;
  std::map<std::string, std::string> architectures_;
  mutable SpareThreads threads_;
};

}  // namespace arrcoc::serving
