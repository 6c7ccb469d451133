// An OpenAI-compatible server over the bundled model or a Hugging Face folder, or a proxy in front
// of another server.
//
//   serving::Options options;
//   options.port = 8080;
//   serving::Server server(options, [](const std::string& line) { std::cerr << line << "\n"; });
//   server.start();   // returns when requests are answered
//   server.stop();    // finishes what runs
//
// docs/serving.md has the endpoints. Nothing here prints; every request gives one line of JSON to
// the log sink, without questions, pictures or keys.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrcoc/model.h"
#include "arrcoc/registry.h"

namespace arrcoc::serving {

// Field names are also the keys of the configuration file, with dashes the command-line flags and,
// in capitals after ARRCOC_SERVE_, the environment variables.
struct Options {
  // where
  std::string host = "127.0.0.1";
  int port = 8080;           // 0: any free one, see Server::port
  std::string api_key;       // "": none needed
  std::string api_key_file;  // holds it instead; see with_keys
  std::string tiny;          // folder of the bundled model; "": the one that find_bundle() gives
  // a Hugging Face model in this process; the bundled one only looks then
  std::string model;  // its folder; "": the bundled one answers
  ReadMode mode = ReadMode::automatic;
  RelevanceSource relevance = RelevanceSource::network;
  std::string relevance_model;  // folder of a CLIP or SigLIP model
  std::string device = "cpu";
  std::string dtype;
  int max_new_tokens = 0;  // 0: as its generation_config.json says
  // what requests get unless they say otherwise; the same as in AskOptions
  std::string policy = "realized";
  std::string budget = "auto";
  std::optional<double> threshold;  // below it an answer is unsure; none: the calibrated one
  // work
  int workers = 0;         // threads that compute; 0: one a core
  bool batching = true;    // answer several questions at once, and equal ones only once
  int batch_tokens = 640;  // tokens of one batch, padding included; see docs/serving.md
  int queue = 256;         // jobs that may wait; more are 429
  int cache_mb = 512;      // pictures already seen
  // limits
  int connections = 256;  // that are at a request at once; more are 503
  int connections_per_address = 128;
  double max_body_mb = 32;
  int inflight_mb = 160;  // of all requests that are being read and taken apart; more are 503
  int max_budget = 0;     // image tokens that a request may ask for; 0: any number
  double max_megapixels = 50;
  int decoders = 0;                    // processes that decode pictures; 0: as many as workers
  double decode_seconds = 20;          // of a processor for one picture; more is 413
  int decode_mb = 0;                   // memory for one picture; 0: as max_megapixels needs
  int max_pictures = 8;                // a request
  double request_seconds = 60;         // from the first byte of the answer's work to its end; 504
  double read_seconds = 20;            // for a whole request to arrive, however its bytes drip
  double idle_seconds = 15;            // of a connection between two requests
  double shutdown_seconds = 30;        // for what runs when the server is stopped
  std::vector<std::string> file_root;  // pictures by path (file://, MCP) below these folders
  std::vector<std::string> prices;     // PATTERN=DOLLARS for a million input tokens, by model name
  // example log
  std::string log;           // SQLite file; "": none
  double log_share = 0.001;  // of requests; those that get feedback are logged besides
  double log_days = 30;      // older examples are deleted; 0 keeps all
  double log_mb = 1024;      // of examples, then the oldest unrated are deleted; 0: no limit
  int log_ratings = 30;      // a minute from one address, more are 429; 0: no limit
  // proxy
  std::string upstream;      // http(s)://host[:port][/v1] of an OpenAI-compatible server
  std::string upstream_key;  // sent there instead of the client's key
  std::string upstream_key_file;
  std::string upstream_family = "auto";  // how it counts picture tokens, see families()
  std::string upstream_processor;        // its preprocessor_config.json; "": the family's own
  int upstream_image_min_tokens = 0;     // what its llama.cpp was started with; 0: as it tells
  int upstream_image_max_tokens = 0;
  std::vector<std::string> upstream_budgets;  // PATTERN=BUDGET by model name; * matches anything
  int upstream_memory_mb = 64;                // views that earlier turns sent, to be repeated
  int upstream_old_pictures = 0;              // of earlier turns that are sent; 0: all
  double upstream_seconds = 120;              // without a byte from there
  int upstream_retries = 2;  // after a failed connection or a 5xx, before anything was sent on
};

// Calls f(name, help, field&) for every field: see visit_fields().
template <class F>
void visit_upstream_fields(Options& o, F&& f) {
  f("upstream", "proxy to this OpenAI-compatible server", o.upstream);
  f("upstream_key", "key for the upstream", o.upstream_key);
  f("upstream_key_file", "file that holds the key for the upstream", o.upstream_key_file);
  f("upstream_family",
    "how the upstream counts picture tokens; auto: as it tells, or by model name",
    o.upstream_family);
  f("upstream_processor", "preprocessor_config.json of the model behind: exact counts",
    o.upstream_processor);
  f("upstream_image_min_tokens", "--image-min-tokens of the llama-server behind",
    o.upstream_image_min_tokens);
  f("upstream_image_max_tokens", "--image-max-tokens of the llama-server behind",
    o.upstream_image_max_tokens);
  f("upstream_budgets", "PATTERN=BUDGET by model name", o.upstream_budgets);
  f("upstream_memory_mb", "megabytes of views that earlier turns sent", o.upstream_memory_mb);
  f("upstream_old_pictures", "pictures of earlier turns that are sent, newest first; 0: all",
    o.upstream_old_pictures);
  f("upstream_seconds", "patience with a silent upstream", o.upstream_seconds);
  f("upstream_retries", "tries after a failed one", o.upstream_retries);
}
template <class F>
void visit_fields(Options& o, F&& f) {
  f("host", "address to listen on", o.host);
  f("port", "port to listen on; 0: any free one", o.port);
  f("api_key", "clients must send it as Authorization: Bearer KEY or x-api-key: KEY", o.api_key);
  f("api_key_file", "file that holds the key of clients", o.api_key_file);
  f("tiny", "folder of the bundled model", o.tiny);
  f("model", "folder of a Hugging Face model that answers instead of the bundled one", o.model);
  f("mode", "of that model: prune, patches or zoom; auto: zoom if it can, else prune", o.mode);
  f("relevance", "of that model, map from: network, clip, attention or combined", o.relevance);
  f("relevance_model", "folder of a CLIP or SigLIP model", o.relevance_model);
  f("device", "of that model and of the bundled networks: cpu, cuda or cuda:N", o.device);
  f("dtype",
    "of that model, else of the bundled networks: float32, bfloat16 or float16; of that model on "
    "the CPU int8, too",
    o.dtype);
  f("max_new_tokens", "of its answers, at most; 0: what its folder says", o.max_new_tokens);
  f("policy", "policy of requests that name none", o.policy);
  f("budget", "budget of requests that name none: a number, a level or a rule", o.budget);
  f("threshold", "below this confidence an answer is unsure; calibrated unless given", o.threshold);
  f("workers", "threads that compute; 0: one a core", o.workers);
  f("batching", "answer several questions at once (true, false)", o.batching);
  f("batch_tokens", "tokens of one batch", o.batch_tokens);
  f("queue", "jobs that may wait before requests are refused", o.queue);
  f("cache_mb", "megabytes of pictures already seen", o.cache_mb);
  f("connections", "requests that run at once; as many connections more may wait", o.connections);
  f("connections_per_address", "the same for one address (of IPv6, its first half)",
    o.connections_per_address);
  f("max_body_mb", "largest request body", o.max_body_mb);
  f("inflight_mb", "megabytes of all requests that are being read and taken apart", o.inflight_mb);
  f("max_budget", "most image tokens that a request gets, whatever it asks for; 0: no limit",
    o.max_budget);
  f("max_megapixels", "largest picture", o.max_megapixels);
  f("decoders", "processes that decode pictures; 0: as many as workers", o.decoders);
  f("decode_seconds", "seconds of a processor for decoding one picture", o.decode_seconds);
  f("decode_mb", "megabytes for decoding one picture; 0: what the largest can need", o.decode_mb);
  f("max_pictures", "pictures of one request", o.max_pictures);
  f("request_seconds", "time for one answer", o.request_seconds);
  f("read_seconds", "time for a request to arrive", o.read_seconds);
  f("idle_seconds", "time between two requests of a connection", o.idle_seconds);
  f("shutdown_seconds", "time for what runs when the server is stopped", o.shutdown_seconds);
  f("file_root", "allow pictures by path (file://, MCP) below this folder; may be repeated",
    o.file_root);
  f("prices", "PATTERN=DOLLARS for a million input tokens, by model name", o.prices);
  f("log", "example log, an SQLite file", o.log);
  f("log_share", "share of requests that are logged", o.log_share);
  f("log_days", "days that examples are kept; 0: for ever", o.log_days);
  f("log_mb", "megabytes of examples, then the oldest unrated go; 0: no limit", o.log_mb);
  f("log_ratings", "ratings a minute from one address; 0: no limit", o.log_ratings);
  visit_upstream_fields(o, f);
}

// Sets the fields that the JSON object names. Error{bad_json} for unknown keys and wrong types.
void apply_json(Options& options, const std::string& text);
std::string to_json(const Options& options);  // keys are shown as "***"
// Sets every field that the environment names; `get` stands for getenv. Error{bad_json}.
void apply_environment(Options& options, const std::function<const char*(const char*)>& get);
// Error{bad_argument} naming the option that cannot be.
void check(const Options& options);
// The keys that their files hold, without the line's end, and no files. Error{not_found}, Error{io}
// for a file that everybody can read, Error{bad_argument} for one without a key, or a key besides.
Options with_keys(Options options);

// How much of a picture a request wants to be seen: OpenAI's image_url.detail.
enum class Detail { low, automatic, high };

// What a server was told about the size of pictures. 0: the family's own.
struct PictureLimits {
  int64_t min_pixels = 0, max_pixels = 0;  // of the processor: vLLM's mm_processor_kwargs
  int min_tokens = 0, max_tokens = 0;      // llama-server's --image-min-tokens, --image-max-tokens
};

// The numbers of a rule that counts; those that its kind does not know are 0.
struct CountingRule {
  std::string kind;          // src/serve/counting/rules.h names them
  int patch = 0, merge = 1;  // pixels along a patch, patches along a token
  int tile = 0;              // pixels along a tile
  int tile_tokens = 0;       // tokens of a tile, or of every picture
  int base_tokens = 0;       // of every picture besides
  int extra = 0;             // around every picture: start, end, line breaks
  int min_tiles = 0, max_tiles = 0;
  int longest_edge = 0;  // pixels
  int64_t min_pixels = 0, max_pixels = 0;
  double factor = 1;
  std::vector<std::pair<int, int>> sizes;  // height, width that tiles may form
};

// How a family of models counts the tokens of a picture: all that its placeholder becomes in the
// prompt, row breaks and markers included, as vLLM's usage reports it.
struct Family {
  std::string name;
  std::string formula;     // for people
  std::string source;      // the public rule that this follows
  int token_pixels = 0;    // pixels along a token; 0: counted by tiles, or size hardly matters
  bool estimated = false;  // not known exactly
  PictureLimits limits;
  CountingRule rule;
  bool llama_cpp = false;  // llama.cpp resizes, by rules of its own
};
std::vector<Family> families();
// The family of a model's name; "unknown" (estimated) when nothing matches.
Family family_of(const std::string& model);
Family family_named(const std::string& name);  // Error{not_found}
// The same family as llama.cpp (llama-server, Ollama) counts it.
Family on_llama_cpp(Family family);
// With the numbers of a preprocessor_config.json or processor_config.json, then exact; an unknown
// family becomes the one that the file names, or stays estimated. Error{bad_json} naming the field.
Family with_processor(Family family, const std::string& json_text);
// Tokens of a picture of that many pixels.
int64_t picture_tokens(const Family& family, int width, int height,
                       Detail detail = Detail::automatic);

// What a running server saved so far (GET /v1/savings), as a table. where: http://host:port; key:
// "" where none is needed. Error{io} when it cannot be reached or refuses.
std::string savings_table(const std::string& where, const std::string& key);

class Server {
 public:
  using Log = std::function<void(const std::string& line)>;
  explicit Server(Options options, Log log = {});
  ~Server();  // stops

  // Binds, loads the model in the background and answers; /health is 503 until it is loaded.
  // Error{io} when the address is taken, Error{bad_argument} for options that cannot be.
  void start();
  int port() const;
  // Waits until the model is loaded; Error when it could not be. False when it took longer.
  void wait_ready();
  bool wait_ready(double seconds);
  // No new connections; what runs may finish within shutdown_seconds, what still runs then is told
  // so and, a moment later, broken off. True when nothing is left; false: only the end of the
  // process, or the destructor, which waits for it, ends what does not listen (loading).
  bool stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The Model Context Protocol over standard streams (docs/mcp.md; Server speaks it at /mcp): loads
// the model, then answers the lines of `in` on `out`, both descriptors, until `in` ends. Error as
// Server::start and wait_ready.
void serve_mcp(const Options& options, int in, int out, const Server::Log& log = {});

// ---- The example log

enum class Rating { none, up, down };

struct Example {
  int64_t number = 0;
  std::string id;    // of the answer
  std::string time;  // UTC, ISO 8601
  std::string model, question, answer, policy;
  double confidence = 0, milliseconds = 0;
  int64_t budget = 0, kept = 0, native = 0;
  std::string allocation;        // JSON: the whole answer (arrcoc/json.h) without its maps
  std::vector<uint8_t> picture;  // PNG, longer side at most 256; empty when it was gone
  Rating rating = Rating::none;
  std::string comment;
  std::string rater;  // who rated it last, see ExampleLog::rater
};

struct LogLimits {
  int patience_ms = 5000;         // with others that write: a call waits at most twice that
  double megabytes = 0;           // of examples; 0: no limit
  double journal_megabytes = 64;  // that somebody who reads may keep from being emptied
};

// "": any. Raters are separated by commas.
struct ExampleFilter {
  Rating rating = Rating::none;
  std::string model, raters, not_raters;
};

// One SQLite file (WAL), for its owner alone (mode 0600, also where it was looser). Several
// processes may use it; every call that returns has been written. All calls: Error{io} with
// SQLite's words.
class ExampleLog {
 public:
  // Creates the file unless it is there, and brings older ones up to date.
  explicit ExampleLog(const std::string& path, const LogLimits& limits = {});
  ~ExampleLog();
  // Over the limit the oldest that nobody rated are deleted; Error{io} when all others are rated,
  // and for an id that is there already.
  void add(const Example& example);
  enum class Rated { done, unknown, too_often };  // too_often: ten times is enough for one answer
  Rated rate(const std::string& id, Rating rating, const std::string& comment,
             const std::string& rater = "");
  // A name for the client at this address: hashed with a salt that each log has of its own.
  std::string rater(const std::string& client) const;
  // Newest first.
  std::vector<Example> list(int64_t limit, const ExampleFilter& filter = {}) const;
  Example show(const std::string& id) const;  // Error{not_found}
  int64_t count() const;
  int64_t forget(double days);  // deletes older ones, returns how many
  void tidy();                  // empties the journal of what was deleted, unless somebody reads

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace arrcoc::serving

template <>
struct arrcoc::EnumNames<arrcoc::serving::Rating> {
  using Rating = arrcoc::serving::Rating;
  static constexpr const char* kWhat = "rating";
  static constexpr std::pair<Rating, const char*> kNames[] = {
      {Rating::none, ""}, {Rating::up, "up"}, {Rating::down, "down"}};
};

template <>
struct arrcoc::EnumNames<arrcoc::serving::Detail> {
  using Detail = arrcoc::serving::Detail;
  static constexpr const char* kWhat = "detail";
  static constexpr std::pair<Detail, const char*> kNames[] = {{Detail::low, "low"},
                                                              {Detail::automatic, "auto"},
                                                              {Detail::high, "high"},
                                                              {Detail::high, "original"}};
};
