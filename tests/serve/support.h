// A running server and what a client needs to talk to it.
#pragma once

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "arrcoc/serve.h"
#include "folder.h"
#include "places.h"
#include "serve/encoding.h"

namespace arrcoc::serving::test {

using nlohmann::json;

inline std::string source(const std::string& path) { return places::sources() + "/" + path; }

inline std::vector<uint8_t> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A bundled picture as a data: URL.
inline std::string picture_url(const std::string& name = "receipt.jpg") {
  return "data:image/jpeg;base64," + to_base64(bytes_of(source("examples/pictures/" + name)));
}

using arrcoc::test::Folder;

inline Options usual_options() {
  Options options;
  options.port = 0;
  options.tiny = source("models/tiny");
  options.log_share = 0;
  return options;
}

inline std::string metric_at(int port, const std::string& line_start) {
  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(300);
  const auto reply = client.Get("/metrics");
  std::istringstream in(reply ? reply->body : "");
  for (std::string line; std::getline(in, line);)
    if (line.rfind(line_start + " ", 0) == 0) return line.substr(line_start.size() + 1);
  return "";
}

// Returns when `count` requests have been read by the server or are over: `over` counts these.
inline void wait_until_inside(int port, int count, const std::atomic<int>& over) {
  while (true) {
    const int done = over;  // first, so that none counts twice
    const std::string running = metric_at(port, "arrcoc_requests_running");
    if (done + (running.empty() ? 0 : std::stoi(running)) >= count) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// A server on a free port, ready.
class Running {
 public:
  explicit Running(const Options& options = usual_options())
      : server_(options, [this](const std::string& line) {
          const std::scoped_lock lock(mutex_);
          lines_ += line + "\n";
        }) {
    server_.start();
    server_.wait_ready();
  }
  Server& server() { return server_; }
  int port() const { return server_.port(); }
  std::string origin() const { return "http://127.0.0.1:" + std::to_string(port()); }
  std::string lines() {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }
  httplib::Client client() const {
    httplib::Client out("127.0.0.1", port());
    out.set_read_timeout(300);
    return out;
  }
  httplib::Result post(const std::string& path, const json& body) const {
    return client().Post(path, body.dump(), "application/json");
  }
  json ask(const json& body) const {
    const auto reply = post("/v1/chat/completions", body);
    if (!reply) throw std::runtime_error("no reply: " + httplib::to_string(reply.error()));
    EXPECT_EQ(reply->status, 200) << reply->body;
    return json::parse(reply->body);
  }
  std::string metric(const std::string& line_start) const { return metric_at(port(), line_start); }

 private:
  std::mutex mutex_;
  std::string lines_;
  Server server_;
};

inline json image(const std::string& url) {
  return {{"type", "image_url"}, {"image_url", {{"url", url}}}};
}
inline json text(const std::string& words) { return {{"type", "text"}, {"text", words}}; }

// One question about one picture.
inline json question(const std::string& words = "What is the total?",
                     const std::string& url = picture_url()) {
  return {{"model", "arrcoc-tiny"},
          {"messages", {{{"role", "user"}, {"content", {image(url), text(words)}}}}}};
}

// The data of every event of a stream.
inline std::vector<std::string> events(const std::string& body) {
  std::vector<std::string> out;
  for (size_t at = 0; at < body.size();) {
    const size_t end = std::min(body.find("\n\n", at), body.size());
    const std::string event = body.substr(at, end - at);
    if (event.rfind("data: ", 0) == 0) out.push_back(event.substr(6));
    at = end + 2;
  }
  return out;
}

inline std::string error_code(const httplib::Result& reply) {
  const json body = json::parse(reply->body, nullptr, false);
  return body.is_object() && body.contains("error") ? body["error"].value("code", "") : "";
}

}  // namespace arrcoc::serving::test
