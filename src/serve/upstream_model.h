// One request to the upstream as a Model: its pictures become views that fit the budget.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrcoc/model.h"
#include "base/json.h"
#include "serve/http_exchange.h"
#include "serve/schema.h"
#include "serve/upstream.h"

namespace arrcoc::serving {

inline constexpr auto kSlice = std::chrono::milliseconds(250);  // between looks at the connection

// The upstream's reply as it comes: raw for the client, heard for the road.
class UpstreamReply {
 public:
  // tokens: what each picture costs as it was sent.
  UpstreamReply(std::unique_ptr<HttpExchange> exchange, std::vector<int64_t> tokens, bool estimated,
                std::vector<std::string> fallbacks);

  int status() const { return exchange_->status(); }
  std::string header(const std::string& name) const { return exchange_->header(name); }
  bool streams() const { return header("Content-Type").rfind("text/event-stream", 0) == 0; }
  // A whole reply. ApiError{502}; `patience` is called while waiting and may throw.
  json whole(const std::function<void()>& patience);
  // The lines of a stream that have come since, waiting kSlice for the first. ApiError{502} for a
  // line without end.
  HttpExchange::Body next(std::vector<std::string>& lines);
  // What one line says, where it is an event.
  std::optional<json> hear_line(const std::string& line);
  bool finished() const { return finished_; }  // [DONE] has come

  // What was heard so far.
  Reply reply() const;
  const std::string& id() const { return id_; }
  // Picture tokens that the upstream reports over those that were reckoned; 0: it reports none.
  double tokens_off() const;

 private:
  void hear(const json& data);

  std::unique_ptr<HttpExchange> exchange_;
  std::vector<int64_t> tokens_;
  Reply reply_;
  std::string pending_, id_;
  std::optional<int64_t> reported_;  // picture tokens
  bool finished_ = false;
};

class UpstreamModel : public Model {
 public:
  // body: the request as it came, `chat` the same read; patience: called while waiting, throws to
  // give up; may be empty. The upstream must outlive it.
  UpstreamModel(const Upstream& upstream, const ChatRequest& chat, json body,
                httplib::Headers headers, std::function<void()> patience = {});

  std::string name() const override { return name_; }
  const Family& family() const { return family_; }
  Capabilities capabilities() const override;
  int64_t view_tokens(int width, int height) const override;
  int64_t text_tokens() const { return text_tokens_; }  // of the conversation, about

  // Sends the request with these views instead of its pictures; when those are refused, as it came.
  // Returns with the head of a reply worth passing on. ApiError{502, 504}.
  std::unique_ptr<UpstreamReply> send(const Reading& reading) const;
  // The same to the end.
  void read(std::span<const Reading> readings, Sink& sink) const override;

 private:
  json rewritten(const Reading& reading) const;
  std::unique_ptr<HttpExchange> try_once(const std::string& body) const;
  Reply counted(const Reading& reading) const;

  const Upstream& upstream_;
  const std::string name_;
  const Family family_;
  const json body_;
  const httplib::Headers headers_;
  const std::function<void()> patience_;
  int64_t text_tokens_ = 0;
};

}  // namespace arrcoc::serving
