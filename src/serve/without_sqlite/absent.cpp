// The example log in a build without SQLite: whoever asks for one is told before the server starts.
#include "arrcoc/error.h"
#include "arrcoc/serve.h"

namespace arrcoc::serving {

namespace {

[[noreturn]] void absent(const std::string& path) {
  throw Error(ErrorCode::unsupported,
              "the example log (" + path + ") is not in this build, which was made without SQLite");
}

}  // namespace

struct ExampleLog::State {
  std::string path;
};

ExampleLog::ExampleLog(const std::string& path, const LogLimits&) { absent(path); }
ExampleLog::~ExampleLog() = default;
// Nobody gets that far.
void ExampleLog::add(const Example&) { absent(state_->path); }
ExampleLog::Rated ExampleLog::rate(const std::string&, Rating, const std::string&,
                                   const std::string&) {
  absent(state_->path);
}
std::string ExampleLog::rater(const std::string&) const { absent(state_->path); }
std::vector<Example> ExampleLog::list(int64_t, const ExampleFilter&) const { absent(state_->path); }
Example ExampleLog::show(const std::string&) const { absent(state_->path); }
int64_t ExampleLog::count() const { absent(state_->path); }
int64_t ExampleLog::forget(double) { absent(state_->path); }
void ExampleLog::tidy() {}

}  // namespace arrcoc::serving
