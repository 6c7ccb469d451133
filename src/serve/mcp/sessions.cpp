#include "serve/mcp/sessions.h"

#include <algorithm>

#include "serve/encoding.h"

namespace arrcoc::serving::mcp {

std::list<Sessions::Session>::iterator Sessions::place(const std::string& id) {
  return std::find_if(sessions_.begin(), sessions_.end(),
                      [&](const Session& one) { return equal_secret(one.id, id); });
}

std::string Sessions::begin() {
  const std::scoped_lock lock(mutex_);
  if (sessions_.size() >= kMost) sessions_.pop_back();
  sessions_.push_front({random_id(random_id("")), std::make_shared<Calls>()});
  return sessions_.front().id;
}

std::shared_ptr<Calls> Sessions::find(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto found = place(id);
  if (found == sessions_.end()) return nullptr;
  sessions_.splice(sessions_.begin(), sessions_, found);
  return found->calls;
}

bool Sessions::end(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto found = place(id);
  if (found == sessions_.end()) return false;
  sessions_.erase(found);
  return true;
}

}  // namespace arrcoc::serving::mcp
