// The one list of server options: configuration keys, flags, environment and help come from here.
#pragma once

#include "arrcoc/serve.h"

namespace arrcoc::serving {

// Calls f(name, help, field&) for every field.
template <class F>
void visit_fields(Options& o, F&& f) {
  f("host", "address to listen on", o.host);
  f("port", "port to listen on; 0: any free one", o.port);
  f("api_key", "clients must send it as Authorization: Bearer KEY", o.api_key);
  f("tiny", "folder of the bundled model", o.tiny);
  f("model", "folder of a Hugging Face model that answers instead of the bundled one", o.model);
  f("mode", "of that model: prune, patches or zoom; \"\": zoom if it can, else prune", o.mode);
  f("relevance", "of that model, map from: realizer, clip, attention or combined", o.relevance);
  f("relevance_model", "folder of a CLIP or SigLIP model", o.relevance_model);
  f("device", "of that model: cpu, cuda or cuda:N", o.device);
  f("dtype", "of that model: float32, bfloat16 or float16", o.dtype);
  f("max_new_tokens", "of its answers, at most; 0: what its folder says", o.max_new_tokens);
  f("policy", "policy of requests that name none", o.policy);
  f("budget", "budget of requests that name none: a number, a level or a rule", o.budget);
  f("threshold", "below this confidence an answer is unsure", o.threshold);
  f("workers", "threads that compute; 0: one a core", o.workers);
  f("batching", "answer several questions at once (true, false)", o.batching);
  f("batch_tokens", "tokens of one batch", o.batch_tokens);
  f("queue", "jobs that may wait before requests are refused", o.queue);
  f("cache_mb", "megabytes of pictures already seen", o.cache_mb);
  f("connections", "connections open at once", o.connections);
  f("max_body_mb", "largest request body", o.max_body_mb);
  f("max_megapixels", "largest picture", o.max_megapixels);
  f("max_pictures", "pictures of one request", o.max_pictures);
  f("request_seconds", "time for one answer", o.request_seconds);
  f("read_seconds", "time for a request to arrive", o.read_seconds);
  f("idle_seconds", "time between two requests of a connection", o.idle_seconds);
  f("shutdown_seconds", "time for what runs when the server is stopped", o.shutdown_seconds);
  f("file_root", "allow file:// pictures below this folder", o.file_root);
  f("log", "example log, an SQLite file", o.log);
  f("log_share", "share of requests that are logged", o.log_share);
  f("log_days", "days that examples are kept; 0: for ever", o.log_days);
  f("upstream", "proxy to this OpenAI-compatible server", o.upstream);
  f("upstream_key", "key for the upstream", o.upstream_key);
  f("upstream_family", "how the upstream counts picture tokens; auto: by model name",
    o.upstream_family);
  f("upstream_budgets", "PATTERN=BUDGET by model name", o.upstream_budgets);
  f("upstream_seconds", "patience with a silent upstream", o.upstream_seconds);
  f("upstream_retries", "tries after a failed one", o.upstream_retries);
}

// Sets the fields that the JSON object names. Error{bad_json}.
void apply_json(Options& options, const std::string& json);

// Error{bad_argument} naming the option that cannot be.
void check(const Options& options);

}  // namespace arrcoc::serving
