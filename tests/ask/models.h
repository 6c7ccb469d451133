// Models for the tests of the road: one that says what the test tells it, one with random weights.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "arrcoc/ask.h"
#include "folder.h"
#include "models/tiny/files.h"
#include "models/tiny/tiny.h"

namespace arrcoc::test {

// Answers as the test chooses; keeps what it was given.
class Scripted : public Model {
 public:
  // Called with the number of the reading (from 0) and the reading.
  using Say = std::function<Reply(size_t, const Reading&)>;
  explicit Scripted(Say say, Capabilities takes = {}) : say_(std::move(say)), takes_(takes) {
    takes_.probabilities = true;
  }
  std::string name() const override { return "scripted"; }
  Capabilities capabilities() const override { return takes_; }
  int64_t view_tokens(int width, int height) const override {
    return Geometry{width, height, 0}.native_tokens();
  }
  void read(std::span<const Reading> readings, Sink& sink) const override {
    const std::scoped_lock lock(mutex_);
    for (size_t i = 0; i < readings.size(); ++i) {
      Reply reply = say_(given.size(), readings[i]);
      given.push_back(readings[i]);
      sink.text(i, reply.text);
      sink.done(i, std::move(reply));
    }
  }
  mutable std::vector<Reading> given;

 private:
  Say say_;
  Capabilities takes_;
  mutable std::mutex mutex_;
};

// A reply of two tokens of that probability; focus: the token that all attention is on, below 0:
// none is reported.
inline Reply reply_of(const std::string& text, float probability, const Reading& reading,
                      int focus = -1) {
  Reply out;
  out.text = text;
  out.probabilities = {probability, probability};
  out.likelihood = static_cast<double>(probability) * static_cast<double>(probability);
  out.confidence = static_cast<double>(probability);
  if (focus >= 0) {
    out.focus.assign(static_cast<size_t>(reading.pictures[0].tokens.size()), 1e-4F);
    out.focus[std::min(out.focus.size() - 1, static_cast<size_t>(focus))] = 1;
  }
  return out;
}

// Says "pass 1", "pass 2", ... with these probabilities, the last one again and again.
inline std::shared_ptr<Scripted> script(std::vector<float> probabilities, int focus = -1) {
  return std::make_shared<Scripted>([=](size_t n, const Reading& reading) {
    const float p = probabilities[std::min(n, probabilities.size() - 1)];
    return reply_of("pass " + std::to_string(n + 1), p, reading, focus);
  });
}

// The bundled architecture, small, with random weights: behaviour, not skill.
inline std::string small_weights(uint64_t seed = 1) {
  const std::filesystem::path base = fresh_folder("small_weights_" + std::to_string(seed));
  const tiny::Shape shape = tiny::shape_from_json(
      R"({"width":64,"heads":2,"encoder_layers":2,"decoder_layers":2,"mlp":128,"stem":8,"cell":32,
          "page":32,"page_layers":1,"ask":32,"ask_layers":1,"question_layers":1})");
  const std::string folder = (base / "tiny").string();
  tiny::save_networks(folder,
                      {shape, tiny::RealizerNet(shape).layout().initial(seed),
                       tiny::Answerer(shape).layout().initial(seed + 1)},
                      "t");
  return folder;
}

inline Picture noise(int width, int height, int64_t seed = 5) {
  at::manual_seed(seed);
  return make_picture(at::randint(0, 255, {3, height, width}, at::kByte), "noise");
}

}  // namespace arrcoc::test
