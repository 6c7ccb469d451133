// Questions behind a queue: a few threads drive many of them along the road (arrcoc/ask.h) and read
// the steps of several together.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arrcoc/ask.h"
#include "arrcoc/media.h"
#include "arrcoc/serve.h"
#include "serve/answer_stream.h"
#include "serve/metrics.h"
#include "serve/picture_cache.h"
#include "serve/workers.h"

namespace arrcoc::serving {

// How far a question goes.
enum class Wanted {
  answer,    // to its end
  count,     // until it is known what reading would cost
  look,      // until the tokens are spread
  readings,  // the same, and its one client reads: Job::readings, Job::asking
};

struct Question {
  std::vector<SeenRef> pictures;
  std::shared_ptr<const Model> model;  // null: the pictures are only looked at
  std::string text;
  AskOptions options;
  Wanted wanted = Wanted::answer;
  bool early = false;  // Job::first_look is wanted
};

// One question on its way. Several clients may wait for one job.
class Job : public AnswerStream {
 public:
  explicit Job(Question question) : question_(std::move(question)) {}
  const Question& question() const { return question_; }
  // Only after the end; null for Wanted::readings.
  const std::shared_ptr<const Answer>& answer() const { return answer_; }
  // Where the tokens of the first look go; only after wait_looked(), and null where the question
  // did not come that far.
  const std::shared_ptr<const Answer>& first_look() const { return first_look_; }
  const std::vector<Reading>& readings() const { return readings_; }
  Asking& asking() { return *asking_; }

 private:
  friend class Engine;

  Question question_;
  std::string key_;
  std::shared_ptr<const Answer> answer_, first_look_;
  std::atomic<int> listeners_{0};  // grows only under the engine's mutex
  // Work in progress: of the thread that has the job, handed on through the queue.
  std::optional<Asking> asking_;
  std::vector<Reading> readings_;  // point into asking_
};

// A client's hold on a job; a job that nobody holds any more is dropped when its turn comes.
using Ticket = std::shared_ptr<Job>;

class Engine {
 public:
  Engine(const Options& options, Metrics& metrics, std::shared_ptr<const Asker> asker,
         std::shared_ptr<media::Decoders> decoders);
  ~Engine();

  // Decodes and looks at a picture, or finds it in the cache. ApiError{429} when the queue is full,
  // {504} at the deadline, Error of media::decode. While it waits, patience() is called and may
  // throw; a picture that nobody waits for any more is not decoded to its end.
  SeenRef see(
      const std::vector<uint8_t>& bytes, const AskOptions& options, Clock::time_point deadline,
      const std::function<void()>& patience = [] {});
  // A picture that is still in the cache, by the SHA-256 of its bytes; null when it is not.
  SeenRef known(const std::string& digest) const { return cache_.like({digest}); }
  // ApiError{429}.
  Ticket ask(Question question);

  const Drift& drift() const { return drift_; }
  int64_t cache_bytes() const { return cache_.bytes(); }
  size_t waiting() const { return workers_.waiting(); }
  void stop() { workers_.stop(); }

 private:
  using JobRef = std::shared_ptr<Job>;
  class BatchSink;
  void require_room() const;
  SeenRef decode_and_see(const std::vector<uint8_t>& bytes, const PictureKey& key,
                         std::shared_ptr<const Looker> looker, const AskOptions& options,
                         const std::function<bool()>& given_up);
  // The next step of a question: looks, allocates, cuts, and queues what is to be read.
  void advance(const JobRef& job);
  void read(std::vector<JobRef> batch);
  void hear(const JobRef& job, std::vector<Reply> replies, double milliseconds);
  void finish(Job& job);
  void end(Job& job, std::exception_ptr problem);
  // True when nobody waits any more; from then on nobody can join either.
  bool dropped(const Job& job);
  void forget(const Job& job);  // under mutex_

  const Options options_;
  Metrics& metrics_;
  const std::shared_ptr<const Asker> asker_;
  const std::shared_ptr<media::Decoders> decoders_;
  PictureCache cache_;
  Drift drift_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Job>> running_;  // for equal questions at the same time
  Workers<JobRef> workers_;                            // last: its threads use all of the above
};

// The processes that decode what clients send. Error{not_found} without their program.
std::shared_ptr<media::Decoders> decoders_for(const Options& options);

// One thread a product: several requests run side by side, and threads of OpenBLAS or OpenMP that
// wait for each other on busy cores cost up to thirty times. For the whole process.
void limit_math_threads();

}  // namespace arrcoc::serving
