// An upstream that writes down every byte that it gets and answers as it is told.
#pragma once

#include <mutex>
#include <thread>

#include "arrcoc/media.h"
#include "support.h"

namespace arrcoc::serving::test {

// httplib takes multipart bodies apart unless it does not know what they are.
struct RawBody {
  explicit RawBody(const httplib::Request& request)
      : given(const_cast<httplib::Request&>(request)) {
    type = given.get_header_value("Content-Type");
    given.headers.erase("Content-Type");
  }
  ~RawBody() {
    if (!type.empty()) given.headers.emplace("Content-Type", type);
  }
  httplib::Request& given;
  std::string type;
};

class Recording {
 public:
  struct Got {
    std::string method, target, body;
    httplib::Headers headers;
    std::string header(const std::string& name) const {
      const auto found = headers.find(name);
      return found == headers.end() ? "" : found->second;
    }
  };
  using Answer = std::function<void(const Got&, httplib::Response&)>;

  explicit Recording(Answer answer = {}) : answer_(std::move(answer)) {
    const auto bare = [this](const httplib::Request& request, httplib::Response& response) {
      take(request, "", response);
    };
    const auto with_body = [this](const httplib::Request& request, httplib::Response& response,
                                  const httplib::ContentReader& reader) {
      std::string body;
      {
        const RawBody raw(request);
        reader([&](const char* data, size_t size) {
          body.append(data, size);
          return true;
        });
      }
      take(request, body, response);
    };
    server_.Get(".*", bare);
    server_.Options(".*", bare);
    server_.Post(".*", with_body);
    server_.Put(".*", with_body);
    server_.Patch(".*", with_body);
    server_.Delete(".*", with_body);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Recording() {
    server_.stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  size_t count() const {
    const std::scoped_lock lock(mutex_);
    return got_.size();
  }
  size_t count(const std::string& method, const std::string& target) const {
    const std::scoped_lock lock(mutex_);
    size_t out = 0;
    for (const Got& got : got_) out += got.method == method && got.target == target;
    return out;
  }
  Got last() const {
    const std::scoped_lock lock(mutex_);
    return got_.back();
  }

 private:
  void take(const httplib::Request& request, const std::string& body, httplib::Response& response) {
    const Got got{request.method, request.target, body, request.headers};
    {
      const std::scoped_lock lock(mutex_);
      got_.push_back(got);
    }
    const_cast<httplib::Request&>(request).ranges.clear();  // what it answers is not cut
    if (answer_) return answer_(got, response);
    response.set_content(R"({"id":"x-1","object":"any", "odd" : 1e-05 })", "application/json");
  }

  Answer answer_;
  mutable std::mutex mutex_;
  std::vector<Got> got_;
  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
};

// Sizes of all pictures of a request, whatever its protocol, in their order.
inline std::vector<std::pair<int, int>> picture_sizes(const json& value) {
  std::vector<std::pair<int, int>> out;
  const auto add = [&](const std::vector<uint8_t>& bytes) {
    const auto probe = media::probe(bytes);
    out.emplace_back(probe.width, probe.height);
  };
  const std::function<void(const json&, const std::string&)> walk = [&](const json& v,
                                                                        const std::string& key) {
    if (v.is_string()) {
      const auto& text = v.get_ref<const std::string&>();
      if (text.rfind("data:image", 0) == 0) {
        add(data_url_bytes(text));
      } else if (key == "images" || key == "data") {
        add(from_base64(text));
      }
    } else if (v.is_array()) {
      for (const json& one : v) walk(one, key);
    } else if (v.is_object()) {
      for (const auto& [name, one] : v.items()) walk(one, name);
    }
  };
  walk(value, "");
  return out;
}

inline int64_t tokens_in(const Family& family, const json& value) {
  int64_t out = 0;
  for (const auto& [width, height] : picture_sizes(value))
    out += picture_tokens(family, width, height);
  return out;
}

}  // namespace arrcoc::serving::test
