// What the endpoints do, apart from HTTP's own affairs.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "serve/engine.h"
#include "serve/hosted.h"
#include "serve/replies.h"
#include "serve/schema.h"

namespace arrcoc::serving {

inline constexpr const char* kTinyName = "arrcoc-tiny";

class Upstream;

class Service {
 public:
  Service(const Options& options, Metrics& metrics, Server::Log log);
  ~Service();

  void load();                // the model; throws when it cannot
  std::string state() const;  // loading, ok, draining, failed
  void fail() { failed_ = true; }
  void drain() { draining_ = true; }
  void abort() { aborting_ = true; }  // what still waits gets 503
  void stop();

  using Request = httplib::Request;
  using Response = httplib::Response;
  void chat(const Request& from, const std::string& body, Response& response);
  void count_tokens(const std::string& body, Response& response);
  void relevance(const std::string& body, Response& response);
  void feedback(const std::string& body, Response& response);
  void models(const Request& from, Response& response);
  std::string metrics_text();

 private:
  friend class Upstream;
  struct Asked {
    ChatRequest request;
    std::string id;
    Clock::time_point start, deadline;
    std::vector<SeenRef> pictures;
    std::vector<Ticket> tickets;  // one a picture
    std::shared_ptr<Talk> talk;   // of a hosted model; the tickets only looked then
    // What can be streamed; with several pictures the surest answer is known only when all are
    // there.
    const Telling* heard() const {
      return talk                  ? static_cast<const Telling*>(talk.get())
             : tickets.size() == 1 ? tickets[0].get()
                                   : nullptr;
    }
  };
  struct Answered {
    size_t best = 0;
    std::vector<std::shared_ptr<const Outcome>> outcomes;
    Usage usage;
    std::string text;
    bool cut = false;  // by the client's limit of tokens
  };
  struct Remembered {
    Example example;
    std::weak_ptr<const SeenPicture> picture;
  };

  Engine& engine() const;  // ApiError{503} while loading
  std::string model_name() const;
  Clock::time_point deadline() const;
  std::vector<SeenRef> see_all(const ChatRequest& request, Clock::time_point deadline);
  std::shared_ptr<Asked> begin(ChatRequest request, bool answer);
  // Hands the conversation to the hosted model as soon as the pictures were looked at.
  void host(Asked& asked, bool answer);
  Telling::Progress wait_for(const Asked& asked, const Telling& telling, size_t known,
                             std::string& text) const;
  void wait_all(const Asked& asked, const Telling& telling) const;
  Answered collect(const Asked& asked) const;
  Answered collect_hosted(const Asked& asked) const;
  ordered_json extension(const Asked& asked, const Answered& answered, bool logged) const;
  void stream(std::shared_ptr<Asked> asked, Response& response);
  bool stream_text(const Asked& asked, httplib::DataSink& sink);
  // Metrics and the example log; true when the answer was written to the log.
  bool account(const Asked& asked, const Answered& answered);
  bool remember(Example example, const SeenRef& picture);
  bool write_example(Example example, const SeenRef& picture);

  const Options options_;
  Metrics& metrics_;
  Server::Log log_;
  std::unique_ptr<ExampleLog> examples_;
  std::unique_ptr<Hosted> hosted_;
  std::unique_ptr<Engine> engine_;  // after what its threads use
  std::unique_ptr<Upstream> upstream_;
  std::atomic<bool> ready_{false}, failed_{false}, draining_{false}, aborting_{false};
  std::mutex mutex_;
  std::deque<Remembered> recent_;
  Clock::time_point cleaned_;
};

}  // namespace arrcoc::serving
