// arrcoc_relay_cost [REQUESTS]: processor time of a request without pictures through the proxy,
// over that of the least that a pass-through on the same HTTP library can do. Both run in this
// process, in turns; the clients and the upstream are processes of their own.
#include <httplib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "arrcoc/serve.h"

namespace {

constexpr int kRounds = 5, kClients = 2;

double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Answers every POST with a small completion; writes its port into the pipe.
[[noreturn]] void upstream(int out) {
  httplib::Server server;
  server.set_tcp_nodelay(true);
  server.Post(".*", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(R"({"id":"c","choices":[{"index":0,"message":{"content":"hello"}}]})",
                         "application/json");
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  if (::write(out, &port, sizeof port) != sizeof port) std::abort();
  server.listen_after_bind();
  std::_Exit(0);
}

// Ports and sizes come through one pipe, a byte goes back when all requests were answered.
struct Order {
  int port, requests;
  size_t bytes;
};

[[noreturn]] void clients(int in, int out) {
  Order order{};
  while (::read(in, &order, sizeof order) == sizeof order) {
    const std::string body = R"({"model":"m","messages":[{"role":"user","content":")" +
                             std::string(order.bytes, 'x') + R"("}]})";
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int i = 0; i < kClients; ++i)
      threads.emplace_back([&] {
        httplib::Client client("127.0.0.1", order.port);
        client.set_keep_alive(true);
        client.set_tcp_nodelay(true);
        for (int k = 0; k < order.requests / kClients; ++k) {
          const auto reply = client.Post("/v1/chat/completions", body, "application/json");
          good += reply && reply->status == 200;
        }
      });
    for (std::thread& thread : threads) thread.join();
    const char all = good == order.requests / kClients * kClients;
    if (::write(out, &all, 1) != 1) break;
  }
  std::_Exit(0);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int requests = argc > 1 ? std::atoi(argv[1]) : 2000;
  if (requests < kClients || argc > 2) {
    std::fprintf(stderr, "usage: arrcoc_relay_cost [REQUESTS], at least %d\n", kClients);
    return 2;
  }
  int port_pipe[2], orders[2], done[2];
  if (::pipe(port_pipe) != 0 || ::pipe(orders) != 0 || ::pipe(done) != 0) return 1;
  const pid_t server = ::fork();
  if (server == 0) upstream(port_pipe[1]);
  const pid_t load = ::fork();
  if (load == 0) clients(orders[0], done[1]);
  int port = 0;
  if (::read(port_pipe[0], &port, sizeof port) != sizeof port) return 1;

  arrcoc::serving::Options options;
  options.port = 0;
  options.tiny = std::string(ARRCOC_SOURCE_DIR) + "/models/tiny";
  options.upstream = "http://127.0.0.1:" + std::to_string(port);
  arrcoc::serving::Server proxy(options);
  proxy.start();
  proxy.wait_ready();
  httplib::Server least;
  least.set_tcp_nodelay(true);
  least.Post(".*", [port](const httplib::Request& request, httplib::Response& response) {
    httplib::Client client("127.0.0.1", port);
    client.set_tcp_nodelay(true);
    const auto reply = client.Post(request.path, request.body, "application/json");
    response.status = reply ? reply->status : 502;
    if (reply) response.set_content(reply->body, "application/json");
  });
  const int least_port = least.bind_to_any_port("127.0.0.1");
  std::thread listener([&] { least.listen_after_bind(); });

  int failures = 0;
  std::printf("%-10s %22s %22s %8s\n", "bytes", "proxy, us a request", "least, us a request",
              "ratio");
  for (const size_t bytes : {size_t{100}, size_t{100} << 10}) {
    std::vector<double> ours, theirs;
    const auto measure = [&](int to, std::vector<double>& into) {
      const double before = processor_seconds();
      const Order order{to, requests, bytes};
      char all = 0;
      if (::write(orders[1], &order, sizeof order) != sizeof order) std::abort();
      if (::read(done[0], &all, 1) != 1 || !all) ++failures;
      into.push_back(1e6 * (processor_seconds() - before) / requests);
    };
    for (int round = 0; round < kRounds; ++round) {
      measure(proxy.port(), ours);
      measure(least_port, theirs);
    }
    std::printf("%-10zu %22.1f %22.1f %8.2f\n", bytes, median(ours), median(theirs),
                median(ours) / median(theirs));
  }
  least.stop();
  listener.join();
  ::close(orders[1]);
  ::kill(server, SIGKILL);
  ::kill(load, SIGKILL);
  ::waitpid(server, nullptr, 0);
  ::waitpid(load, nullptr, 0);
  if (failures > 0) std::printf("%d rounds had failed requests\n", failures);
  return failures > 0;
}
