#include "serve/examples.h"

#include <arpa/inet.h>

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
constexpr int kPatienceMs = 250;  // with a log that is locked: the answer waits
constexpr size_t kClients = 4096;

std::vector<uint8_t> thumbnail(const Picture& picture) {
  const double scale =
      std::min(1.0, static_cast<double>(kThumbnail) / std::max(picture.width(), picture.height()));
  const auto side = [&](int n) { return std::max(1, static_cast<int>(n * scale)); };
  return media::encode_png(resize(picture, side(picture.width()), side(picture.height())).rgb);
}

// Ids are random: their digest decides, no other randomness is needed.
bool chosen(const std::string& id, double share) {
  const std::string digest = sha256(id);
  uint32_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number < share * 4294967296.0;
}

}  // namespace

bool RateLimit::allows(const std::string& client, Clock::time_point now) {
  if (a_minute_ == 0) return true;
  const std::scoped_lock lock(mutex_);
  if (buckets_.size() >= kClients && !buckets_.count(client))
    buckets_.erase(std::min_element(buckets_.begin(), buckets_.end(), [](auto& a, auto& b) {
      return a.second.filled < b.second.filled;
    }));
  Bucket& bucket = buckets_.try_emplace(client, Bucket{1.0 * a_minute_, now}).first->second;
  const double minutes = std::chrono::duration<double>(now - bucket.filled).count() / 60;
  bucket.left = std::min<double>(a_minute_, bucket.left + a_minute_ * minutes);
  bucket.filled = now;
  if (bucket.left < 1) return false;
  bucket.left -= 1;
  return true;
}

Examples::Examples(const Options& options, Metrics& metrics, Server::Log log)
    : options_(options), metrics_(metrics), say_(std::move(log)), ratings_(options.log_ratings) {
  if (options.log.empty()) return;
  log_ = std::make_unique<ExampleLog>(options.log, LogLimits{kPatienceMs, options.log_mb});
  cleaner_ = std::jthread([this](const std::stop_token& stop) { clean(stop); });
}

// Old examples go whether or not new ones come.
void Examples::clean(const std::stop_token& stop) {
  const double often = options_.log_days > 0 ? options_.log_days * 86400 / 24 : 60;
  const std::chrono::duration<double> pause(std::clamp(often, 1.0, 60.0));
  std::mutex alone;
  std::unique_lock lock(alone);
  do {
    try {
      if (options_.log_days > 0) log_->forget(options_.log_days);
      log_->tidy();
    } catch (const Error& e) {
      failed(e);
    }
  } while (!woken_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); }));
}

void Examples::failed(const Error& problem) {
  metrics_.count("arrcoc_log_failures_total");
  if (say_) say_(dump({{"level", "error"}, {"event", "example_log"}, {"message", problem.what()}}));
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
    return true;
  } catch (const Error& e) {
    failed(e);
    return false;
  }
}

// What people care to rate is worth keeping, whether or not it was chosen. Who rates the same
// answer meanwhile waits until it is written.
bool Examples::write_recent(const std::string& id) {
  const std::scoped_lock one(rating_);
  Remembered recent;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::find_if(recent_.begin(), recent_.end(),
                                    [&](const Remembered& r) { return r.example.id == id; });
    if (found == recent_.end()) return true;
    recent = std::move(*found);
    recent_.erase(found);
  }
  if (write(recent.example, recent.picture.lock())) return true;
  const std::scoped_lock lock(mutex_);
  recent_.push_back(std::move(recent));
  return false;
}

void Examples::rate(const FeedbackRequest& request, const std::string& address) {
  if (!log_)
    throw ApiError(501, "unsupported", "this server keeps no example log (start it with --log)");
  const std::string client = client_of(address);
  if (!ratings_.allows(client))
    throw ApiError(429, "too_many_ratings", "too many ratings in a minute, try again later");
  const ApiError unavailable(503, "log_unavailable",
                             "the rating could not be written, try again later");
  if (!write_recent(request.id)) throw unavailable;
  try {
    const auto rated = log_->rate(request.id, request.rating, request.comment, log_->rater(client));
    if (rated == ExampleLog::Rated::unknown)
      throw ApiError(404, "not_found", "no answer with this id, or it is too long ago");
    if (rated == ExampleLog::Rated::too_often)
      throw ApiError(429, "too_many_ratings", "this answer was rated too often");
  } catch (const Error& e) {
    failed(e);
    throw unavailable;
  }
  metrics_.count("arrcoc_feedback_total", label("rating", to_string(request.rating)));
}

}  // namespace arrcoc::serving
