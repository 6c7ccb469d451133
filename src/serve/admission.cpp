#include "serve/admission.h"

#include "serve/api_error.h"

namespace arrcoc::serving {

namespace {
ApiError no_room() {
  return {503, "overloaded", "the requests in flight are too large together, try again later"};
}
}  // namespace

Admission::Share::~Share() {
  {
    const std::scoped_lock lock(of_.mutex_);
    of_.bytes_ -= body_ + more_;
    of_.working_ -= working_;
  }
  of_.changed_.notify_all();
}

void Admission::Share::arrived(size_t bytes) {
  const std::scoped_lock lock(of_.mutex_);
  const auto more = static_cast<int64_t>(bytes);
  if (of_.bytes_ + more > of_.most_ && of_.bytes_ > body_) throw no_room();
  body_ += more;
  of_.bytes_ += more;
}

void Admission::Share::open(int times, Clock::time_point until,
                            const std::function<void()>& patience) {
  std::unique_lock lock(of_.mutex_);
  const int64_t more = (times - 1) * body_;
  const auto room = [&] { return of_.working_ == 0 || of_.bytes_ + more <= of_.most_; };
  while (!of_.changed_.wait_until(lock, std::min(until, Clock::now() + kSlice), room)) {
    if (Clock::now() >= until) throw no_room();
    if (patience) {
      lock.unlock();
      patience();
      lock.lock();
    }
  }
  more_ = more;
  of_.bytes_ += more;
  of_.working_ += !working_;
  working_ = true;
}

void Admission::Share::opened() {
  {
    const std::scoped_lock lock(of_.mutex_);
    of_.bytes_ -= more_;
    of_.working_ -= working_;
    more_ = 0;
    working_ = false;
  }
  of_.changed_.notify_all();
}

int64_t Admission::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

void require_few_values(std::string_view json, size_t most) {
  size_t values = 0;
  bool inside = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (inside) {
      const size_t next = json.find_first_of("\"\\", i);
      if (next == std::string_view::npos) break;
      inside = json[next] == '\\';
      i = inside ? next + 1 : next;
    } else if (c == '"') {
      inside = true;
    } else if (c == ',' || c == '[' || c == '{') {
      if (++values > most)
        throw ApiError(413, "too_many_values",
                       "the request has more than " + std::to_string(most) + " values");
    }
  }
}

}  // namespace arrcoc::serving
