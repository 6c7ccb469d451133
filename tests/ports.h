// Ports for tests.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <random>

namespace arrcoc::test {

// Nobody listens there, a moment ago at least; below those that the system gives to connections and
// to tests that take any port.
inline int free_port() {
  std::random_device dice;
  for (int tries = 0; tries < 100; ++tries) {
    const int port = std::uniform_int_distribution<int>(20000, 32000)(dice);
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(static_cast<uint16_t>(port));
    const bool taken = ::bind(socket, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0;
    ::close(socket);
    if (!taken) return port;
  }
  ADD_FAILURE() << "no port is free";
  return 0;
}

}  // namespace arrcoc::test
