#include "serve/upstream_model.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "arrcoc/media.h"
#include "serve/api_error.h"
#include "serve/encoding.h"
#include "serve/relay/dialects.h"

namespace arrcoc::serving {

// ---- The reply

bool UpstreamReply::streams() const {
  const std::string type = exchange_->header("Content-Type");
  return type.rfind("text/event-stream", 0) == 0 || type.rfind("application/x-ndjson", 0) == 0;
}

std::string UpstreamReply::whole(const std::function<void()>& patience) {
  std::string body;
  for (;;) {
    const auto state = exchange_->take(Clock::now() + kSlice, body);
    if (state == HttpExchange::Body::ended) return body;
    if (state == HttpExchange::Body::broken || body.size() > kLargestReply) throw broken_off();
    if (patience) patience();
  }
}

HttpExchange::Body UpstreamReply::next(std::vector<std::string>& lines) {
  std::string bytes;
  const auto state = exchange_->take(Clock::now() + kSlice, bytes);
  hearing_.feed(bytes, state == HttpExchange::Body::ended, lines);
  return state;
}

// ---- Views

bool whole(const PictureTokens& tokens) {
  const std::vector<Crop>& crops = tokens.allocation.crops;
  return crops.size() == 1 && crops[0].width == tokens.picture->width() &&
         crops[0].height == tokens.picture->height();
}

namespace {

Picture part_of(const Picture& picture, const Box& box) {
  const auto x0 = static_cast<int64_t>(box.x0), y0 = static_cast<int64_t>(box.y0);
  const auto x1 = static_cast<int64_t>(std::ceil(box.x1));
  const auto y1 = static_cast<int64_t>(std::ceil(box.y1));
  return make_picture(picture.rgb.slice(1, y0, y1).slice(2, x0, x1).contiguous());
}

}  // namespace

std::vector<uint8_t> native_png(const Picture& picture, const Box& box) {
  return media::encode_png(part_of(picture, box).rgb);
}

SentView cut_view(const Picture& picture, const Crop& crop) {
  const Picture view = resize(part_of(picture, crop.box), crop.width, crop.height);
  return {to_base64(media::encode_png(view.rgb)), crop.box, crop.width, crop.height, crop.tokens};
}

std::vector<SentView> views_of(const PictureTokens& tokens) {
  std::vector<SentView> out;
  if (whole(tokens)) return out;
  for (const Crop& crop : tokens.allocation.crops) out.push_back(cut_view(*tokens.picture, crop));
  return out;
}

// ---- The model

UpstreamModel::UpstreamModel(const Upstream& upstream, std::string name, Family family,
                             Detail detail, httplib::Headers headers,
                             std::function<void()> patience)
    : upstream_(upstream),
      name_(std::move(name)),
      family_(std::move(family)),
      detail_(detail),
      scale_(family_.estimated ? upstream.learned(name_) : 1),
      headers_(std::move(headers)),
      patience_(std::move(patience)) {}

Capabilities UpstreamModel::capabilities() const {
  Capabilities out;
  out.takes = TokenKind::views;
  out.several = out.turns = true;
  out.token_pixels = family_.token_pixels;
  return out;
}

int64_t UpstreamModel::view_tokens(int width, int height) const {
  const int64_t tokens = picture_tokens(family_, width, height, detail_);
  return scale_ == 1 ? tokens : std::llround(std::ceil(scale_ * static_cast<double>(tokens)));
}

Reply UpstreamModel::counted(const Reading& reading) const {
  Reply out;
  out.estimated = family_.estimated;
  out.prompt_tokens = static_cast<int64_t>(reading.question.size() + 3) / 4;
  for (const Turn& turn : reading.before)
    out.prompt_tokens += static_cast<int64_t>(turn.text.size() + 3) / 4;
  for (const PictureTokens& picture : reading.pictures) {
    out.kept.push_back(picture.allocation.tokens());
    out.prompt_tokens += out.kept.back();
  }
  return out;
}

json UpstreamModel::request(const Reading& reading) const {
  const Dialect& dialect = relay_openai_chat();
  size_t shown = 0;
  const auto message = [&](const char* role, const std::string& text, size_t pictures) {
    json content = json::array();
    for (; pictures > 0 && shown < reading.pictures.size(); --pictures, ++shown) {
      const PictureTokens& tokens = reading.pictures[shown];
      for (size_t v = 0; v < tokens.allocation.crops.size(); ++v) {
        if (v == 1) content.push_back(dialect.words(kCloser));
        const SentView view = cut_view(*tokens.picture, tokens.allocation.crops[v]);
        content.push_back(
            dialect.view({{"type", "image_url"}, {"image_url", {{"url", ""}}}}, view.png));
      }
    }
    content.push_back(dialect.words(text));
    return json{{"role", role}, {"content", std::move(content)}};
  };
  json messages = json::array();
  for (const Turn& turn : reading.before)
    messages.push_back(
        message(to_string(turn.role), turn.text, static_cast<size_t>(turn.pictures)));
  messages.push_back(message("user", reading.question, reading.pictures.size()));
  json out = {{"model", name_}, {"messages", std::move(messages)}};
  const GenerateOptions& wishes = reading.generate;
  if (wishes.max_new_tokens > 0) out["max_tokens"] = wishes.max_new_tokens;
  if (wishes.temperature) out["temperature"] = *wishes.temperature;
  if (wishes.top_p) out["top_p"] = *wishes.top_p;
  if (reading.again) out["logprobs"] = true;
  return out;
}

void take_probabilities(std::vector<float> probabilities, Reply& reply) {
  if (probabilities.empty()) return;
  double logs = 0;
  for (float p : probabilities) logs += std::log(std::max(1e-30, static_cast<double>(p)));
  reply.likelihood = std::exp(logs);
  reply.confidence = std::exp(logs / static_cast<double>(probabilities.size()));
  reply.probabilities = std::move(probabilities);
}

std::unique_ptr<UpstreamReply> UpstreamModel::ask(const Reading& reading) const {
  Outgoing out{"POST", "/v1/chat/completions", headers_, request(reading).dump(), false};
  out.headers.emplace("Content-Type", "application/json");
  return std::make_unique<UpstreamReply>(upstream_.send(out, patience_), relay_openai_chat());
}

void UpstreamModel::read(std::span<const Reading> readings, Sink& sink) const {
  for (size_t i = 0; i < readings.size(); ++i) {
    Reply reply = counted(readings[i]);
    if (readings[i].answer) {
      Reading reading = readings[i];
      std::unique_ptr<UpstreamReply> said = ask(reading);
      if (said->status() == 400 && std::exchange(reading.again, false))
        said = ask(reading);  // some give no probabilities, and say so
      if (said->status() != 200)
        throw ApiError(502, "upstream_failed",
                       "the upstream refused with status " + std::to_string(said->status()));
      said->object(patience_);
      const Heard& heard = said->heard();
      take_probabilities(heard.probabilities, reply);
      reply.text = heard.text;
      reply.cut = heard.cut;
      reply.prompt_tokens = heard.prompt_tokens;
      reply.completion_tokens = heard.completion_tokens;
      sink.text(i, heard.text);
    }
    sink.done(i, std::move(reply));
  }
}

}  // namespace arrcoc::serving
