// Which answers are written to the example log, and what people think of them.
#include <algorithm>
#include <cstring>

#include "arrcoc/media.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/service.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kRemembered = 512;  // answers that may still get feedback
constexpr int kThumbnail = 256;

std::vector<uint8_t> thumbnail(const Picture& picture) {
  const double scale =
      std::min(1.0, static_cast<double>(kThumbnail) / std::max(picture.width(), picture.height()));
  const auto side = [&](int n) { return std::max(1, static_cast<int>(n * scale)); };
  return media::encode_png(
      arrcoc::resize(picture, side(picture.width()), side(picture.height())).rgb);
}

// Ids differ, ours and those of an upstream: their digest decides, no other randomness is needed.
bool chosen(const std::string& id, double share) {
  const std::string digest = sha256({id.begin(), id.end()});
  uint32_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number < share * 4294967296.0;
}

}  // namespace

bool Service::remember(Example example, const SeenRef& picture) {
  if (!examples_) return false;
  if (chosen(example.id, options_.log_share)) return write_example(std::move(example), picture);
  const std::scoped_lock lock(mutex_);
  recent_.push_back({std::move(example), picture});
  if (recent_.size() > kRemembered) recent_.pop_front();
  return false;
}

// A log that cannot be written costs the example, never the answer.
bool Service::write_example(Example example, const SeenRef& picture) {
  try {
    if (picture) example.picture = thumbnail(picture->picture);
    examples_->add(example);
    metrics_.count("arrcoc_logged_total");
    const std::scoped_lock lock(mutex_);
    if (options_.log_days > 0 && Clock::now() - cleaned_ > std::chrono::hours(1)) {
      cleaned_ = Clock::now();
      examples_->forget(options_.log_days);
    }
    return true;
  } catch (const Error& e) {
    metrics_.count("arrcoc_log_failures_total");
    if (log_) log_(dump({{"level", "error"}, {"event", "example_log"}, {"message", e.what()}}));
    return false;
  }
}

void Service::feedback(const std::string& body, Response& response) {
  const FeedbackRequest request = parse_feedback(parse_json(body, "the request"));
  if (!examples_)
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
  // What people care to rate is worth keeping, whether or not it was chosen.
  if (!recent.example.id.empty() && !write_example(recent.example, recent.picture.lock())) {
    const std::scoped_lock lock(mutex_);
    recent_.push_back(std::move(recent));
    throw ApiError(503, "log_unavailable", "the rating could not be written, try again later");
  }
  try {
    if (!examples_->rate(request.id, request.rating, request.comment))
      throw ApiError(404, "not_found", "no answer with this id, or it is too long ago");
  } catch (const Error&) {
    metrics_.count("arrcoc_log_failures_total");
    throw ApiError(503, "log_unavailable", "the rating could not be written, try again later");
  }
  metrics_.count("arrcoc_feedback_total", label("rating", request.rating));
  response.set_content(dump({{"id", request.id}, {"rating", request.rating}}), "application/json");
}

std::string Service::metrics_text() {
  if (ready_) {
    metrics_.set("arrcoc_cache_bytes", static_cast<double>(engine_->cache_bytes()));
    metrics_.set("arrcoc_queue_jobs", static_cast<double>(engine_->waiting()));
    metrics_.set("arrcoc_adapter_quality_mean", engine_->drift().mean());
    metrics_.set("arrcoc_adapter_quality_std", engine_->drift().deviation());
    metrics_.set("arrcoc_adapter_drift", engine_->drift().shift());
  }
  return metrics_.text();
}

}  // namespace arrcoc::serving
