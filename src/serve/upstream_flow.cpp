#include "serve/upstream_flow.h"

#include "serve/api_error.h"
#include "serve/upstream.h"

namespace arrcoc::serving {

namespace {
constexpr size_t kBuffered = size_t{1} << 20;  // then the upstream has to wait for the client
}

UpstreamFlow::UpstreamFlow(std::unique_ptr<httplib::Client> client, httplib::Request request)
    : client_(std::move(client)) {
  thread_ =
      std::thread([this, request = std::move(request)]() mutable { run(std::move(request)); });
}

UpstreamFlow::~UpstreamFlow() {
  {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
  client_->stop();
  thread_.join();
}

void UpstreamFlow::run(httplib::Request request) {
  request.response_handler = [this](const httplib::Response& response) {
    const std::scoped_lock lock(mutex_);
    status_ = response.status;
    headers_.headers = response.headers;
    head_ = true;
    changed_.notify_all();
    return !cancelled_;
  };
  request.content_receiver = [this](const char* data, size_t size, uint64_t, uint64_t) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return cancelled_ || buffer_.size() < kBuffered; });
    buffer_.append(data, size);
    changed_.notify_all();
    return !cancelled_;
  };
  const auto start = Clock::now();
  const httplib::Result result = client_->send(request);
  const std::scoped_lock lock(mutex_);
  ok_ = static_cast<bool>(result);
  error_ = result.error();
  seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  ended_ = true;
  changed_.notify_all();
}

UpstreamFlow::Head UpstreamFlow::wait_head(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [&] { return head_ || ended_; });
  if (head_) return Head::there;
  return ended_ ? Head::failed : Head::waiting;
}

UpstreamFlow::Body UpstreamFlow::take(Clock::time_point until, std::string& out) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [&] { return !buffer_.empty() || ended_; });
  if (!buffer_.empty()) {
    out.append(buffer_);
    buffer_.clear();
    changed_.notify_all();
    return Body::more;
  }
  if (!ended_) return Body::waiting;
  return ok_ ? Body::ended : Body::broken;
}

httplib::Headers Upstream::headers(const httplib::Request& from) const {
  const Options& options = service_.options_;
  httplib::Headers out = {{"Accept", "application/json, text/event-stream"}};
  // The client's key is passed on only where it is not ours.
  if (!options.upstream_key.empty()) {
    out.emplace("Authorization", "Bearer " + options.upstream_key);
  } else if (options.api_key.empty() && from.has_header("Authorization")) {
    const std::string given = from.get_header_value("Authorization");
    // httplib unescapes values: %0d%0a would become a header of our own request.
    for (const char c : given)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        throw ApiError(400, "invalid_request", "Authorization has control characters");
    out.emplace("Authorization", given);
  }
  return out;
}

std::unique_ptr<httplib::Client> Upstream::client() const {
  auto out = std::make_unique<httplib::Client>(address_.origin);
  const auto ms = [](double s) { return std::chrono::milliseconds(static_cast<int64_t>(1e3 * s)); };
  const double patience = service_.options_.upstream_seconds;
  out->set_connection_timeout(ms(std::min(10.0, patience)));
  out->set_read_timeout(ms(patience));
  out->set_write_timeout(ms(patience));
  out->set_follow_location(false);
  out->set_keep_alive(false);
  return out;
}

}  // namespace arrcoc::serving
