#include "serve/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "serve/api_error.h"

namespace arrcoc::serving {

namespace {

constexpr int kSpareThreads = 16;  // tell those who are too many so, and clean up
constexpr int kBacklog = 511;
constexpr size_t kBuffer = 16 << 10;
constexpr size_t kLinger = size_t{64} << 20;

Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

// True when the socket is ready for `events` before the deadline.
bool ready(socket_t socket, short events, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd watch{socket, events, 0};
    const int found = ::poll(&watch, 1, static_cast<int>(std::min<int64_t>(left, 1000)));
    if (found > 0) return true;
    if (found < 0 && errno != EINTR) return false;
  }
}

void address(const sockaddr_storage& from, std::string& ip, int& port) {
  char text[INET6_ADDRSTRLEN] = "";
  if (from.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&from);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    port = ntohs(v4->sin_port);
  } else if (from.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&from);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    port = ntohs(v6->sin6_port);
  }
  ip = text;
}

class DeadlineStream : public httplib::Stream {
 public:
  DeadlineStream(socket_t socket, const HttpLimits& limits) : socket_(socket), limits_(limits) {}

  void begin_request() { read_deadline_ = Clock::now() + seconds(limits_.read_seconds); }
  bool buffered() const { return at_ < size_; }
  // A closed connection reads as end of file; bytes of a next request do not.
  bool gone() const {
    char byte;
    const ssize_t n = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  }

  bool is_readable() const override { return buffered() || ready(socket_, POLLIN, read_deadline_); }
  bool is_writable() const override { return !gone(); }

  ssize_t read(char* to, size_t size) override {
    if (!buffered()) {
      if (!ready(socket_, POLLIN, read_deadline_)) return -1;
      const ssize_t n = ::recv(socket_, buffer_, sizeof buffer_, 0);
      if (n <= 0) return n;
      at_ = 0;
      size_ = static_cast<size_t>(n);
    }
    const size_t n = std::min(size, size_ - at_);
    std::memcpy(to, buffer_ + at_, n);
    at_ += n;
    return static_cast<ssize_t>(n);
  }

  ssize_t write(const char* from, size_t size) override {
    const auto deadline = Clock::now() + seconds(limits_.write_seconds);
    while (true) {
      if (!ready(socket_, POLLOUT, deadline)) return -1;
      const ssize_t n = ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n >= 0) return n;
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return -1;
    }
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&from), &size) == 0)
      address(from, ip, port);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&from), &size) == 0)
      address(from, ip, port);
  }
  socket_t socket() const override { return socket_; }

 private:
  socket_t socket_;
  const HttpLimits& limits_;
  Clock::time_point read_deadline_;
  char buffer_[kBuffer];
  size_t at_ = 0, size_ = 0;
};

// Closing while the client still sends would reset the connection and lose the reply: read on for a
// short while and throw away.
void close_gently(socket_t socket) {
  ::shutdown(socket, SHUT_WR);
  const auto deadline = Clock::now() + std::chrono::seconds(2);
  char waste[16 << 10];
  for (size_t sum = 0; sum < kLinger && ready(socket, POLLIN, deadline);) {
    const ssize_t n = ::recv(socket, waste, sizeof waste, 0);
    if (n <= 0) break;
    sum += static_cast<size_t>(n);
  }
  ::close(socket);
}

void refuse(DeadlineStream& stream) {
  const std::string body =
      ApiError(503, "too_many_connections", "too many connections, try again later").body();
  stream.httplib::Stream::write(
      "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
      "Content-Type: application/json\r\nRetry-After: 1\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
}

thread_local Connection t_connection;

}  // namespace

Connection& connection() { return t_connection; }

HttpServer::HttpServer(const HttpLimits& limits) : limits_(limits) {
  const size_t threads = static_cast<size_t>(limits.connections + kSpareThreads);
  new_task_queue = [this, threads] {
    // httplib lets five clients knock at once; the sixth would try again a second later.
    ::listen(svr_sock_, kBacklog);
    return new httplib::ThreadPool(threads);
  };
  set_socket_options([](socket_t socket) {
    // SO_REUSEPORT, httplib's default, would let two servers share a port by accident.
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  set_keep_alive_max_count(1000);
  set_keep_alive_timeout(static_cast<time_t>(limits.idle_seconds));  // only what clients are told
}

bool HttpServer::process_and_close_socket(socket_t socket) {
  const int number = ++open_;
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (number > limits_.connections || draining_) {
    DeadlineStream stream(socket, limits_);
    refuse(stream);
    close_gently(socket);
  } else {
    serve(socket);
  }
  --open_;
  return true;
}

void HttpServer::serve(socket_t socket) {
  DeadlineStream stream(socket, limits_);
  t_connection.gone = [&stream] { return stream.gone(); };
  bool clean = false;
  for (size_t left = keep_alive_max_count_; left > 0; --left) {
    const auto idle = Clock::now() + seconds(limits_.idle_seconds);
    bool more = stream.buffered();
    while (!more && !draining_ && Clock::now() < idle)
      more = ready(socket, POLLIN, std::min(idle, Clock::now() + std::chrono::milliseconds(200)));
    if (!more || stream.gone()) {
      clean = true;
      break;
    }
    stream.begin_request();
    t_connection.close_after = false;
    t_connection.start = Clock::now();
    bool closed = false;
    const bool last = left == 1 || draining_;
    const bool goes_on = process_request(stream, last, closed, nullptr) && !closed;
    t_connection.held = nullptr;
    if (!goes_on) break;
    if (t_connection.close_after || draining_) break;
  }
  t_connection.gone = nullptr;
  if (clean) {
    ::close(socket);
  } else {
    close_gently(socket);
  }
}

}  // namespace arrcoc::serving
