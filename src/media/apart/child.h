// A process of arrcoc-decode, its socket and the file that is shared with it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "media/apart/protocol.h"

namespace arrcoc::media {

class Child {
 public:
  // film: a descriptor that it gets besides, or -1. Error{io}
  explicit Child(const std::string& program, int film = -1);
  ~Child();  // kills
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // One that has said hello; killed before that, it is tried again, but not for ever. Error{io}.
  static std::unique_ptr<Child> started(const std::string& program, Hello& hello, int film = -1);

  // Addresses in bytes, and seconds of a processor from now on.
  void allow(uint64_t address_space, double seconds) const;
  // A packet; one that the process cannot take any more shows when its answer is awaited.
  void send(const std::string& packet) const;
  // A packet, or the process is gone.
  bool readable(std::chrono::milliseconds patience) const;
  enum class Waited { readable, too_long, given_up };
  // Until it is readable, at most ten times `seconds` (of a processor, on a machine that is busy).
  Waited wait(double seconds, const std::function<bool()>& given_up) const;
  ssize_t receive(void* packet, size_t most) const;  // 0 or less: the process is gone
  // The file to the front of the shared one, which gets `size` bytes. Error{io}.
  void put(const std::vector<uint8_t>& bytes, uint64_t size) const;
  // Bytes of the shared file; beyond `kept` bytes its memory is given back. Error{io}.
  void get(uint8_t* to, size_t count, uint64_t at, uint64_t kept) const;
  void trim(uint64_t kept) const;  // gives the memory beyond that back
  // Kills it unless it is dead. The signal that it died of; 0: it ended by itself.
  int end();

 private:
  pid_t process_ = -1;
  int socket_ = -1, shared_ = -1;
};

}  // namespace arrcoc::media
