#include "serve/http_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cctype>
#include <cerrno>
#include <cstring>

#include "serve/encoding.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kBuffer = 16 << 10;
constexpr double kBytesASecond = 64 << 10;  // of a slow reader

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

using NameOf = int (*)(int, sockaddr*, socklen_t*);

void address(socket_t socket, NameOf name_of, std::string& ip, int& port) {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  if (name_of(socket, reinterpret_cast<sockaddr*>(&from), &size) != 0) return;
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

}  // namespace

bool ChunkFrame::step(char c) {
  const bool digit = std::isxdigit(static_cast<unsigned char>(c)) != 0;
  const auto go = [&](bool well, At next) {
    at_ = next;
    return well;
  };
  switch (at_) {
    case At::size:
      if (digit) {
        left_ = 16 * left_ + static_cast<uint64_t>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
        return ++length_ <= 8;
      }
      return go(length_ > 0 && (c == ';' || c == '\r'), c == ';' ? At::extension : At::size_end);
    case At::extension:
      if (c == '\r') at_ = At::size_end;
      return c != '\n' && ++length_ <= 256;
    case At::size_end:
      return go(c == '\n', left_ > 0 ? At::data : At::end_cr);
    case At::data:
      return go(true, --left_ > 0 ? At::data : At::data_cr);
    case At::data_cr:
      return go(c == '\r', At::data_lf);
    case At::data_lf:
      length_ = 0;
      return go(c == '\n', At::size);
    case At::end_cr:
      return go(c == '\r', At::end_lf);
    case At::end_lf:
      return go(c == '\n', At::over);
    case At::over:
      return false;
  }
  return false;
}

bool ChunkFrame::follows(const char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (at_ == At::data && left_ > 1) {  // all but the last at once
      const auto skipped = std::min<uint64_t>(left_ - 1, size - i);
      left_ -= skipped;
      i += skipped;
      if (i == size) return true;
    }
    if (!step(bytes[i])) return false;
  }
  return true;
}

bool HttpStream::gone() const {
  char byte;
  const ssize_t n = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool HttpStream::is_readable() const {
  return at_ < buffer_.size() || ready(socket_, POLLIN, read_by_);
}

ssize_t HttpStream::read(char* to, size_t size) {
  if (at_ == buffer_.size()) {
    if (!ready(socket_, POLLIN, read_by_)) return -1;
    buffer_.resize(kBuffer);
    at_ = 0;
    const ssize_t n = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    buffer_.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (n <= 0) return n;
  }
  const size_t n = std::min(size, buffer_.size() - at_);
  std::memcpy(to, buffer_.data() + at_, n);
  at_ += n;
  const size_t head = std::min(n, head_);
  head_ -= head;
  if (chunked_ && !frame_.follows(to + head, n - head)) return -1;
  return static_cast<ssize_t>(n);
}

ssize_t HttpStream::write(const char* from, size_t size) {
  while (true) {
    const ssize_t n = ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      waited_ -= static_cast<double>(n) / kBytesASecond;
      return n;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    const auto start = Clock::now();
    if (!ready(socket_, POLLOUT, start + seconds(patience_ - waited_))) return -1;
    waited_ = std::max(0.0, waited_) + seconds_since(start);
  }
}

void HttpStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  address(socket_, ::getpeername, ip, port);
}
void HttpStream::get_local_ip_and_port(std::string& ip, int& port) const {
  address(socket_, ::getsockname, ip, port);
}

std::string client_of(const std::string& address) {
  in6_addr six{};
  if (::inet_pton(AF_INET6, address.c_str(), &six) != 1) return address;
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    char four[INET_ADDRSTRLEN] = "";
    return ::inet_ntop(AF_INET, &six.s6_addr[12], four, sizeof four);
  }
  return to_hex({reinterpret_cast<const char*>(six.s6_addr), 8});
}

std::string peer_address(socket_t socket) {
  std::string ip;
  int port = 0;
  address(socket, ::getpeername, ip, port);
  return ip;
}

}  // namespace arrcoc::serving
