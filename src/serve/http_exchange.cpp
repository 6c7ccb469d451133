#include "serve/http_exchange.h"

namespace arrcoc::serving {

namespace {
constexpr size_t kBuffered = size_t{1} << 20;  // then the upstream has to wait for the client
constexpr size_t kBrief = size_t{64} << 10;

bool brief(const httplib::Response& response) {
  const std::string length = response.get_header_value("Content-Length");
  return !length.empty() && length.size() < 6 &&
         length.find_first_not_of("0123456789") == std::string::npos &&
         std::stoul(length) <= kBrief;
}
}  // namespace

HttpExchange::HttpExchange(SpareThreads& threads, std::unique_ptr<httplib::Client> client,
                           httplib::Request request) {
  state_->client = std::move(client);
  threads.run([state = state_, request = std::move(request)]() mutable {
    run(*state, std::move(request));
  });
}

HttpExchange::~HttpExchange() {
  {
    const std::scoped_lock lock(state_->mutex);
    if (state_->ended) return;
    state_->cancelled = true;
  }
  state_->changed.notify_all();
  state_->client->stop();
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->ended; });
}

void HttpExchange::run(State& s, httplib::Request request) {
  request.response_handler = [&s](const httplib::Response& response) {
    const std::scoped_lock lock(s.mutex);
    s.status = response.status;
    s.headers.headers = response.headers;
    s.head = true;
    s.brief = brief(response);
    if (!s.brief) s.changed.notify_all();
    return !s.cancelled;
  };
  request.content_receiver = [&s](const char* data, size_t size, uint64_t, uint64_t) {
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return s.cancelled || s.buffer.size() < kBuffered; });
    s.buffer.append(data, size);
    if (!s.brief) s.changed.notify_all();
    return !s.cancelled;
  };
  const auto start = Clock::now();
  bool ok = false;
  httplib::Error error = httplib::Error::Unknown;
  try {
    const bool wanted = [&s] {
      const std::scoped_lock lock(s.mutex);
      return !s.cancelled;
    }();
    if (wanted) {
      const httplib::Result result = s.client->send(request);
      ok = static_cast<bool>(result);
      error = result.error();
    }
  } catch (...) {  // a thread has nobody to tell
  }
  const std::scoped_lock lock(s.mutex);
  s.ok = ok;
  s.error = error;
  s.seconds = seconds_since(start);
  s.ended = true;
  s.changed.notify_all();
}

HttpExchange::Head HttpExchange::wait_head(Clock::time_point until) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.changed.wait_until(lock, until, [&] { return (s.head && !s.brief) || s.ended; });
  if (s.head && (!s.brief || s.ended)) return Head::there;
  return s.ended ? Head::failed : Head::waiting;
}

HttpExchange::Body HttpExchange::take(Clock::time_point until, std::string& out) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.changed.wait_until(lock, until, [&] { return !s.buffer.empty() || s.ended; });
  if (!s.buffer.empty()) {
    out.append(s.buffer);
    s.buffer.clear();
    s.changed.notify_all();
    return Body::more;
  }
  if (!s.ended) return Body::waiting;
  return s.ok ? Body::ended : Body::broken;
}

}  // namespace arrcoc::serving
