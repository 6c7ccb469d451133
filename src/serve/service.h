// What the endpoints do, apart from HTTP's own affairs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "serve/about.h"
#include "serve/engine.h"
#include "serve/examples.h"
#include "serve/protocols/protocol.h"
#include "serve/replies.h"
#include "serve/schema.h"
#include "serve/upstream_model.h"

namespace arrcoc::serving {

enum class Health { ok, loading, draining, failed };

class Service {
 public:
  Service(const Options& options, Metrics& metrics, Server::Log log);
  ~Service();

  void load();  // the models; throws when it cannot
  Health health() const;
  void fail() { failed_ = true; }
  void drain() { draining_ = true; }
  void abort() { aborting_ = true; }  // what still waits gets 503
  void stop();

  using Request = httplib::Request;
  using Response = httplib::Response;
  void chat(const Endpoint& at, const Request& from, const std::string& body, Response& response);
  void count_tokens(const Endpoint& at, const Request& from, const std::string& body,
                    Response& response);
  void relevance(const std::string& body, Response& response);
  void feedback(const std::string& body, Response& response);
  void models(const Request& from, Response& response);
  // The model that answers here: ApiError{503} while loading, {404} for a proxy.
  const Model& model() const;
  const ModelCard& card();
  std::string metrics_text();

 private:
  struct Asked {
    ChatRequest request;
    std::string id;
    Clock::time_point start = Clock::now(), deadline;
    const Protocol* protocol = nullptr;
    std::shared_ptr<const UpstreamModel> upstream;  // null: answered in this process
    Ticket job;  // null: a request to the upstream without pictures
    const std::vector<SeenRef>& pictures() const { return job->question().pictures; }
  };
  struct Answered {
    std::shared_ptr<const Answer> answer;
    Usage usage;
    std::string text;
    Finish finish = Finish::stop;
    std::string sequence;  // Finish::sequence: which one
    bool logged = false;
  };
  struct Proxied;

  Engine& engine() const;  // ApiError{503} while loading
  bool bundled() const;    // the bundled model answers
  Clock::time_point deadline() const;
  AskOptions options_for(const Extension& extension, const std::string& usual_budget) const;
  void require_chat(const Endpoint& at) const;  // ApiError{404} for what the proxy does not speak
  std::vector<SeenRef> see(const std::vector<const std::string*>& urls, const AskOptions& options,
                           Clock::time_point deadline) const;
  std::shared_ptr<Asked> begin(const Protocol& protocol, const Request& from, const json& given,
                               Wanted wanted);
  void require_few(const ChatRequest& request) const;  // ApiError{400}
  Ticket ask(const Asked& asked, Question question) const;

  // Throws when waiting has become pointless: the client is gone, the server goes down.
  void require_patience() const;
  AnswerStream::Progress wait_for(const AnswerStream& stream, Clock::time_point deadline,
                                  size_t known, std::string& text) const;
  void wait_all(const AnswerStream& stream, Clock::time_point deadline) const;
  Answered collect(const Asked& asked);
  ordered_json extension(const Asked& asked, const Answered& answered) const;
  Said said(const Asked& asked, const Answered& answered) const;
  void stream(std::shared_ptr<Asked> asked, Response& response);
  bool stream_text(const Asked& asked, Events& events, httplib::DataSink& sink);
  // Metrics and the example log.
  void account(const Asked& asked, Answered& answered);
  // pump: false breaks the connection off; calls sink.done() at the end. error: the last event
  // where something fails.
  using Pump = std::function<bool(httplib::DataSink&)>;
  void provide(Response& response, const char* type, Pump pump,
               std::function<std::string(const ApiError&)> error);
  // before_error: what an error event begins with.
  void provide_events(Response& response, Pump pump, const char* before_error);

  // proxy.cpp: what goes to the upstream and comes from there.
  std::shared_ptr<Asked> begin_proxied(const Request& from, json given, Wanted wanted);
  void forward(std::shared_ptr<Asked> asked, Response& response);
  void require_affordable(const Asked& asked, const std::vector<std::string>& notes) const;
  void pass_body(Proxied& proxied, Response& response);
  bool pass_events(Proxied& proxied, httplib::DataSink& sink);
  void conclude(Proxied& proxied);
  void extend(Proxied& proxied, json& data);

  const Options options_;
  Metrics& metrics_;
  Examples examples_;
  std::unique_ptr<const Upstream> upstream_;
  std::shared_ptr<const Asker> asker_;
  std::once_flag described_;
  ModelCard card_;
  std::unique_ptr<Engine> engine_;  // after what its threads use
  std::atomic<bool> ready_{false}, failed_{false}, draining_{false}, aborting_{false};
};

}  // namespace arrcoc::serving

template <>
struct arrcoc::EnumNames<arrcoc::serving::Health> {
  using Health = arrcoc::serving::Health;
  static constexpr const char* kWhat = "state";
  static constexpr std::pair<Health, const char*> kNames[] = {{Health::ok, "ok"},
                                                              {Health::loading, "loading"},
                                                              {Health::draining, "draining"},
                                                              {Health::failed, "failed"}};
};
