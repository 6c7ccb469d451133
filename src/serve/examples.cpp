#include "serve/examples.h"

#include <algorithm>
#include <cstring>

#include "arrcoc/media.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/replies.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kRemembered = 512;  // answers that may still get feedback
constexpr int kThumbnail = 256;

std::vector<uint8_t> thumbnail(const Picture& picture) {
  const double scale =
      std::min(1.0, static_cast<double>(kThumbnail) / std::max(picture.width(), picture.height()));
  const auto side = [&](int n) { return std::max(1, static_cast<int>(n * scale)); };
  return media::encode_png(resize(picture, side(picture.width()), side(picture.height())).rgb);
}

// Ids differ, ours and those of an upstream: their digest decides, no other randomness is needed.
bool chosen(const std::string& id, double share) {
  const std::string digest = sha256(id);
  uint32_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number < share * 4294967296.0;
}

}  // namespace

Examples::Examples(const Options& options, Metrics& metrics, Server::Log log)
    : options_(options), metrics_(metrics), say_(std::move(log)) {
  if (options.log.empty()) return;
  log_ = std::make_unique<ExampleLog>(options.log);
  if (options.log_days > 0) log_->forget(options.log_days);
}

bool Examples::add(Example example, const std::shared_ptr<const SeenPicture>& picture) {
  if (!log_) return false;
  if (chosen(example.id, options_.log_share)) return write(std::move(example), picture);
  const std::scoped_lock lock(mutex_);
  recent_.push_back({std::move(example), picture});
  if (recent_.size() > kRemembered) recent_.pop_front();
  return false;
}

// A log that cannot be written costs the example, never the answer.
bool Examples::write(Example example, const std::shared_ptr<const SeenPicture>& picture) {
  try {
    if (picture) example.picture = thumbnail(picture->picture);
    log_->add(example);
    metrics_.count("arrcoc_logged_total");
    const std::scoped_lock lock(mutex_);
    if (options_.log_days > 0 && Clock::now() - cleaned_ > std::chrono::hours(1)) {
      cleaned_ = Clock::now();
      log_->forget(options_.log_days);
    }
    return true;
  } catch (const Error& e) {
    metrics_.count("arrcoc_log_failures_total");
    if (say_) say_(dump({{"level", "error"}, {"event", "example_log"}, {"message", e.what()}}));
    return false;
  }
}

void Examples::rate(const FeedbackRequest& request) {
  if (!log_)
    throw ApiError(501, "unsupported", "this server keeps no example log (start it with --log)");
  Remembered recent;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::find_if(recent_.begin(), recent_.end(), [&](const Remembered& r) {
      return r.example.id == request.id;
    });
    if (found != recent_.end()) {
      recent = std::move(*found);
      recent_.erase(found);
    }
  }
  const ApiError unavailable(503, "log_unavailable",
                             "the rating could not be written, try again later");
  // What people care to rate is worth keeping, whether or not it was chosen.
  if (!recent.example.id.empty() && !write(recent.example, recent.picture.lock())) {
    const std::scoped_lock lock(mutex_);
    recent_.push_back(std::move(recent));
    throw unavailable;
  }
  try {
    if (!log_->rate(request.id, request.rating, request.comment))
      throw ApiError(404, "not_found", "no answer with this id, or it is too long ago");
  } catch (const Error&) {
    metrics_.count("arrcoc_log_failures_total");
    throw unavailable;
  }
  metrics_.count("arrcoc_feedback_total", label("rating", to_string(request.rating)));
}

}  // namespace arrcoc::serving
