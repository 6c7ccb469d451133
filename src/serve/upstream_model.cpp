#include "serve/upstream_model.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "arrcoc/media.h"
#include "serve/api_error.h"
#include "serve/encoding.h"

namespace arrcoc::serving {

namespace {

constexpr size_t kLargestReply = size_t{64} << 20;
constexpr size_t kLongestAnswer = 65536;  // that is kept for the example log
constexpr const char* kCloser = "Closer views of parts of the picture above:";

const ApiError& broken_off() {
  static const ApiError error(502, "upstream_died", "the upstream's answer broke off");
  return error;
}

// Statuses that say "not like this": the original picture may still be welcome.
bool refuses_pictures(int status) {
  return status == 400 || status == 413 || status == 415 || status == 422;
}

// The picture is shown as it is.
bool whole(const PictureTokens& tokens) {
  const std::vector<Crop>& crops = tokens.allocation.crops;
  return crops.size() == 1 && crops[0].width == tokens.picture->width() &&
         crops[0].height == tokens.picture->height();
}

std::string view_url(const Picture& picture, const Crop& view) {
  const auto x0 = static_cast<int64_t>(view.box.x0), y0 = static_cast<int64_t>(view.box.y0);
  const auto x1 = static_cast<int64_t>(std::ceil(view.box.x1));
  const auto y1 = static_cast<int64_t>(std::ceil(view.box.y1));
  const at::Tensor part = picture.rgb.slice(1, y0, y1).slice(2, x0, x1).contiguous();
  return png_url(media::encode_png(resize(make_picture(part), view.width, view.height).rgb));
}

template <class T>
std::optional<T> at(const json& data, const char* pointer) {
  const json::json_pointer where(pointer);
  if (!data.contains(where)) return std::nullopt;
  const json& value = data[where];
  const bool fits = std::is_same_v<T, std::string> ? value.is_string() : value.is_number_integer();
  return fits ? std::optional<T>(value.get<T>()) : std::nullopt;
}

}  // namespace

// ---- The reply

UpstreamReply::UpstreamReply(std::unique_ptr<HttpExchange> exchange, std::vector<int64_t> tokens,
                             bool estimated, std::vector<std::string> fallbacks)
    : exchange_(std::move(exchange)), tokens_(std::move(tokens)) {
  reply_.estimated = estimated;
  reply_.fallbacks = std::move(fallbacks);
}

json UpstreamReply::whole(const std::function<void()>& patience) {
  std::string body;
  for (;;) {
    const auto state = exchange_->take(Clock::now() + kSlice, body);
    if (state == HttpExchange::Body::ended) break;
    if (state == HttpExchange::Body::broken || body.size() > kLargestReply) throw broken_off();
    if (patience) patience();
  }
  try {
    json data = parse_json(body, "the upstream's answer");
    if (!data.is_object()) throw Error(ErrorCode::bad_json, "no object");
    if (status() == 200) hear(data);
    return data;
  } catch (const Error&) {
    throw ApiError(502, "upstream_failed", "the upstream's answer is no JSON object");
  }
}

HttpExchange::Body UpstreamReply::next(std::vector<std::string>& lines) {
  const auto state = exchange_->take(Clock::now() + kSlice, pending_);
  if (state == HttpExchange::Body::ended && !pending_.empty()) pending_ += "\n";
  size_t at = 0;
  for (size_t end; (end = pending_.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(pending_.substr(at, end - at));
  pending_.erase(0, at);
  if (pending_.size() > kLargestReply) throw broken_off();
  return state;
}

std::optional<json> UpstreamReply::hear_line(const std::string& line) {
  if (line.rfind("data:", 0) != 0) return std::nullopt;
  if (line.find("[DONE]") != std::string::npos && line.size() < 16) finished_ = true;
  try {
    json data = parse_json(std::string_view(line).substr(5), "an event");
    if (!data.is_object()) return std::nullopt;
    hear(data);
    return data;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void UpstreamReply::hear(const json& data) {
  if (const auto id = at<std::string>(data, "/id")) id_ = *id;
  for (const char* place : {"/choices/0/message/content", "/choices/0/delta/content"})
    if (const auto text = at<std::string>(data, place); text && reply_.text.size() < kLongestAnswer)
      reply_.text += *text;
  reply_.cut = reply_.cut || at<std::string>(data, "/choices/0/finish_reason") == "length";
  reply_.prompt_tokens = at<int64_t>(data, "/usage/prompt_tokens").value_or(reply_.prompt_tokens);
  reply_.completion_tokens =
      at<int64_t>(data, "/usage/completion_tokens").value_or(reply_.completion_tokens);
  for (const char* place :
       {"/usage/image_tokens/kept", "/usage/prompt_tokens_details/image_tokens"})
    if (const auto tokens = at<int64_t>(data, place); tokens && *tokens >= 0) reported_ = tokens;
}

double UpstreamReply::tokens_off() const {
  const auto reckoned = std::accumulate(tokens_.begin(), tokens_.end(), int64_t{0});
  return reported_ && reckoned > 0 ? static_cast<double>(*reported_) / static_cast<double>(reckoned)
                                   : 0;
}

Reply UpstreamReply::reply() const {
  Reply out = reply_;
  out.kept = tokens_;
  // What the upstream itself reports beats any formula; it does so for all pictures together.
  if (const double off = tokens_off(); reported_ && off > 0) {
    out.estimated = false;
    int64_t left = *reported_;
    for (int64_t& tokens : out.kept) {
      tokens =
          std::min(left, static_cast<int64_t>(std::llround(off * static_cast<double>(tokens))));
      left -= tokens;
    }
    out.kept.back() += left;
  }
  return out;
}

// ---- The request

UpstreamModel::UpstreamModel(const Upstream& upstream, const ChatRequest& chat, json body,
                             httplib::Headers headers, std::function<void()> patience)
    : upstream_(upstream),
      name_(chat.model),
      family_(upstream.family(chat.model)),
      // Strict servers refuse keys that they do not know.
      body_((body.erase("arrcoc"), std::move(body))),
      headers_(std::move(headers)),
      patience_(std::move(patience)) {
  for (const Message& message : chat.messages)
    text_tokens_ += static_cast<int64_t>(message.text.size() + 3) / 4;
}

Capabilities UpstreamModel::capabilities() const {
  Capabilities out;
  out.takes = TokenKind::views;
  out.several = out.turns = true;
  out.token_pixels = family_.token_pixels;
  return out;
}

int64_t UpstreamModel::view_tokens(int width, int height) const {
  return picture_tokens(family_, width, height);
}

// Replaces every picture of the conversation by its views.
json UpstreamModel::rewritten(const Reading& reading) const {
  json out = body_;
  size_t number = 0;
  for (json& message : out["messages"]) {
    if (!message.contains("content") || !message["content"].is_array()) continue;
    json parts = json::array();
    for (const json& part : message["content"]) {
      if (part["type"] != "image_url" || whole(reading.pictures[number])) {
        number += part["type"] == "image_url";
        parts.push_back(part);
        continue;
      }
      const PictureTokens& picture = reading.pictures[number++];
      const std::vector<Crop>& views = picture.allocation.crops;
      for (size_t v = 0; v < views.size(); ++v) {
        if (v == 1) parts.push_back({{"type", "text"}, {"text", kCloser}});
        parts.push_back(part);
        parts.back()["image_url"]["url"] = view_url(*picture.picture, views[v]);
      }
    }
    message["content"] = std::move(parts);
  }
  return out;
}

std::unique_ptr<HttpExchange> UpstreamModel::try_once(const std::string& body) const {
  httplib::Request request;
  request.method = "POST";
  request.path = upstream_.address.base + "/chat/completions";
  request.headers = headers_;
  request.set_header("Content-Type", "application/json");
  request.body = body;
  auto out = std::make_unique<HttpExchange>(upstream_.client(), std::move(request));
  while (out->wait_head(Clock::now() + kSlice) == HttpExchange::Head::waiting)
    if (patience_) patience_();
  return out;
}

std::unique_ptr<UpstreamReply> UpstreamModel::send(const Reading& reading) const {
  Metrics& metrics = upstream_.metrics;
  std::vector<int64_t> tokens;
  for (const PictureTokens& picture : reading.pictures)
    tokens.push_back(picture.allocation.tokens());
  bool smaller = !std::all_of(reading.pictures.begin(), reading.pictures.end(), whole);
  std::string body = (smaller ? rewritten(reading) : body_).dump();
  std::vector<std::string> fallbacks;
  for (int tries = 0;;) {
    auto exchange = try_once(body);
    const int status = exchange->status();
    if (smaller && refuses_pictures(status)) {
      metrics.count("arrcoc_fallbacks_total", label("kind", "original"));
      fallbacks.push_back("the upstream refused the crops (" + std::to_string(status) +
                          "): the original picture was sent");
      smaller = false;
      body = body_.dump();
      for (size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = view_tokens(reading.pictures[i].picture->width(),
                                reading.pictures[i].picture->height());
      continue;
    }
    if (status != 0 && status < 500)
      return std::make_unique<UpstreamReply>(std::move(exchange), std::move(tokens),
                                             family_.estimated, std::move(fallbacks));
    if (status == 0 && exchange->seconds() >= upstream_.options.upstream_seconds)
      throw ApiError(504, "upstream_timeout", "the upstream did not answer in time");
    if (tries++ >= upstream_.options.upstream_retries) {
      if (status == 0)
        throw ApiError(502, "upstream_unreachable",
                       "the upstream cannot be reached: " + httplib::to_string(exchange->error()));
      throw ApiError(502, "upstream_failed",
                     "the upstream failed with status " + std::to_string(status));
    }
    metrics.count("arrcoc_upstream_retries_total");
    std::this_thread::sleep_for(std::chrono::milliseconds(100) * (1 << std::min(tries, 5)));
  }
}

Reply UpstreamModel::counted(const Reading& reading) const {
  Reply out;
  out.estimated = family_.estimated;
  out.prompt_tokens = text_tokens_;
  for (const PictureTokens& picture : reading.pictures) {
    out.kept.push_back(picture.allocation.tokens());
    out.prompt_tokens += out.kept.back();
  }
  return out;
}

void UpstreamModel::read(std::span<const Reading> readings, Sink& sink) const {
  for (size_t i = 0; i < readings.size(); ++i) {
    if (!readings[i].answer) {
      sink.done(i, counted(readings[i]));
      continue;
    }
    const auto reply = send(readings[i]);
    if (reply->status() != 200)
      throw ApiError(502, "upstream_failed",
                     "the upstream refused with status " + std::to_string(reply->status()));
    size_t told = 0;
    const auto tell = [&] {
      const std::string text = reply->reply().text.substr(told);
      told += text.size();
      return text.empty() || sink.text(i, text);
    };
    if (!reply->streams()) {
      reply->whole(patience_);
      tell();
    } else {
      for (auto state = HttpExchange::Body::more; state != HttpExchange::Body::ended;) {
        std::vector<std::string> lines;
        state = reply->next(lines);
        for (const std::string& line : lines) reply->hear_line(line);
        if (state == HttpExchange::Body::broken) throw broken_off();
        if (!tell()) break;
        if (patience_) patience_();
      }
    }
    sink.done(i, reply->reply());
  }
}

}  // namespace arrcoc::serving
