// One connection as httplib reads and writes it, with deadlines.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <string>

namespace arrcoc::serving {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
inline constexpr auto kSlice = std::chrono::milliseconds(250);  // between looks at the connection
inline Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

// The frame of a chunked body, byte by byte: sizes of at most eight digits, short extensions, no
// trailers, nothing where a line end belongs. httplib takes lines of any length, sizes with signs,
// and what follows a broken chunk for the next request.
class ChunkFrame {
 public:
  bool follows(const char* bytes, size_t size);  // false: this is none any more

 private:
  enum class At { size, extension, size_end, data, data_cr, data_lf, end_cr, end_lf, over };
  bool step(char c);
  At at_ = At::size;
  uint64_t left_ = 0;
  int length_ = 0;  // of the line
};

// The whole of a request must have been read by a deadline, however its bytes drip. A reader may
// keep us waiting for `patience` in all, and a second more for every 64 kB that it took.
class HttpStream : public httplib::Stream {
 public:
  // bytes: what was read before, `head` of them belong to the head.
  HttpStream(socket_t socket, std::string bytes, size_t head, bool chunked,
             Clock::time_point read_by, double patience)
      : socket_(socket),
        buffer_(std::move(bytes)),
        head_(head),
        chunked_(chunked),
        read_by_(read_by),
        patience_(patience) {}

  // A closed connection reads as end of file; bytes of a next request do not.
  bool gone() const;
  // What came after the request.
  std::string rest() const { return buffer_.substr(at_); }

  bool is_readable() const override;
  bool is_writable() const override { return !gone(); }
  ssize_t read(char* to, size_t size) override;
  ssize_t write(const char* from, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  socket_t socket_;
  std::string buffer_;
  size_t at_ = 0;
  size_t head_;  // bytes of it that have not been read yet
  bool chunked_;
  ChunkFrame frame_;
  Clock::time_point read_by_;
  double patience_, waited_ = 0;
};

std::string peer_address(socket_t socket);
// What counts as one client: an IPv4 address, the first half of an IPv6 address.
std::string client_of(const std::string& address);

}  // namespace arrcoc::serving
