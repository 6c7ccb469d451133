// Sessions of clients that came over HTTP and agreed on a version by `initialize`.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "serve/mcp/message.h"

namespace arrcoc::serving::mcp {

// At most kMost; the one that was silent longest goes first. Safe for threads.
class Sessions {
 public:
  static constexpr size_t kMost = 1024;
  std::string begin();                                 // its id
  std::shared_ptr<Calls> find(const std::string& id);  // null: there is none
  bool end(const std::string& id);                     // false: there was none

 private:
  struct Session {
    std::string id;
    std::shared_ptr<Calls> calls;
  };
  std::list<Session>::iterator place(const std::string& id);  // under mutex_

  std::mutex mutex_;
  std::list<Session> sessions_;  // heard of last comes first
};

}  // namespace arrcoc::serving::mcp
