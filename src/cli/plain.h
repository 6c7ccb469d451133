// What strangers wrote must not drive the terminal that shows it.
#pragma once

#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>

namespace arrcoc::cli {

// While it lives, what goes to `out` is valid UTF-8 whose only control characters are line ends and
// tabs: others, and those that turn the direction of text, become \u001b and so on, as JSON writes
// them; bytes that are no UTF-8 become U+FFFD.
class PlainOutput : public std::streambuf {
 public:
  explicit PlainOutput(std::ostream& out) : out_(out), target_(out.rdbuf(this)) {}
  ~PlainOutput() override;

 protected:
  int overflow(int c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override { return target_->pubsync(); }

 private:
  bool pass(bool last);

  std::ostream& out_;
  std::streambuf* target_;
  std::mutex mutex_;
  std::string held_;  // the beginning of a character
};

}  // namespace arrcoc::cli
