#include "models/tiny/looker.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "arrcoc/error.h"

namespace arrcoc::tiny {

namespace {

class Page : public Seen {
 public:
  explicit Page(std::shared_ptr<const SeenPage> seen) : page(std::move(seen)) {}
  int64_t bytes() const override { return TinyModel::bytes(*page); }
  std::shared_ptr<const SeenPage> page;
};

// Where print is, by the network's text mask.
class Print : public Provider {
 public:
  explicit Print(std::shared_ptr<const TinyModel> networks) : networks_(std::move(networks)) {}
  std::vector<Channel> channels() const override { return {Channel::text_mask}; }
  at::Tensor provide(const at::Tensor& frame, const Picture& picture) const override {
    return networks_->text(*networks_->see(picture, frame)).unsqueeze(0);
  }

 private:
  std::shared_ptr<const TinyModel> networks_;
};

class NetworkLooker : public Looker, public BringsBalance {
 public:
  NetworkLooker(std::shared_ptr<const TinyModel> networks, const Calibration& calibration,
                std::shared_ptr<const BalanceNet> net, int frame, ChannelSet channels)
      : networks_(std::move(networks)),
        calibration_(calibration),
        net_(std::move(net)),
        frame_(frame),
        channels_(channels) {}

  std::shared_ptr<const Seen> see(const Picture& picture, const at::Tensor& frame) const override {
    const auto channels =
        channels_ == ChannelSet::colour ? PageChannels::colour : PageChannels::texture;
    const bool whole = std::max(picture.width(), picture.height()) <= frame_;
    const bool bytes = whole && networks_->takes_bytes();  // on their way to a device
    const at::Tensor own = frame.defined() ? frame
                           : bytes         ? picture.rgb
                                           : frame_of(picture, frame_);
    return std::make_shared<Page>(networks_->see(picture, own, channels));
  }

  std::vector<Look> look(const Seen& seen, std::span<const Query> questions,
                         const History& history) const override {
    const auto* page = dynamic_cast<const Page*>(&seen);
    if (!page) throw Error(ErrorCode::bad_argument, "[look] another looker has seen this picture");
    std::vector<std::string> texts;
    for (const Query& question : questions) texts.push_back(question.text);
    std::vector<Opinion> opinions =
        networks_->look(*page->page, texts, history.passes > 0 ? &history : nullptr);
    std::vector<Look> out(opinions.size());
    for (size_t i = 0; i < out.size(); ++i) {
      out[i].relevance.map = std::move(opinions[i].relevance);
      out[i].relevance.weights = {0, 0, 1};
      out[i].need = need(opinions[i], questions[i]);
    }
    return out;
  }

  std::shared_ptr<const Looker> with(int frame, ChannelSet channels) const override {
    const bool colour = channels == ChannelSet::colour;
    if (frame == frame_ && colour == (channels_ == ChannelSet::colour)) return nullptr;  // the same
    return std::make_shared<NetworkLooker>(networks_, calibration_, net_, frame, channels);
  }
  std::shared_ptr<const Provider> provider() const override {
    return std::make_shared<Print>(networks_);
  }
  std::shared_ptr<const BalanceNet> balance_net() const override { return net_; }
  bool recalls() const override { return networks_->recalls(); }

 private:
  float need(const Opinion& opinion, const Query& query) const {
    constexpr double kRange = kMaxBudget - kMinBudget;
    const double e = (allocating::expected_budget(opinion.tier).tokens - kMinBudget) / kRange;
    return static_cast<float>(calibrated_need(calibration_, e, query));
  }

  std::shared_ptr<const TinyModel> networks_;
  Calibration calibration_;
  std::shared_ptr<const BalanceNet> net_;
  int frame_;
  ChannelSet channels_;
};

}  // namespace

std::shared_ptr<const Looker> make_network_looker(std::shared_ptr<const TinyModel> networks,
                                                  const Calibration& calibration,
                                                  std::shared_ptr<const BalanceNet> net) {
  const LookOptions usual;
  return std::make_shared<NetworkLooker>(std::move(networks), calibration, std::move(net),
                                         usual.frame, usual.channels);
}

}  // namespace arrcoc::tiny
