// A connection without a library in between.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace arrcoc::serving::test {

// A socket that says exactly what it is told.
class Raw {
 public:
  // receive: bytes that the kernel takes before somebody reads; 0: as usual.
  explicit Raw(int port, int receive = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive, sizeof receive);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  ~Raw() { ::close(socket_); }
  bool send(const std::string& text) {
    return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) > 0;
  }
  // Until the server closes; "" when it does not within a minute.
  std::string rest() {
    std::string out;
    char buffer[4096];
    while (true) {
      pollfd watch{socket_, POLLIN, 0};
      if (::poll(&watch, 1, 60000) <= 0) return "";
      const ssize_t n = ::recv(socket_, buffer, sizeof buffer, 0);
      if (n <= 0) return out;
      out.append(buffer, static_cast<size_t>(n));
    }
  }
  // A reply, or the end, is there.
  bool readable() {
    pollfd watch{socket_, POLLIN, 0};
    return ::poll(&watch, 1, 0) > 0;
  }

 private:
  int socket_;
};

}  // namespace arrcoc::serving::test
