#include "serve/engine.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "ask/plan.h"
#include "serve/api_error.h"
#include "serve/encoding.h"

namespace arrcoc::serving {

namespace {

constexpr int kFixedTokens = 180;  // when the realizer fails
constexpr int kSmallestPass = 16;  // fewer tokens than this are not worth a pass

int worker_count(int wanted) {
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string key_of(const Question& q) {
  const std::string gap(1, '\0');
  return q.picture->key + q.policy + gap + q.budget + gap + std::to_string(q.sharers) + gap +
         std::to_string(q.passes) + (q.answer ? "a" : "l") + q.allocator + gap +
         std::to_string(q.token_pixels) + gap + q.text;
}

// Half of what is left goes to each pass but the last.
int tokens_of_pass(int left, size_t done, int passes) {
  const bool last = done + 1 >= static_cast<size_t>(passes) || left < 2 * kSmallestPass;
  return last ? left : left / 2;
}

// The map comes from the bundled network, whose page features are remembered.
bool of_network(const arrcoc::Options& options) {
  return options.coupling == "realizer" && options.providers.empty();
}

esper::Rules rules_of(const Question& q) {
  esper::Rules rules;
  rules.passes = q.passes;
  return rules;
}

}  // namespace

void limit_math_threads() {
  at::set_num_threads(1);
  using Set = void (*)(int);
  if (auto set = reinterpret_cast<Set>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(1);
}

Engine::Engine(const Options& options, Metrics& metrics,
               std::shared_ptr<const answering::Answerer> answerer)
    : options_(options),
      metrics_(metrics),
      answerer_(std::move(answerer)),
      model_(answerer_->model()),
      cache_(int64_t{options.cache_mb} << 20),
      workers_(worker_count(options.workers), options.batching ? options.batch_tokens : 0,
               [this](std::vector<JobRef> batch) { answer(std::move(batch)); }) {}

Engine::~Engine() { workers_.stop(); }

void Engine::require_room() const {
  if (workers_.waiting() >= static_cast<size_t>(options_.queue))
    throw ApiError(429, "queue_full", "too many requests are waiting, try again later");
}

SeenRef Engine::see(const std::vector<uint8_t>& bytes, Clock::time_point deadline) {
  const std::string key = sha256(bytes);
  auto promise = std::make_shared<std::promise<SeenRef>>();
  bool fresh = false;
  const std::shared_future<SeenRef> future = cache_.find(key, *promise, fresh);
  metrics_.count(fresh ? "arrcoc_cache_misses_total" : "arrcoc_cache_hits_total");
  if (fresh) {
    try {
      require_room();
    } catch (...) {
      cache_.settle(key, *promise, nullptr, std::current_exception());
      throw;
    }
    auto copy = std::make_shared<std::vector<uint8_t>>(bytes);
    workers_.add([this, key, promise, copy] {
      SeenRef seen;
      std::exception_ptr problem;
      try {
        seen = read(*copy, key);
      } catch (...) {
        problem = std::current_exception();
      }
      cache_.settle(key, *promise, std::move(seen), problem);
    });
  }
  if (future.wait_until(deadline) != std::future_status::ready)
    throw ApiError(504, "timeout", "reading the picture took longer than allowed");
  return future.get();
}

SeenRef Engine::read(const std::vector<uint8_t>& bytes, const std::string& key) {
  auto start = Clock::now();
  media::LoadOptions load;
  load.max_megapixels = options_.max_megapixels;
  auto seen = std::make_shared<SeenPicture>();
  seen->key = key;
  seen->picture = media::decode(bytes, "the picture", load);
  metrics_.observe("arrcoc_stage_seconds", seconds_since(start), label("stage", "decoding"));
  start = Clock::now();
  const arrcoc::Options usual = policy("realizer");
  const at::Tensor frame = frame_of(seen->picture, usual.frame);
  const Texture texture = texture::sense(
      seen->picture, frame, {channel_set(usual.channels), usual.frame, usual.cell, {}});
  const Query nothing = parse_query("picture");
  seen->blind = scoring::know({seen->picture, frame, texture, nothing,
                               scoring::map_shape(seen->picture, frame, usual.cell)},
                              {usual.information, usual.salience, "none"});
  try {
    seen->page = model_.see(seen->picture, frame);
  } catch (const std::exception&) {
    // Questions about this picture will use the fixed allocation and say so.
  }
  seen->pyramid = std::make_unique<const Pyramid>(seen->picture);
  seen->bytes = static_cast<int64_t>(seen->picture.rgb.nbytes()) * 4 / 3 + 8192 +
                (seen->page ? tiny::TinyModel::bytes(*seen->page) : 0);
  metrics_.observe("arrcoc_stage_seconds", seconds_since(start), label("stage", "seeing"));
  return seen;
}

Ticket Engine::ask(Question question) {
  parse_query(question.text);
  auto job = std::make_shared<Job>(std::move(question));
  job->key_ = key_of(job->question_);
  // Ends with the last client that holds it.
  const auto held = [](const JobRef& shared) {
    ++shared->listeners_;
    return Ticket(shared.get(), [shared](Job*) { --shared->listeners_; });
  };
  Ticket ticket;
  {
    const std::scoped_lock lock(mutex_);
    if (options_.batching) {
      const auto same = running_.find(job->key_);
      if (same != running_.end()) {
        JobRef known = same->second.lock();
        if (known) {
          metrics_.count("arrcoc_coalesced_total");
          return held(known);
        }
      }
    }
    require_room();
    running_[job->key_] = job;
    ticket = held(job);
  }
  workers_.add([this, job] { look(job); });
  return ticket;
}

void Engine::run(std::function<void()> work) {
  require_room();
  workers_.add(std::move(work));
}

void Engine::lap(Job& job, const char* stage, Clock::time_point since) {
  const double spent = seconds_since(since);
  job.outcome_->stages.push_back({stage, 1e3 * spent});
  metrics_.observe("arrcoc_stage_seconds", spent, label("stage", stage));
}

void Engine::look(const JobRef& job) {
  if (dropped(*job)) return;
  try {
    const auto start = Clock::now();
    if (job->outcome_->passes.empty()) look_first(*job);
    cut(*job);
    lap(*job, "looking", start);
    if (!job->question_.answer) return finish(*job, nullptr);
  } catch (...) {
    return finish(*job, std::current_exception());
  }
  // Without batches there is nothing to gain from queueing again.
  if (!options_.batching) return answer({job});
  const int64_t tokens = job->tokens_.size() + static_cast<int64_t>(job->question_.text.size());
  workers_.add_batchable(job, tokens);
}

void Engine::look_first(Job& job) {
  const Question& q = job.question_;
  const SeenPicture& seen = *q.picture;
  Outcome& out = *job.outcome_;
  const Query query = parse_query(q.text);
  arrcoc::Options options = policy(q.policy);
  std::string rule = q.budget == "learned" ? "auto" : q.budget;
  const auto range = answering::auto_range(rule);
  std::optional<Budget> learned;
  try {
    if (of_network(options)) {
      if (!seen.page) throw Error(ErrorCode::numeric, "the picture has no page features");
      const tiny::Opinion opinion = model_.look(*seen.page, query.text);
      require_finite(opinion.relevance, "realizer");
      if (answering::source_of(q.policy) == answering::Source::network) {  // as `ask` has it
        out.relevance = answering::relevance_of(opinion);
      } else {
        Knowledge knowledge = seen.blind;
        knowledge.coupling = opinion.relevance;
        out.relevance = balancing::balance(knowledge, query, options.balancer, options.balance);
      }
      if (range) learned = answering::auto_budget(answerer_->calibration(), opinion, query, *range);
    } else {
      options.budget = "1";  // only the map is wanted here
      options.allocator = "quadtree";
      out.relevance = realize(seen.picture, *seen.pyramid, q.text, options).relevance;
    }
  } catch (const Error& e) {
    if (e.code() == ErrorCode::bad_argument || e.code() == ErrorCode::not_found) throw;
    out.relevance = Relevance{};
    out.relevance.map = like(seen.blind.information, 0.5F);
    out.relevance.fallbacks = {std::string("the realizer failed, even detail is used: ") +
                               e.what()};
    metrics_.count("arrcoc_fallbacks_total", label("kind", "realizer"));
    if (range) rule = std::to_string(kFixedTokens);
  }
  out.budget = learned ? *learned : allocating::budget(out.relevance, query, rule);
  out.budget.tokens = std::max(1, out.budget.tokens / q.sharers);
  out.native = seen.pyramid->geometry().native_tokens();
  job.left_ = out.budget.tokens;
  out.fallbacks = out.relevance.fallbacks;
}

void Engine::cut(Job& job) {
  const Question& q = job.question_;
  Outcome& out = *job.outcome_;
  const SeenPicture& seen = *q.picture;
  arrcoc::Options options = policy(q.policy);
  if (!q.allocator.empty()) options.allocator = q.allocator;
  if (q.token_pixels > 0) options.allocate.token_pixels = q.token_pixels;
  Budget budget = out.budget;
  budget.tokens = tokens_of_pass(job.left_, out.passes.size(), q.passes);
  Pass pass;
  const auto number = static_cast<int>(out.passes.size());
  const double last = number == 0 ? 0 : out.passes.back().uncertainty;
  // A single pass has no second chance to use what exploring finds.
  pass.explore = q.passes == 1 ? 0 : esper::exploration(number, last);
  Relevance relevance = out.relevance;
  const Map& map = out.relevance.map;
  relevance.map =
      esper::temper(map, resample(seen.blind.information, map.rows, map.cols), job.trace_,
                    job.manner_, pass.explore, last, rules_of(q), static_cast<uint64_t>(number));
  pass.allocation = allocating::allocate(relevance, seen.pyramid->geometry(), budget,
                                         options.allocator, options.allocate);
  if (q.answer) job.tokens_ = cutting::realize(*seen.pyramid, pass.allocation);
  if (q.answer && job.tokens_.size() == 0)
    throw Error(ErrorCode::unsupported,
                "the bundled model reads leaves, policy '" + q.policy + "' gives none");
  job.left_ -= pass.allocation.tokens();
  out.kept += pass.allocation.tokens();
  out.fallbacks.insert(out.fallbacks.end(), pass.allocation.fallbacks.begin(),
                       pass.allocation.fallbacks.end());
  out.passes.push_back(std::move(pass));
}

void Engine::answer(std::vector<JobRef> batch) {
  std::erase_if(batch, [&](const JobRef& job) { return dropped(*job); });
  if (batch.empty()) return;
  metrics_.observe("arrcoc_batch_questions", static_cast<double>(batch.size()));
  const auto start = Clock::now();
  std::vector<tiny::Answer> answers;
  try {
    answers = read_together(batch);
  } catch (...) {
    if (batch.size() == 1) return finish(*batch[0], std::current_exception());
    // One bad question must not fail the others.
    for (const JobRef& job : batch) answer({job});
    return;
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    try {
      lap(*batch[i], "answering", start);
      take(batch[i], std::move(answers[i]));
    } catch (...) {
      finish(*batch[i], std::current_exception());
    }
  }
}

std::vector<tiny::Answer> Engine::read_together(const std::vector<JobRef>& batch) {
  std::vector<tiny::Reading> readings;
  for (const JobRef& job : batch) {
    job->forget_text();  // of an attempt that failed
    readings.push_back({&job->tokens_, job->question_.picture->pyramid->geometry(),
                        parse_query(job->question_.text).text});
  }
  const auto hear = [&](size_t i, const std::string& text) {
    Job& job = *batch[i];
    // Only a single look streams: a second one may change its mind.
    if (job.question_.passes == 1) job.add_text(text);
  };
  return model_.answer(readings, hear);
}

void Engine::take(const JobRef& job, tiny::Answer answer) {
  Outcome& out = *job->outcome_;
  drift_.add(answer.quality, answer.quality_spread);
  if (answer.adapter_bypassed) {
    metrics_.count("arrcoc_fallbacks_total", label("kind", "adapter"));
    out.fallbacks.emplace_back("the adapter failed and was bypassed");
  }
  if (out.passes.size() == 1) {
    if (answer.shortened) out.fallbacks.emplace_back(answering::kShortened);
    if (answerer_->stale()) out.fallbacks.emplace_back(answering::kStaleCalibration);
  }
  Pass& pass = out.passes.back();
  pass.answer = answer.text;
  pass.confidence = answering::calibrated(answerer_->calibration(), answer.confidence);
  pass.uncertainty = esper::uncertainty(answer.probabilities);
  esper::remember(job->trace_, pass.allocation, out.relevance.map,
                  {answer.text, answer.probabilities, answer.focus, {}});
  job->manner_ = esper::manner_after(esper::gathered(answer.focus), pass.uncertainty,
                                     rules_of(job->question_));
  if (out.passes.size() == 1 || pass.uncertainty < out.passes[out.best].uncertainty) {
    out.best = out.passes.size() - 1;
    out.answer = std::move(answer);
  }
  out.stopped = esper::why_stop(out.passes.size(), pass.uncertainty, rules_of(job->question_));
  // The operator's own bar, besides.
  if (out.stopped == "sure" && out.confidence() < options_.threshold &&
      out.passes.size() < static_cast<size_t>(job->question_.passes))
    out.stopped = "";
  if (out.stopped.empty() && job->left_ < kSmallestPass) out.stopped = "budget";
  if (out.stopped.empty()) {
    workers_.add([this, job] { look(job); });
  } else {
    finish(*job, nullptr);
  }
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

void Engine::finish(Job& job, std::exception_ptr problem) {
  {
    const std::scoped_lock lock(mutex_);
    forget(job);
  }
  job.tokens_ = {};
  job.trace_ = {};
  job.end(problem, job.outcome_->answer.text);
}

}  // namespace arrcoc::serving
