// The upstream as a Model, and its replies as they come.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrcoc/model.h"
#include "serve/relay/hearing.h"
#include "serve/relay/view_memory.h"
#include "serve/upstream.h"

namespace arrcoc::serving {

// The upstream's reply as it comes: raw for the client, heard for the road.
class UpstreamReply {
 public:
  UpstreamReply(std::unique_ptr<HttpExchange> exchange, const Dialect& dialect)
      : exchange_(std::move(exchange)), hearing_(dialect) {}

  int status() const { return exchange_->status(); }
  const HttpExchange& exchange() const { return *exchange_; }
  bool streams() const;  // events, or lines of JSON
  // All of its bytes. ApiError{502}; `patience` is called while waiting and may throw.
  std::string whole(const std::function<void()>& patience);
  json object(const std::function<void()>& patience) { return hearing_.object(whole(patience)); }
  // The lines of a stream that have come since, waiting kSlice for the first. ApiError{502}.
  HttpExchange::Body next(std::vector<std::string>& lines);
  std::optional<json> hear_line(const std::string& line) { return hearing_.line(line); }

  const Heard& heard() const { return hearing_.heard(); }

 private:
  std::unique_ptr<HttpExchange> exchange_;
  Hearing hearing_;
};

// Counts as the upstream does, and asks it in OpenAI's way. The upstream must outlive it.
class UpstreamModel : public Model {
 public:
  // patience: called while waiting, throws to give up; may be empty.
  UpstreamModel(const Upstream& upstream, std::string name, Family family,
                Detail detail = Detail::automatic, httplib::Headers headers = {},
                std::function<void()> patience = {});

  std::string name() const override { return name_; }
  const Family& family() const { return family_; }
  Capabilities capabilities() const override;
  int64_t view_tokens(int width, int height) const override;
  void read(std::span<const Reading> readings, Sink& sink) const override;

 private:
  Reply counted(const Reading& reading) const;
  json request(const Reading& reading) const;
  std::unique_ptr<UpstreamReply> ask(const Reading& reading) const;

  const Upstream& upstream_;
  const std::string name_;
  const Family family_;
  const Detail detail_;
  const double scale_;  // what estimated counts have to be multiplied by
  const httplib::Headers headers_;
  const std::function<void()> patience_;
};

// Words before the second view of a picture, and before views of an earlier one.
inline constexpr const char* kCloser = "Closer views of parts of the picture above:";
inline constexpr const char* kEarlier = "Closer views of parts of an earlier picture:";

// What an upstream says about its tokens: likelihood and, as there is no calibration, the geometric
// mean as confidence. Nothing without any.
void take_probabilities(std::vector<float> probabilities, Reply& reply);

// The picture is shown as it is.
bool whole(const PictureTokens& tokens);
// A part of a picture with every pixel that it has.
std::vector<uint8_t> native_png(const Picture& picture, const Box& box);
SentView cut_view(const Picture& picture, const Crop& crop);
// Of this picture as it is to be read; none where it goes as it came.
std::vector<SentView> views_of(const PictureTokens& tokens);

}  // namespace arrcoc::serving
