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
#include <string>
#include <utility>
#include <vector>

namespace arrcoc::serving {

// Field names are also the keys of the configuration file, with dashes the command-line flags and,
// in capitals after ARRCOC_SERVE_, the environment variables.
struct Options {
  // where
  std::string host = "127.0.0.1";
  int port = 8080;      // 0: any free one, see Server::port
  std::string api_key;  // "": none needed
  std::string tiny;     // folder of the bundled model; "": the one that find_model() gives
  // a Hugging Face model in this process; the bundled one only looks then
  std::string model;                   // its folder; "": the bundled one answers
  std::string mode;                    // prune, patches, zoom; "": zoom where it can, else prune
  std::string relevance = "realizer";  // where maps come from, see hf::AskOptions
  std::string relevance_model;         // folder of a CLIP or SigLIP model
  std::string device = "cpu";
  std::string dtype;
  int max_new_tokens = 0;  // 0: as its generation_config.json says
  // what requests get unless they say otherwise
  std::string policy = "realizer";
  std::string budget = "balanced";
  double threshold = 0.5;  // below this confidence an answer is unsure: another pass is worth it
  // work
  int workers = 0;         // threads that compute; 0: one a core
  bool batching = true;    // answer several questions at once, and equal ones only once
  int batch_tokens = 640;  // tokens of one batch, padding included; see docs/serving.md
  int queue = 256;         // jobs that may wait; more are 429
  int cache_mb = 512;      // pictures already seen
  // limits
  int connections = 256;  // open at once; more are 503
  double max_body_mb = 32;
  double max_megapixels = 50;
  int max_pictures = 8;          // a request
  double request_seconds = 60;   // from the first byte of the answer's work to its end; 504
  double read_seconds = 20;      // for a whole request to arrive, however its bytes drip
  double idle_seconds = 15;      // of a connection between two requests
  double shutdown_seconds = 30;  // for what runs when the server is stopped
  std::string file_root;         // file:// pictures below this folder; "": none
  // example log
  std::string log;           // SQLite file; "": none
  double log_share = 0.001;  // of requests; those that get feedback are logged besides
  double log_days = 30;      // older examples are deleted; 0 keeps all
  // proxy
  std::string upstream;      // http(s)://host[:port][/v1] of an OpenAI-compatible server
  std::string upstream_key;  // sent there instead of the client's key
  std::string upstream_family = "auto";       // how it counts picture tokens, see families()
  std::vector<std::string> upstream_budgets;  // PATTERN=BUDGET by model name; * matches anything
  double upstream_seconds = 120;              // without a byte from there
  int upstream_retries = 2;  // after a failed connection or a 5xx, before anything was sent on
};

// Unknown keys, wrong types and impossible values are Error{bad_json, bad_argument}.
Options options_from_json(const std::string& json);
std::string to_json(const Options& options);  // keys are shown as "***"
// Overrides every field that the environment names; `get` stands for getenv.
void apply_environment(Options& options, const std::function<const char*(const char*)>& get);

// How a family of models counts the tokens of a picture.
struct Family {
  std::string name;
  std::string formula;     // for people
  int token_pixels = 0;    // pixels along a token; 0: size hardly matters, crops do not pay
  bool estimated = false;  // not known exactly
};
std::vector<Family> families();
// The family of a model's name; "unknown" (estimated) when nothing matches.
Family family_of(const std::string& model);
Family family_named(const std::string& name);  // Error{not_found}
// Tokens of a picture of that many pixels.
int64_t picture_tokens(const Family& family, int width, int height);

class Server {
 public:
  using Log = std::function<void(const std::string& line)>;
  explicit Server(Options options, Log log = {});
  ~Server();  // stops

  // Binds, loads the model in the background and answers; /health is 503 until it is loaded.
  // Error{io} when the address is taken, Error{bad_argument} for options that cannot be.
  void start();
  int port() const;
  // Waits until the model is loaded; Error when it could not be.
  void wait_ready();
  // No new connections; what runs may finish within shutdown_seconds. Returns when all is done.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// ---- The example log

struct Example {
  int64_t number = 0;
  std::string id;    // of the answer
  std::string time;  // UTC, ISO 8601
  std::string model, question, answer, policy;
  double confidence = 0, milliseconds = 0;
  int64_t budget = 0, kept = 0, native = 0;
  std::string allocation;        // JSON: leaves or crops of every picture
  std::vector<uint8_t> picture;  // PNG, longer side at most 256; empty when it was gone
  std::string rating;            // up, down or ""
  std::string comment;
};

// One SQLite file (WAL). Several processes may use it; every call that returns has been written.
class ExampleLog {
 public:
  // Creates the file unless it is there. Error{io} with SQLite's words.
  explicit ExampleLog(const std::string& path);
  ~ExampleLog();
  void add(const Example& example);
  // False when there is no such id.
  bool rate(const std::string& id, const std::string& rating, const std::string& comment);
  std::vector<Example> list(int64_t limit, const std::string& rating = "") const;  // newest first
  Example show(const std::string& id) const;  // Error{not_found}
  int64_t count() const;
  int64_t forget(double days);  // deletes older ones, returns how many

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace arrcoc::serving
