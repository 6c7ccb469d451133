#include "serve/http_exchange.h"

namespace arrcoc::serving {

namespace {
constexpr size_t kBuffered = size_t{1} << 20;  // then the upstream has to wait for the client
}

HttpExchange::HttpExchange(std::unique_ptr<httplib::Client> client, httplib::Request request)
    : client_(std::move(client)) {
  thread_ =
      std::thread([this, request = std::move(request)]() mutable { run(std::move(request)); });
}

HttpExchange::~HttpExchange() {
  {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
  client_->stop();
  thread_.join();
}

void HttpExchange::run(httplib::Request request) {
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
  seconds_ = seconds_since(start);
  ended_ = true;
  changed_.notify_all();
}

HttpExchange::Head HttpExchange::wait_head(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [&] { return head_ || ended_; });
  if (head_) return Head::there;
  return ended_ ? Head::failed : Head::waiting;
}

HttpExchange::Body HttpExchange::take(Clock::time_point until, std::string& out) {
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

}  // namespace arrcoc::serving
