// A strict double of the OpenAI protocol: refuses whatever the protocol does not name, counts
// picture tokens as a Qwen2.5-VL would, and fails on demand.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "arrcoc/media.h"
#include "support.h"

namespace arrcoc::serving::test {

class Double {
 public:
  struct Behaviour {
    int failures = 0;             // 500 so many times first
    bool one_picture = false;     // 400 for a message with more than one picture
    bool dies = false;            // breaks off in the middle of a stream
    bool silent = false;          // never answers
    int always = 0;               // this status, always
    bool reports_images = false;  // usage with prompt_tokens_details.image_tokens
    bool no_usage = false;        // replies without any
    bool deep = false;            // replies that are nested without end
  };

  explicit Double(Behaviour behaviour) : behaviour_(behaviour), failures_(behaviour.failures) {
    server_.Post("/v1/chat/completions",
                 [this](const auto& request, auto& response) { chat(request, response); });
    server_.Get("/v1/models", [](const auto&, auto& response) {
      response.set_content(
          R"({"object":"list","data":[{"id":"Qwen2.5-VL-double","object":"model"}]})",
          "application/json");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Double() {
    stopping_ = true;
    server_.stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int requests() const { return requests_; }
  int picture_tokens() const { return picture_tokens_; }  // of the last request
  int pictures() const { return pictures_; }
  json last() const {
    const std::scoped_lock lock(mutex_);
    return last_;
  }
  std::string key() const {
    const std::scoped_lock lock(mutex_);
    return key_;
  }
  httplib::Headers headers() const {
    const std::scoped_lock lock(mutex_);
    return headers_;
  }

 private:
  static void refuse(httplib::Response& response, int status, const std::string& words) {
    response.status = status;
    response.set_content(
        json{{"error", {{"message", words}, {"type", "invalid_request_error"}, {"code", "double"}}}}
            .dump(),
        "application/json");
  }

  // "" or what is wrong with it.
  std::string mistake(const json& body) {
    static const std::set<std::string> known = {
        "model",      "messages",    "stream", "stream_options",
        "max_tokens", "temperature", "n",      "max_completion_tokens",
        "seed",       "top_p"};
    for (const auto& [key, value] : body.items())
      if (!known.count(key)) return "unknown key " + key;
    if (!body.contains("model") || !body["messages"].is_array()) return "model or messages missing";
    pictures_ = picture_tokens_ = 0;
    for (const json& message : body["messages"]) {
      if (!message["content"].is_array()) continue;
      for (const json& part : message["content"]) {
        if (part["type"] == "text" && part["text"].is_string() && part.size() == 2) continue;
        if (part["type"] != "image_url" || part.size() != 2) return "unknown part";
        const auto bytes = data_url_bytes(part["image_url"]["url"].get<std::string>());
        const auto probe = media::probe(bytes);
        ++pictures_;
        picture_tokens_ += static_cast<int>(
            serving::picture_tokens(family_named("qwen2-vl"), probe.width, probe.height));
      }
    }
    return behaviour_.one_picture && pictures_ > 1 ? "only one picture" : "";
  }

  json usage() const {
    json out = {{"prompt_tokens", picture_tokens_ + 20},
                {"completion_tokens", 3},
                {"total_tokens", picture_tokens_ + 23}};
    if (behaviour_.reports_images)
      out["prompt_tokens_details"] = {{"image_tokens", picture_tokens_.load()}};
    return out;
  }

  void chat(const httplib::Request& request, httplib::Response& response) {
    ++requests_;
    while (behaviour_.silent && !stopping_)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (behaviour_.always) return refuse(response, behaviour_.always, "always so");
    if (failures_-- > 0) return refuse(response, 500, "not yet");
    const json body = json::parse(request.body, nullptr, false);
    {
      const std::scoped_lock lock(mutex_);
      last_ = body;
      key_ = request.get_header_value("Authorization");
      headers_ = request.headers;
    }
    const std::string wrong = body.is_object() ? mistake(body) : "no JSON";
    if (!wrong.empty()) return refuse(response, 400, wrong);
    if (body.value("stream", false)) return stream(body, response);
    if (behaviour_.deep) return response.set_content(std::string(1000000, '['), "application/json");
    json reply = {{"id", "chatcmpl-XyZ1"},
                  {"object", "chat.completion"},
                  {"created", 1},
                  {"model", body["model"]},
                  {"choices",
                   {{{"index", 0},
                     {"message", {{"role", "assistant"}, {"content", "forty two"}}},
                     {"finish_reason", "stop"}}}}};
    if (!behaviour_.no_usage) reply["usage"] = usage();
    response.set_content(reply.dump(), "application/json");
  }

  void stream(const json& body, httplib::Response& response) {
    std::vector<std::string> out;
    for (const char* word : {"forty", " ", "two"})
      out.push_back(
          "data: " +
          json{{"id", "chatcmpl-XyZ1"},
               {"object", "chat.completion.chunk"},
               {"model", body["model"]},
               {"choices",
                {{{"index", 0}, {"delta", {{"content", word}}}, {"finish_reason", nullptr}}}}}
              .dump() +
          "\n\n");
    out.push_back(
        "data: " +
        json{{"id", "chatcmpl-XyZ1"},
             {"object", "chat.completion.chunk"},
             {"choices", {{{"index", 0}, {"delta", json::object()}, {"finish_reason", "stop"}}}}}
            .dump() +
        "\n\n");
    if (body.contains("stream_options"))
      out.push_back("data: " +
                    json{{"id", "chatcmpl-XyZ1"},
                         {"object", "chat.completion.chunk"},
                         {"choices", json::array()},
                         {"usage", usage()}}
                        .dump() +
                    "\n\n");
    out.push_back("data: [DONE]\n\n");
    const bool dies = behaviour_.dies;
    response.set_chunked_content_provider("text/event-stream",
                                          [out, dies](size_t, httplib::DataSink& sink) {
                                            for (size_t i = 0; i < out.size(); ++i) {
                                              if (dies && i == 2) return false;
                                              // In two pieces, so that events arrive broken.
                                              sink.write(out[i].data(), 9);
                                              sink.write(out[i].data() + 9, out[i].size() - 9);
                                            }
                                            sink.done();
                                            return true;
                                          });
  }

  Behaviour behaviour_;
  std::atomic<int> failures_, requests_{0}, pictures_{0}, picture_tokens_{0};
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  json last_;
  std::string key_;
  httplib::Headers headers_;
  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
};

}  // namespace arrcoc::serving::test
