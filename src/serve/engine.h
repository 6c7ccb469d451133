// Pictures and questions in, answers out: the bundled model behind a queue.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "arrcoc/answering.h"
#include "arrcoc/esper.h"
#include "arrcoc/realize.h"
#include "arrcoc/serve.h"
#include "models/tiny/tiny.h"
#include "serve/metrics.h"
#include "serve/picture_cache.h"
#include "serve/telling.h"
#include "serve/workers.h"

namespace arrcoc::serving {

struct Question {
  SeenRef picture;
  std::string text;
  std::string policy;
  std::string budget;     // number, level or rule; "auto" is that of `ask`, "learned" the same
  int sharers = 1;        // pictures that share the budget
  int passes = 1;         // looks, at most; all of them together stay below the budget
  bool answer = true;     // false: only look
  std::string allocator;  // "": the policy's
  int token_pixels = 0;   // zoom
};

struct Pass {
  Allocation allocation;
  std::string answer;
  double confidence = 0;   // calibrated: how often such an answer is right
  double uncertainty = 1;  // esper::uncertainty
  double explore = 0;      // how far this pass was drawn to what none had seen
};

struct Outcome {
  tiny::Answer answer;  // of the pass of least uncertainty
  size_t best = 0;      // that pass
  std::vector<Pass> passes;
  std::string stopped;  // why no further pass: "sure", "passes", "budget"
  Relevance relevance;  // of the first look
  Budget budget;        // for all passes
  int64_t kept = 0, native = 0;
  std::vector<Stage> stages;
  std::vector<std::string> fallbacks;
  const Allocation& allocation() const { return passes[best].allocation; }
  double confidence() const { return passes[best].confidence; }
};

// One question on its way. Several clients may wait for one job.
class Job : public Telling {
 public:
  explicit Job(Question question) : question_(std::move(question)) {}
  const Question& question() const { return question_; }
  // Only after the end.
  std::shared_ptr<const Outcome> outcome() const { return outcome_; }

 private:
  friend class Engine;

  Question question_;
  std::string key_;
  std::shared_ptr<Outcome> outcome_ = std::make_shared<Outcome>();
  std::atomic<int> listeners_{0};  // grows only under the engine's mutex
  // work in progress
  esper::Trace trace_;            // what earlier passes saw
  std::string manner_ = "first";  // how the next pass looks
  TokenSequence tokens_;
  int left_ = 0;  // tokens of the budget
};

// A client's hold on a job; a job that nobody holds any more is dropped when its turn comes.
using Ticket = std::shared_ptr<Job>;

class Engine {
 public:
  Engine(const Options& options, Metrics& metrics,
         std::shared_ptr<const answering::Answerer> answerer);
  ~Engine();

  // Decodes and looks at a picture, or finds it in the cache. ApiError{429} when the queue is full,
  // {504} at the deadline, Error of media::decode.
  SeenRef see(const std::vector<uint8_t>& bytes, Clock::time_point deadline);
  // ApiError{429}.
  Ticket ask(Question question);
  // Other work for the same threads. ApiError{429}.
  void run(std::function<void()> work);

  const Drift& drift() const { return drift_; }
  int64_t cache_bytes() const { return cache_.bytes(); }
  size_t waiting() const { return workers_.waiting(); }
  void stop() { workers_.stop(); }

 private:
  using JobRef = std::shared_ptr<Job>;
  void require_room() const;
  SeenRef read(const std::vector<uint8_t>& bytes, const std::string& key);
  void look(const JobRef& job);
  void look_first(Job& job);
  void cut(Job& job);
  void answer(std::vector<JobRef> batch);
  std::vector<tiny::Answer> read_together(const std::vector<JobRef>& batch);
  void take(const JobRef& job, tiny::Answer answer);
  void finish(Job& job, std::exception_ptr problem);
  // True when nobody waits any more; from then on nobody can join either.
  bool dropped(const Job& job);
  void forget(const Job& job);  // under mutex_
  void lap(Job& job, const char* stage, Clock::time_point since);

  const Options options_;
  Metrics& metrics_;
  std::shared_ptr<const answering::Answerer> answerer_;  // its model and calibration
  const tiny::TinyModel& model_;
  PictureCache cache_;
  Drift drift_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Job>> running_;  // for equal questions at the same time
  Workers<JobRef> workers_;                            // last: its threads use all of the above
};

// One thread a product: several requests run side by side, and threads of OpenBLAS or OpenMP that
// wait for each other on busy cores cost up to thirty times. For the whole process.
void limit_math_threads();

}  // namespace arrcoc::serving
