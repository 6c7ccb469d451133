// The network that reads and answers, as a Model.
#include <ATen/ATen.h>

#include "arrcoc/error.h"
#include "models/tiny/looker.h"
#include "models/tiny/reducer.h"
#include "models/tiny/signs.h"

namespace arrcoc::tiny {

namespace {

constexpr int64_t kTokensTogether = 2048;  // tokens of one batch, after padding

class Reader : public Model {
 public:
  Reader(std::shared_ptr<const TinyModel> networks, const Calibration& calibration,
         const ReadOptions& options)
      : networks_(std::move(networks)), calibration_(calibration), options_(options) {
    if (options_.queries) networks_->need_queries();
    stale_ = calibration.weights != 0 && calibration.weights != networks_->fingerprint();
  }

  std::string name() const override { return options_.name; }
  Capabilities capabilities() const override {
    Capabilities out;
    out.takes = TokenKind::patches;
    out.probabilities = out.focus = true;
    out.token_pixels = kPatch;
    out.threshold = calibration_.threshold;
    return out;
  }
  int64_t view_tokens(int width, int height) const override {
    return Geometry{width, height, 0}.native_tokens();
  }

  std::vector<int64_t> tokenize(std::string_view text, bool) const override {
    const std::vector<uint8_t> symbols = encode(text);  // one a character
    return {symbols.begin(), symbols.end()};
  }

  void read(std::span<const Reading> readings, Sink& sink) const override {
    std::vector<int64_t> lengths;
    std::vector<size_t> wanted;
    for (size_t i = 0; i < readings.size(); ++i) {
      if (readings[i].pictures.size() != 1)
        throw Error(ErrorCode::unsupported, "the bundled model reads one picture at a time");
      if (!readings[i].answer) {
        sink.done(i, reply(readings[i], {}));
        continue;
      }
      wanted.push_back(i);
      lengths.push_back(options_.queries ? kQueries : readings[i].pictures[0].tokens.size());
    }
    for (std::vector<size_t>& group : cutting::bucket(lengths, kTokensTogether)) {
      for (size_t& i : group) i = wanted[i];
      read_group(readings, group, sink);
    }
  }

 private:
  void read_group(std::span<const Reading> readings, const std::vector<size_t>& group,
                  Sink& sink) const {
    std::vector<TokenReading> tokens;
    for (size_t i : group) {
      const PictureTokens& picture = readings[i].pictures[0];
      // Queries look at the picture whatever is asked: questions about one picture share that.
      const PictureTokens& seen = options_.queries ? first_like(readings, picture) : picture;
      tokens.push_back({&seen.tokens, picture.allocation.geometry, readings[i].question,
                        options_.reducer.get(), picture.allocation.budget.tokens,
                        options_.queries});
    }
    std::vector<ReadAnswer> answers = networks_->answer(
        tokens, [&](size_t k, const std::string& text) { sink.text(group[k], text); });
    for (size_t k = 0; k < group.size(); ++k)
      sink.done(group[k], reply(readings[group[k]], std::move(answers[k])));
  }

  static const PictureTokens& first_like(std::span<const Reading> readings,
                                         const PictureTokens& picture) {
    for (const Reading& reading : readings)
      if (reading.pictures[0].picture == picture.picture &&
          reading.pictures[0].allocation.leaves == picture.allocation.leaves)
        return reading.pictures[0];
    return picture;
  }

  double place_of(const Reading& reading, const ReadAnswer& answer) const {
    if (options_.queries) return 0;  // a query lies nowhere
    const std::vector<Leaf>& all = reading.pictures[0].allocation.leaves;
    if (!options_.reducer) return place_sign(answer.focus, all);
    std::vector<Leaf> kept;
    for (const int64_t i : answer.kept) kept.push_back(all[static_cast<size_t>(i)]);
    return place_sign(answer.focus, kept);
  }

  Reply reply(const Reading& reading, ReadAnswer answer) const {
    Reply out;
    out.text = std::move(answer.text);
    out.likelihood = answer.confidence;
    if (!answer.probabilities.empty())
      out.confidence = calibrated(
          {calibration_, options_.place, options_.kind},
          {signs_of(reading.question, out.text, answer.probabilities), place_of(reading, answer),
           kind_sign(options_.kinds.get(), reading.question, out.text)});
    out.calibrated = true;
    out.completion_tokens = static_cast<int64_t>(answer.probabilities.size());
    out.probabilities = std::move(answer.probabilities);
    out.kept = {reading.pictures[0].tokens.size()};
    if (options_.reducer && reading.answer) {
      out.kept = {static_cast<int64_t>(answer.kept.size())};
      out.left = std::move(answer.kept);
    }
    if (options_.queries) {  // a query lies nowhere
      out.kept = {kQueries};
      out.left.emplace();
    } else {
      out.focus = std::move(answer.focus);
    }
    out.prompt_tokens =
        out.kept[0] + static_cast<int64_t>(encode_question(reading.question).size());
    if (stale_) out.fallbacks.emplace_back(kStaleCalibration);
    if (answer.shortened) out.fallbacks.emplace_back(kShortened);
    if (answer.adapter_bypassed) out.fallbacks.emplace_back(kAdapterBypassed);
    if (reading.answer) out.quality = {answer.quality, answer.quality_spread};
    return out;
  }

  std::shared_ptr<const TinyModel> networks_;
  Calibration calibration_;
  ReadOptions options_;
  bool stale_ = false;
};

}  // namespace

std::shared_ptr<const Model> make_reader(std::shared_ptr<const TinyModel> networks,
                                         const Calibration& calibration,
                                         const ReadOptions& options) {
  return std::make_shared<Reader>(std::move(networks), calibration, options);
}

}  // namespace arrcoc::tiny
