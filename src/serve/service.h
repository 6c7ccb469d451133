// What the endpoints do, apart from HTTP's own affairs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "serve/about.h"
#include "serve/drift.h"
#include "serve/engine.h"
#include "serve/examples.h"
#include "serve/mcp/sessions.h"
#include "serve/protocols/protocol.h"
#include "serve/replies.h"
#include "serve/savings.h"
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
  std::string unconfined() const { return decoders_->unconfined(); }
  ordered_json health_report() const;  // and where pictures go, for the page
  void fail() { failed_ = true; }
  void drain() { draining_ = true; }
  void abort() { aborting_ = true; }  // what still waits gets 503
  void stop();
  // Throws when waiting has become pointless: the client is gone, the server goes down.
  void require_patience() const;

  using Request = httplib::Request;
  using Response = httplib::Response;
  void chat(const Endpoint& at, const Request& from, const std::string& body, Response& response);
  void count_tokens(const Endpoint& at, const Request& from, const std::string& body,
                    Response& response);
  bool relays() const { return upstream_ != nullptr; }
  // A request for the upstream, whatever its path and method.
  void relay(const Request& from, std::string body, Response& response);
  void relevance(const std::string& body, Response& response);
  void feedback(const Request& from, const std::string& body, Response& response);
  // mcp/: the Model Context Protocol. A message by HTTP, the end of a session, and what a tool
  // gives, problems included; ApiError{499} when nobody waits for it any more.
  void speak_mcp(const Request& from, const std::string& body, Response& response);
  void end_mcp(const Request& from, Response& response);
  ordered_json call_tool(const std::string& name, const json& arguments,
                         const mcp::Progress& progress);
  void models(Response& response);
  // The model that answers here: ApiError{503} while loading, {404} for a proxy.
  const Model& model() const;
  const ModelCard& card();
  void savings(Response& response) const;
  // A picture that was seen lately, or a part of it: ?box=x0,y0,x1,y1 in its pixels.
  void picture(const std::string& name, const Request& from, Response& response) const;
  std::string metrics_text();

 private:
  struct Asked {
    ChatRequest request;
    std::string id;
    Clock::time_point start = Clock::now(), deadline;
    const Protocol* protocol = nullptr;
    ordered_json films = ordered_json::array();  // of each film: which frame was asked
    std::vector<std::string> names;              // of the pictures, for /v1/pictures
    Ticket job;
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

  Engine& engine() const;  // ApiError{503} while loading
  bool bundled() const;    // the bundled model answers
  Clock::time_point deadline() const;
  AskOptions options_for(const Extension& extension, const std::string& usual_budget) const;
  std::vector<SeenRef> see(const std::vector<const std::string*>& urls, const AskOptions& options,
                           Clock::time_point deadline,
                           std::vector<std::string>* names = nullptr) const;
  std::shared_ptr<Asked> begin(const Protocol& protocol, const Request& from, const json& given,
                               Wanted wanted);
  void require_few(const ChatRequest& request) const;  // ApiError{400}
  void watch(Asked& asked, const Question& question) const;
  Ticket ask(Asked& asked, Question question) const;

  AnswerStream::Progress wait_for(const AnswerStream& stream, Clock::time_point deadline,
                                  size_t known, std::string& text) const;
  void wait_all(const AnswerStream& stream, Clock::time_point deadline) const;
  Answered collect(const Asked& asked);
  // answer: the whole, or a first look at the pictures.
  ordered_json report(const Asked& asked, const Answer& answer) const;
  ordered_json extension(const Asked& asked, const Answered& answered) const;
  Said said(const Asked& asked, const Answered& answered) const;
  void stream(std::shared_ptr<Asked> asked, Response& response);
  bool stream_text(const Asked& asked, Events& events, httplib::DataSink& sink);
  std::string first_look(const Asked& asked, Events& events) const;
  // Metrics and the example log.
  void account(const Asked& asked, Answered& answered);
  // pump: false breaks the connection off; calls sink.done() at the end. error: the last event
  // where something fails.
  using Pump = std::function<bool(httplib::DataSink&)>;
  void provide(Response& response, const std::string& type, Pump pump,
               std::function<std::string(const ApiError&)> error);

  // mcp/: a request's reply, as events where it wants them; what the tools do.
  void answer_mcp(const std::shared_ptr<const mcp::Message>& message, bool events,
                  Response& response);
  struct Tool;
  SeenRef see_given(Tool& tool, const AskOptions& options) const;
  std::shared_ptr<const Answer> ask_tool(Tool& tool, const std::string& question, Wanted wanted);
  void look_tool(Tool& tool);
  void zoom_tool(Tool& tool);
  void read_tool(Tool& tool);
  void count_tool(Tool& tool);

  // relay/: what goes to the upstream and comes from there.
  struct Looked;
  struct HeardLook;
  struct Relayed;
  void refuse_files(const std::string& body, const json* given,
                    const std::vector<PicturePart>& except) const;
  void pass(Outgoing request, Response& response);
  std::shared_ptr<Relayed> begin_relay(const Request& from, const Dialect& dialect,
                                       Outgoing request, json given);
  std::string relay_budget(const Request& from, const Relayed& relayed) const;
  void recall(Relayed& relayed);
  static std::string memory_key(const Relayed& relayed);
  static bool counts(const Relayed& relayed);  // only what it would cost is asked for
  void leave_out(Relayed& relayed);
  void prepare(Relayed& relayed);
  SeenRef see_part(Relayed& relayed, size_t number, const AskOptions& options);
  Looked counted_as(const Relayed& relayed, const PicturePart& part,
                    const std::string& budget) const;
  // crops: at most so many beside the glance; -1: as usual.
  void look(Relayed& relayed, const std::vector<size_t>& pictures, const std::string& budget,
            int crops, bool again);
  void look_at_new(Relayed& relayed, int crops);
  void look_again(Relayed& relayed);
  void wait_for_looks(Relayed& relayed);
  void take_new(Relayed& relayed, const Looked& looked, const Reading& reading);
  void take_again(Relayed& relayed, const Looked& looked);
  std::string rewritten(const Relayed& relayed) const;
  bool several_views(const Relayed& relayed) const;
  void remember(const Relayed& relayed);
  void send(Relayed& relayed);
  static void begin_reply(const Relayed& relayed, Response& response);
  void forward(std::shared_ptr<Relayed> relayed, Response& response);
  static double learnt_from_prompt(const Relayed& relayed, int64_t reckoned);
  double count_reply(Relayed& relayed);
  void hear_reply(Relayed& relayed);
  void conclude(Relayed& relayed);
  static json views_sent(const Relayed& relayed);
  void extend(Relayed& relayed, json& data);
  static std::string last_words(const Relayed& relayed, const ApiError& problem);
  std::string first_look(const Relayed& relayed) const;
  std::string passed(Relayed& relayed, const std::string& line, std::optional<json> data);
  bool pass_events(Relayed& relayed, httplib::DataSink& sink);
  // Looking again: every look is heard to its end, the client gets the best.
  static bool looks_again(const Relayed& relayed);
  void forward_looks(Relayed& relayed, Response& response);
  bool hear_look(Relayed& relayed);
  bool look_further(Relayed& relayed);
  static void choose_look(Relayed& relayed);
  void count_relayed(const Request& from, const std::string& body, Response& response);

  const Options options_;
  Metrics& metrics_;
  Examples examples_;
  std::unique_ptr<const Upstream> upstream_;
  Savings savings_;
  StageWatch stages_;
  ViewMemory memory_;
  mcp::Sessions sessions_;
  std::shared_ptr<const Asker> asker_;
  std::once_flag described_;
  ModelCard card_;
  const std::shared_ptr<media::Decoders> decoders_;
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
