// Lookers without scorers: a map that somebody has already, and the mean of several lookers.
#include <algorithm>
#include <list>
#include <mutex>
#include <tuple>

#include "arrcoc/balance.h"
#include "arrcoc/error.h"
#include "arrcoc/look.h"

namespace arrcoc {

namespace {

class SeenMap : public Seen {
 public:
  explicit SeenMap(Map given) : map(std::move(given)) {}
  int64_t bytes() const override { return static_cast<int64_t>(map.size() * sizeof(float)); }
  Map map;
};

class GivenMap : public Looker {
 public:
  explicit GivenMap(Map map) : map_(std::move(map)) {}
  std::shared_ptr<const Seen> see(const Picture& picture, const at::Tensor&) const override {
    Map map = map_;
    if (map.empty()) map = {1, 1, 0, 0, {0.0F}};
    map.cell_width = static_cast<float>(picture.width()) / static_cast<float>(map.cols);
    map.cell_height = static_cast<float>(picture.height()) / static_cast<float>(map.rows);
    return std::make_shared<SeenMap>(std::move(map));
  }
  std::vector<Look> look(const Seen& seen, std::span<const Query> questions,
                         const History&) const override {
    Look one;
    one.relevance.map = dynamic_cast<const SeenMap&>(seen).map;
    one.relevance.weights = {0, 0, map_.empty() ? 0.0F : 1.0F};
    return std::vector<Look>(questions.size(), one);
  }

 private:
  Map map_;
};

class SeenByAll : public Seen {
 public:
  std::vector<std::shared_ptr<const Seen>> each;
  int64_t bytes() const override {
    int64_t sum = 0;
    for (const auto& one : each) sum += one->bytes();
    return sum;
  }
};

Map mean_map(const std::vector<Map>& maps) {
  const Map& finest = *std::max_element(
      maps.begin(), maps.end(), [](const Map& a, const Map& b) { return a.size() < b.size(); });
  Map out = like(finest, 0);
  for (const Map& map : maps) {
    const Map same = resample(min_max(map), out.rows, out.cols);
    for (size_t i = 0; i < out.size(); ++i)
      out.values[i] += same.values[i] / static_cast<float>(maps.size());
  }
  return out;
}

class MeanOf : public Looker {
 public:
  explicit MeanOf(std::vector<std::shared_ptr<const Looker>> lookers)
      : lookers_(std::move(lookers)) {
    if (lookers_.empty()) throw Error(ErrorCode::bad_argument, "[mean_of] there is no looker");
  }
  std::shared_ptr<const Seen> see(const Picture& picture, const at::Tensor&) const override {
    auto out = std::make_shared<SeenByAll>();
    for (const auto& looker : lookers_) out->each.push_back(looker->see(picture));
    return out;
  }
  // The first looker's need; weights and knowledge of one looker are not those of the mean.
  std::vector<Look> look(const Seen& given, std::span<const Query> questions,
                         const History& history) const override {
    const auto& seen = dynamic_cast<const SeenByAll&>(given);
    std::vector<std::vector<Look>> looks;
    for (size_t k = 0; k < lookers_.size(); ++k)
      looks.push_back(lookers_[k]->look(*seen.each[k], questions, history));
    std::vector<Look> out(questions.size());
    for (size_t i = 0; i < out.size(); ++i) {
      std::vector<Map> maps;
      for (const auto& one : looks) {
        maps.push_back(one[i].relevance.map);
        const auto& notes = one[i].relevance.fallbacks;
        out[i].relevance.fallbacks.insert(out[i].relevance.fallbacks.end(), notes.begin(),
                                          notes.end());
      }
      out[i].relevance.map = mean_map(maps);
      out[i].relevance.weights = {0, 0, 1};
      out[i].need = looks.front()[i].need;
    }
    return out;
  }

 private:
  std::vector<std::shared_ptr<const Looker>> lookers_;
};

class SeenTwice : public Seen {
 public:
  std::shared_ptr<const Seen> own, network;
  int64_t bytes() const override { return own->bytes() + network->bytes(); }
};

class WithNeed : public Looker {
 public:
  WithNeed(std::shared_ptr<const Looker> looker, std::shared_ptr<const Looker> network)
      : looker_(std::move(looker)), network_(std::move(network)) {}
  std::shared_ptr<const Seen> see(const Picture& picture, const at::Tensor& frame) const override {
    auto out = std::make_shared<SeenTwice>();
    out->own = looker_->see(picture, frame);
    // The frame that others show the network too: a memory then finds what it has seen.
    const int longest = LookOptions{}.frame;
    const bool whole = std::max(picture.width(), picture.height()) <= longest;
    out->network = network_->see(picture, whole ? at::Tensor() : frame_of(picture, longest));
    return out;
  }
  std::vector<Look> look(const Seen& given, std::span<const Query> questions,
                         const History& history) const override {
    const auto& seen = dynamic_cast<const SeenTwice&>(given);
    std::vector<Look> out = looker_->look(*seen.own, questions, history);
    const std::vector<Look> by_network = network_->look(*seen.network, questions, history);
    for (size_t i = 0; i < out.size(); ++i)
      if (!out[i].need) out[i].need = by_network[i].need;
    return out;
  }
  bool recalls() const override { return looker_->recalls(); }
  Map interest(const Seen& seen) const override {
    return looker_->interest(*dynamic_cast<const SeenTwice&>(seen).own);
  }

 private:
  std::shared_ptr<const Looker> looker_, network_;
};

class Remembering : public Looker, public BringsBalance {
 public:
  Remembering(std::shared_ptr<const Looker> looker, int64_t bytes)
      : looker_(std::move(looker)), most_(bytes) {}
  std::shared_ptr<const Seen> see(const Picture& picture, const at::Tensor& frame) const override {
    const Key key{picture.digest, frame.defined() ? frame.size(1) : 0,
                  frame.defined() ? frame.size(2) : 0};
    {
      const std::scoped_lock lock(mutex_);
      const auto found = std::find_if(pages_.begin(), pages_.end(),
                                      [&](const auto& page) { return page.first == key; });
      if (found != pages_.end()) {
        pages_.splice(pages_.begin(), pages_, found);
        return found->second;
      }
    }
    auto seen = looker_->see(picture, frame);
    const std::scoped_lock lock(mutex_);
    pages_.emplace_front(key, seen);
    int64_t sum = 0;
    auto last = pages_.begin();
    while (last != pages_.end() && (sum += last->second->bytes()) <= most_) ++last;
    pages_.erase(last == pages_.begin() ? std::next(last) : last, pages_.end());
    return seen;
  }
  std::vector<Look> look(const Seen& seen, std::span<const Query> questions,
                         const History& history) const override {
    return looker_->look(seen, questions, history);
  }
  std::shared_ptr<const Looker> with(int frame, ChannelSet channels) const override {
    auto other = looker_->with(frame, channels);
    return other ? remembering(std::move(other), most_) : nullptr;
  }
  std::shared_ptr<const Provider> provider() const override { return looker_->provider(); }
  bool recalls() const override { return looker_->recalls(); }
  Map interest(const Seen& seen) const override { return looker_->interest(seen); }
  std::shared_ptr<const BalanceNet> balance_net() const override {
    const auto* brings = dynamic_cast<const BringsBalance*>(looker_.get());
    return brings ? brings->balance_net() : nullptr;
  }

 private:
  using Key = std::tuple<std::array<uint8_t, 32>, int64_t, int64_t>;
  std::shared_ptr<const Looker> looker_;
  int64_t most_;
  mutable std::mutex mutex_;
  mutable std::list<std::pair<Key, std::shared_ptr<const Seen>>> pages_;  // latest first
};

}  // namespace

std::shared_ptr<const Looker> with_need_of(std::shared_ptr<const Looker> looker,
                                           std::shared_ptr<const Looker> network) {
  return std::make_shared<WithNeed>(std::move(looker), std::move(network));
}

std::shared_ptr<const Looker> remembering(std::shared_ptr<const Looker> looker, int64_t bytes) {
  return std::make_shared<Remembering>(std::move(looker), bytes);
}

std::shared_ptr<const Looker> given_map(Map map) {
  return std::make_shared<GivenMap>(std::move(map));
}

std::shared_ptr<const Looker> mean_of(std::vector<std::shared_ptr<const Looker>> lookers) {
  return std::make_shared<MeanOf>(std::move(lookers));
}

}  // namespace arrcoc
