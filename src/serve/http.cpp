#include "serve/http.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "serve/api_error.h"

namespace arrcoc::serving {

namespace {

constexpr int kSpare = 16;  // threads for /health where all others are taken
constexpr int kBacklog = 511;
constexpr int kMostServed = 1000;  // requests of one connection
constexpr size_t kLinger = size_t{64} << 20;
constexpr double kLingerSeconds = 2;
constexpr int kAcceptedAtOnce = 64;

std::string reply_of(const ApiError& error) {
  const std::string body = error.body();
  return "HTTP/1.1 " + std::to_string(error.status()) +
         " Refused\r\nConnection: close\r\nContent-Type: application/json\r\n" +
         (error.status() == 503 ? "Retry-After: 1\r\n" : "") +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

ApiError too_many() {
  return {503, "too_many_connections", "too many connections, try again later"};
}

thread_local Connection t_connection;

}  // namespace

Connection& connection() { return t_connection; }

HttpServer::HttpServer(const HttpLimits& limits) : limits_(limits) {
  set_socket_options([](socket_t socket) {
    // SO_REUSEPORT, httplib's default, would let two servers share a port by accident.
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  set_keep_alive_max_count(kMostServed);
  set_keep_alive_timeout(static_cast<time_t>(limits.idle_seconds));  // only what clients are told
}

HttpServer::~HttpServer() {
  drain();
  ending_ = true;
  wake();
  if (loop_.joinable()) loop_.join();
  cut();
  threads_.reset();
  for (const Waiting& one : back_) ::close(one.socket);
  for (const int fd : {epoll_, event_})
    if (fd >= 0) ::close(fd);
}

void HttpServer::run() {
  // httplib breaks replies off once its socket is gone: it keeps the number, we keep the socket.
  listening_ = svr_sock_;
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  // httplib lets five clients knock at once; the sixth would try again a second later.
  if (epoll_ < 0 || event_ < 0 || ::listen(listening_, kBacklog) != 0)
    throw Error(ErrorCode::io, "cannot wait for connections");
  ::fcntl(listening_, F_SETFL, O_NONBLOCK);
  for (const int fd : {static_cast<int>(listening_), event_}) {
    epoll_event event{EPOLLIN, {.fd = fd}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  loop_ = std::thread([this] { loop(); });
}

void HttpServer::wake() const {
  const uint64_t one = 1;
  if (event_ >= 0) [[maybe_unused]]
    const ssize_t n = ::write(event_, &one, sizeof one);
}

void HttpServer::drain() {
  draining_ = true;
  wake();
}

bool HttpServer::wait_idle(Clock::time_point until) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, until, [this] { return running_.empty(); });
}

void HttpServer::cut() {
  const std::scoped_lock lock(mutex_);
  for (const socket_t socket : running_) ::shutdown(socket, SHUT_RDWR);
}

int HttpServer::open() const { return open_; }

// ---- The gate: one thread

void HttpServer::loop() {
  while (!ending_) {
    try {
      turn();
    } catch (const std::exception&) {  // out of memory: others will give some back
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  while (!waiting_.empty()) forget(waiting_.begin(), true);
  if (listening_ >= 0) ::close(listening_);
}

void HttpServer::turn() {
  epoll_event events[64];
  const int found = ::epoll_wait(epoll_, events, std::size(events), 200);
  for (int i = 0; i < found; ++i) {
    const int fd = events[i].data.fd;
    if (fd == event_) {
      uint64_t count;
      [[maybe_unused]] const ssize_t n = ::read(event_, &count, sizeof count);
    } else if (fd == listening_) {
      accept_some();
    } else if (const auto place = places_.find(fd); place != places_.end()) {
      hear(place->second);
    }
  }
  if (draining_ && listening_ >= 0) {
    ::close(listening_);
    listening_ = -1;
  }
  take_back();
  expire();
}

void HttpServer::accept_some() {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    const socket_t socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) {
      // Out of descriptors or memory: somebody has to go before the next one can come. Whatever
      // else it is, the next connection may be well.
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        if (!waiting_.empty()) forget(waiting_.begin(), true);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      return;
    }
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    Waiting one;
    one.socket = socket;
    one.address = client_of(peer_address(socket));
    one.since = Clock::now();
    one.deadline = one.since + seconds(limits_.idle_seconds);
    ++open_;
    make_room(one.address);
    watch(std::move(one));
  }
}

// Who is needed least goes first, the oldest of them: those that only linger, those that came and
// said nothing for a second, those that are done for the moment, those that are speaking.
void HttpServer::make_room(const std::string& address) {
  const auto quiet_since = Clock::now() - std::chrono::seconds(1);
  const auto rank = [&](const Waiting& one) {
    if (one.lingers) return 0;
    if (!one.bytes.empty()) return 3;
    return one.served > 0 ? 2 : one.since < quiet_since ? 1 : 3;
  };
  const auto drop = [&](const auto& may_go) {
    auto victim = waiting_.end();
    for (auto one = waiting_.begin(); one != waiting_.end(); ++one)
      if (may_go(*one) && (victim == waiting_.end() || rank(*one) < rank(*victim))) victim = one;
    if (victim != waiting_.end()) forget(victim, true);
  };
  const auto same = [&](const Waiting& one) { return one.address == address; };
  if (std::count_if(waiting_.begin(), waiting_.end(), same) >= limits_.per_address) drop(same);
  if (waiting_.size() >= static_cast<size_t>(limits_.requests))
    drop([](const Waiting&) { return true; });
}

void HttpServer::watch(Waiting one) {
  epoll_event event{EPOLLIN | EPOLLRDHUP, {.fd = one.socket}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, one.socket, &event) != 0) {
    ::close(one.socket);
    --open_;
    return;
  }
  const Place place = waiting_.insert(waiting_.end(), std::move(one));
  places_[place->socket] = place;
  if (!place->bytes.empty()) advance(place);
}

void HttpServer::forget(Place place, bool close) {
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, place->socket, nullptr);
  places_.erase(place->socket);
  if (close) {
    ::close(place->socket);
    --open_;
  }
  waiting_.erase(place);
}

void HttpServer::hear(Place place) {
  char bytes[16 << 10];
  const ssize_t n = ::recv(place->socket, bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return forget(place, true);
  if (place->lingers) {
    place->wasted += static_cast<size_t>(n);
    if (place->wasted > kLinger) forget(place, true);
    return;
  }
  if (place->bytes.empty()) place->deadline = Clock::now() + seconds(limits_.read_seconds);
  place->bytes.append(bytes, static_cast<size_t>(n));
  advance(place);
}

// A head may be whole, or may have become too long to be one. What can fail comes before what
// counts.
void HttpServer::advance(Place place) {
  bool spare = false;
  try {
    const size_t size = head_size(place->bytes, limits_.head, place->searched);
    place->searched = place->bytes.size();
    if (size == 0) return;
    const RequestHead head =
        judge_head(std::string_view(place->bytes).substr(0, size), limits_.head);
    std::string bytes = head.text + place->bytes.substr(size);
    const auto one = std::make_shared<Waiting>();
    if (!admit(*place, head, spare)) throw too_many();
    *one = std::move(*place);
    place->socket = one->socket;
    forget(place, false);
    one->bytes = std::move(bytes);
    one->searched = 0;
    one->head = head.text.size();
    one->chunked = head.chunked;
    start(one, spare);
  } catch (const ApiError& problem) {
    say(*place, reply_of(problem));
    forget(place, true);
  }
}

void HttpServer::say(const Waiting& one, const std::string& reply) const {
  [[maybe_unused]] const ssize_t n =
      ::send(one.socket, reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(one.socket, SHUT_WR);
}

bool HttpServer::admit(const Waiting& one, const RequestHead& head, bool& spare) {
  const std::scoped_lock lock(mutex_);
  const auto known = by_address_.find(one.address);
  const bool full = static_cast<int>(running_.size()) - spare_running_ >= limits_.requests ||
                    (known != by_address_.end() && known->second >= limits_.per_address);
  spare = full;
  if (full && (head.path != "/health" || !head.bodiless || spare_running_ >= kSpare)) return false;
  int& count = full ? spare_running_ : by_address_[one.address];
  running_.insert(one.socket);
  ++count;
  return true;
}

// Connections come back after their request, or stay a moment so that the last reply is heard.
void HttpServer::take_back() {
  std::vector<Waiting> back;
  {
    const std::scoped_lock lock(mutex_);
    back.swap(back_);
  }
  for (Waiting& one : back) {
    make_room(one.address);
    watch(std::move(one));
  }
}

void HttpServer::expire() {
  const auto now = Clock::now();
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const Place place = next++;
    const bool idle = place->bytes.empty() && !place->lingers;
    if (place->deadline > now && !(draining_ && idle)) continue;
    if (!idle && !place->lingers)
      say(*place, reply_of({408, "request_timeout", "the request did not arrive in time"}));
    forget(place, true);
  }
}

// ---- Requests: a thread each

void HttpServer::start(const std::shared_ptr<Waiting>& one, bool spare) {
  try {
    threads_->run([this, one, spare] {
      try {
        serve(*one);
      } catch (...) {  // nobody above would catch it
        close_soon(*one);
      }
      t_connection = {};
      ended(*one, spare);
    });
  } catch (const std::exception&) {  // no more threads
    say(*one, reply_of(too_many()));
    close_soon(*one);
    ended(*one, spare);
  }
}

void HttpServer::serve(Waiting& one) {
  HttpStream stream(one.socket, std::move(one.bytes), one.head, one.chunked, one.deadline,
                    limits_.write_seconds);
  t_connection.start = Clock::now();
  t_connection.gone = [&stream] { return stream.gone(); };
  const bool last = ++one.served == kMostServed || draining_;
  bool closed = false;
  const bool well = process_request(stream, last, closed, nullptr);
  t_connection.held = nullptr;
  if (!well || closed || last || draining_ || t_connection.close_after) return close_soon(one);
  one.bytes = stream.rest();
  one.deadline =
      Clock::now() + seconds(one.bytes.empty() ? limits_.idle_seconds : limits_.read_seconds);
}

// Closing while the client still sends would reset the connection and lose the reply: the gate
// reads on for a short while and throws away.
void HttpServer::close_soon(Waiting& one) {
  ::shutdown(one.socket, SHUT_WR);
  one.lingers = true;
  one.bytes.clear();
  one.deadline = Clock::now() + seconds(kLingerSeconds);
}

void HttpServer::ended(Waiting& one, bool spare) {
  {
    const std::scoped_lock lock(mutex_);
    running_.erase(one.socket);
    if (spare) {
      --spare_running_;
    } else if (--by_address_[one.address] == 0) {
      by_address_.erase(one.address);
    }
    back_.push_back(std::move(one));
    changed_.notify_all();
  }
  wake();
}

}  // namespace arrcoc::serving
