#include "serve/engine.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <algorithm>
#include <thread>

#include "arrcoc/error.h"
#include "base/cancel.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/upstream.h"

namespace arrcoc::serving {

namespace {

int worker_count(int wanted) {
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

struct Dropped {};  // nobody waited for a picture any more

// Whatever the answer depends on. The running job keeps its pictures, so their addresses are names.
std::string key_of(const Question& q) {
  const AskOptions& o = q.options;
  json key = {q.wanted, o.policy, o.budget, o.passes.passes, o.passes.total_budget, q.early};
  for (const SeenRef& picture : q.pictures)
    key.push_back(reinterpret_cast<uintptr_t>(picture.get()));
  key.push_back({o.generate.max_new_tokens, o.generate.temperature.value_or(-1),
                 o.generate.top_p.value_or(-1), o.generate.seed, o.generate.stop});
  for (const Turn& turn : o.before) key.push_back({turn.role, turn.text, turn.pictures});
  key.push_back(q.text);
  return key.dump(-1, ' ', false, json::error_handler_t::ignore);
}

// Only a single look at a single picture streams: everybody else may still change their mind.
bool streams(const Job& job) {
  return job.question().options.passes.passes == 1 && job.readings().size() == 1;
}

}  // namespace

std::shared_ptr<media::Decoders> decoders_for(const Options& options) {
  media::DecoderLimits limits;
  limits.processes = worker_count(options.decoders > 0 ? options.decoders : options.workers);
  limits.seconds = options.decode_seconds;
  limits.megabytes = options.decode_mb;
  return std::make_shared<media::Decoders>(limits);
}

void limit_math_threads() {
  at::set_num_threads(1);
  using Set = void (*)(int);
  if (auto set = reinterpret_cast<Set>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(1);
}

// The readings of several jobs as one list; text goes on to those who wait.
class Engine::BatchSink : public Sink {
 public:
  BatchSink(Engine& engine, const std::vector<JobRef>& batch) : engine_(engine) {
    for (const JobRef& job : batch) {
      job->restart();  // after an attempt that failed
      for (const Reading& reading : job->readings_) {
        readings.push_back(reading);
        owners_.push_back(job.get());
      }
    }
    replies_.resize(readings.size());
  }
  bool text(size_t i, std::string_view piece) override {
    Job& job = *owners_[i];
    if (streams(job)) job.add(piece);
    return !engine_.dropped(job);
  }
  void done(size_t i, Reply reply) override { replies_[i] = std::move(reply); }
  std::vector<Reply> replies_of(const Job& job) {
    std::vector<Reply> out;
    for (size_t i = 0; i < owners_.size(); ++i)
      if (owners_[i] == &job) out.push_back(std::move(replies_[i]));
    return out;
  }
  std::vector<Reading> readings;

 private:
  Engine& engine_;
  std::vector<Job*> owners_;
  std::vector<Reply> replies_;
};

Engine::Engine(const Options& options, Metrics& metrics, std::shared_ptr<const Asker> asker,
               std::shared_ptr<media::Decoders> decoders)
    : options_(options),
      metrics_(metrics),
      asker_(std::move(asker)),
      decoders_(std::move(decoders)),
      cache_(int64_t{options.cache_mb} << 20),
      workers_(worker_count(options.workers), options.batching ? options.batch_tokens : 0,
               [this](std::vector<JobRef> batch) { read(std::move(batch)); }) {}

Engine::~Engine() { workers_.stop(); }

void Engine::require_room() const {
  if (workers_.waiting() >= static_cast<size_t>(options_.queue))
    throw ApiError(429, "queue_full", "too many requests are waiting, try again later");
}

// ---- Pictures

SeenRef Engine::see(const std::vector<uint8_t>& bytes, const AskOptions& given,
                    Clock::time_point deadline, const std::function<void()>& patience) {
  const AskOptions options = asker_->fitted(given);
  const auto looker = asker_->looker(options);
  const bool closer = options.passes.passes > 1 && options.passes.enlarge;
  const PictureKey key{sha256(bytes),      looker.get(),      options.canvas,
                       options.least_side, options.most_side, options.enlarge || closer};
  auto promise = std::make_shared<std::promise<SeenRef>>();
  const PictureCache::Found found = cache_.find(key, *promise);
  const std::shared_ptr<void> waits(nullptr, [&](void*) { --*found.waiting; });
  metrics_.count(found.fresh ? "arrcoc_cache_misses_total" : "arrcoc_cache_hits_total");
  if (found.fresh) {
    const auto work = [this, key, promise, looker, options,
                       waiting = found.waiting](const std::vector<uint8_t>& copy) {
      SeenRef seen;
      std::exception_ptr problem;
      bool dropped = false;
      try {
        seen = decode_and_see(copy, key, looker, options,
                              [&] { return dropped = dropped || *waiting == 0; });
      } catch (...) {
        problem = dropped ? std::make_exception_ptr(Dropped{}) : std::current_exception();
      }
      cache_.settle(key, *promise, std::move(seen), problem);
    };
    try {
      require_room();
      workers_.add([work, bytes] { work(bytes); });
    } catch (...) {
      cache_.settle(key, *promise, nullptr, std::current_exception());
      throw;
    }
  }
  while (found.seen.wait_until(std::min(deadline, Clock::now() + kSlice)) !=
         std::future_status::ready) {
    if (Clock::now() >= deadline)
      throw ApiError(504, "timeout", "reading the picture took longer than allowed");
    patience();
  }
  try {
    return found.seen.get();
  } catch (const Dropped&) {  // by those who waited before us
    return see(bytes, given, deadline, patience);
  }
}

SeenRef Engine::decode_and_see(const std::vector<uint8_t>& bytes, const PictureKey& key,
                               std::shared_ptr<const Looker> looker, const AskOptions& options,
                               const std::function<bool()>& given_up) {
  auto lap = [&, watch = Stopwatch()](const char* stage) mutable {
    metrics_.observe("arrcoc_stage_seconds", 1e-3 * watch.lap(), label("stage", stage));
  };
  const SeenRef known = cache_.like(key);  // the same picture for other options
  Picture picture;
  if (known) {
    picture = known->picture;
  } else {
    media::LoadOptions load;
    load.max_megapixels = options_.max_megapixels;
    load.apart = decoders_;
    load.given_up = given_up;
    picture = media::decode(bytes, "the picture", load);
    lap("decoding");
  }
  SeenRef out;
  if (known && known->looker == looker) {
    auto copy = std::make_shared<SeenPicture>(*known);
    copy->pyramid = std::make_shared<const Pyramid>(pyramid_of(picture, options));
    out = std::move(copy);
  } else {
    out = arrcoc::see(std::move(picture), std::move(looker), options);
  }
  lap("seeing");
  return out;
}

// ---- Questions

Ticket Engine::ask(Question question) {
  parse_query(question.text);
  auto job = std::make_shared<Job>(std::move(question));
  const bool shared = options_.batching && job->question_.wanted != Wanted::readings;
  if (shared) job->key_ = key_of(job->question_);
  // Ends with the last client that holds it.
  const auto held = [](const JobRef& one) {
    ++one->listeners_;
    return Ticket(one.get(), [one](Job*) { --one->listeners_; });
  };
  Ticket ticket;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto same = running_.find(job->key_); shared && same != running_.end()) {
      if (const JobRef known = same->second.lock()) {
        metrics_.count("arrcoc_coalesced_total");
        return held(known);
      }
    }
    require_room();
    if (shared) running_[job->key_] = job;
    ticket = held(job);
  }
  workers_.add([this, job] { advance(job); });
  return ticket;
}

void Engine::advance(const JobRef& job) {
  if (dropped(*job)) return;
  const Question& q = job->question_;
  try {
    if (!job->asking_) job->asking_.emplace(q.pictures, q.model, q.text, q.options);
    job->readings_ = job->asking_->next();
    if (q.wanted == Wanted::readings) return end(*job, nullptr);
    if (q.wanted == Wanted::look || job->readings_.empty()) return finish(*job);
    if (q.early && !job->first_look_) {
      job->first_look_ = std::make_shared<const Answer>(job->asking_->finish());
      job->looked();
    }
  } catch (...) {
    return end(*job, std::current_exception());
  }
  int64_t tokens = 0;
  for (Reading& reading : job->readings_) {
    reading.answer = q.wanted == Wanted::answer;
    tokens += static_cast<int64_t>(reading.question.size());
    for (const PictureTokens& picture : reading.pictures) tokens += picture.tokens.size();
  }
  // Only the bundled model gains from company; without batches there is no need to queue again.
  const bool together = options_.batching && asker_->bundle() && q.model == asker_->bundle()->model;
  if (!together) return read({job});
  workers_.add_batchable(job, tokens);
}

void Engine::read(std::vector<JobRef> batch) {
  std::erase_if(batch, [&](const JobRef& job) { return dropped(*job); });
  if (batch.empty()) return;
  metrics_.observe("arrcoc_batch_questions", static_cast<double>(batch.size()));
  BatchSink sink(*this, batch);
  const CancelScope scope([this, &batch] {
    return std::all_of(batch.begin(), batch.end(),
                       [this](const JobRef& job) { return dropped(*job); });
  });
  Stopwatch watch;
  try {
    batch.front()->question_.model->read(sink.readings, sink);
  } catch (...) {
    if (batch.size() == 1) return end(*batch[0], std::current_exception());
    // One bad question must not fail the others.
    for (const JobRef& job : batch) read({job});
    return;
  }
  const double milliseconds = watch.lap();  // that each of them waited
  for (const JobRef& job : batch) {
    try {
      hear(job, sink.replies_of(*job), milliseconds);
    } catch (...) {
      end(*job, std::current_exception());
    }
  }
}

void Engine::hear(const JobRef& job, std::vector<Reply> replies, double milliseconds) {
  for (const Reply& reply : replies)
    if (reply.quality) drift_.add(reply.quality->first, reply.quality->second);
  job->asking_->spent("reading", milliseconds);
  job->asking_->hear(std::move(replies));
  if (job->question_.wanted == Wanted::count) return finish(*job);
  if (job->question_.options.passes.passes == 1) return advance(job);
  // Whoever looks again waits for its turn.
  workers_.add([this, job] { advance(job); });
}

void Engine::finish(Job& job) {
  auto answer = std::make_shared<const Answer>(job.asking_->finish());
  for (const Stage& stage : answer->stages)
    metrics_.observe("arrcoc_stage_seconds", 1e-3 * stage.milliseconds, label("stage", stage.name));
  for (const std::string& note : answer->fallbacks)
    for (const auto& [mark, kind] :
         {std::pair{kLookerFailed, "realizer"}, {kAdapterBypassed, "adapter"}})
      if (note.rfind(mark, 0) == 0) metrics_.count("arrcoc_fallbacks_total", label("kind", kind));
  job.answer_ = std::move(answer);
  end(job, nullptr);
}

void Engine::end(Job& job, std::exception_ptr problem) {
  {
    const std::scoped_lock lock(mutex_);
    forget(job);
  }
  if (job.question_.wanted != Wanted::readings) {
    job.readings_.clear();
    job.asking_.reset();
  }
  job.AnswerStream::end(problem, job.answer_ ? job.answer_->text : "");
}

bool Engine::dropped(const Job& job) {
  const std::scoped_lock lock(mutex_);
  if (job.listeners_ > 0) return false;
  forget(job);
  return true;
}

void Engine::forget(const Job& job) {
  const auto entry = running_.find(job.key_);
  if (entry != running_.end() && entry->second.lock().get() == &job) running_.erase(entry);
}

}  // namespace arrcoc::serving
