// What the decoding programs share: their socket and the shared file.
#pragma once

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <string>

#include "media/apart/protocol.h"

namespace arrcoc::media {

inline bool started_by_arrcoc() {
  int kind = 0;
  socklen_t size = sizeof kind;
  if (::getsockopt(kSocket, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_SEQPACKET)
    return true;
  std::fputs("this program is started by arrcoc, which hands it pictures\n", stderr);
  return false;
}

// Part of the shared file; gone with this object.
class Mapped {
 public:
  Mapped(size_t bytes, size_t at, int protection) : bytes_(bytes) {
    if (bytes == 0) return;
    void* memory = ::mmap(nullptr, bytes, protection, MAP_SHARED, kShared, static_cast<off_t>(at));
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<uint8_t*>(memory);
  }
  ~Mapped() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }
  Mapped(const Mapped&) = delete;
  uint8_t* data() const { return data_; }

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_;
};

inline bool send_packet(const void* head, size_t size, const std::string& text = "") {
  std::string packet(static_cast<const char*>(head), size);
  packet += text.substr(0, kMostText);
  return ::send(kSocket, packet.data(), packet.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(packet.size());
}

inline uint64_t mapped_bytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace arrcoc::media
