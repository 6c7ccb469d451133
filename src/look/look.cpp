// Know, then balance: the looker that every road takes.
#include "arrcoc/look.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <mutex>

#include "arrcoc/balance.h"
#include "arrcoc/error.h"
#include "look/balance/balancers.h"
#include "look/texture/filters.h"

namespace arrcoc {

namespace {

// What does not depend on the question, computed when somebody first needs it.
class SeenFrame : public Seen {
 public:
  SeenFrame(const Picture& picture, const at::Tensor& frame, int longest)
      : picture(picture), longest_(longest), frame_(frame) {}
  Picture picture;
  Map shape;                            // of every map
  std::shared_ptr<const Seen> network;  // what the coupling looker saw

  int64_t bytes() const override {
    const std::scoped_lock lock(mutex_);
    const auto maps =
        static_cast<int64_t>((information_.size() + salience_.size()) * sizeof(float));
    const int64_t texture = sensed_ ? static_cast<int64_t>(texture_.values.nbytes()) : 0;
    const int64_t frame = frame_.defined() ? static_cast<int64_t>(frame_.nbytes()) : 0;
    return frame + maps + texture + (network ? network->bytes() : 0);
  }
  // [3,h,w]
  at::Tensor frame() const {
    const std::scoped_lock lock(mutex_);
    if (!frame_.defined()) frame_ = frame_of(picture, longest_);
    return frame_;
  }
  template <class Make>
  const Texture& texture(const Make& make) const {
    const std::scoped_lock lock(mutex_);
    if (!sensed_) texture_ = make();
    sensed_ = true;
    return texture_;
  }
  // Notes of the texture, if anybody needed it.
  std::vector<std::string> notes() const {
    const std::scoped_lock lock(mutex_);
    return texture_.fallbacks;
  }
  template <class Make>
  Map information(const Make& make) const {
    return once(information_, make);
  }
  template <class Make>
  Map salience(const Make& make) const {
    return once(salience_, make);
  }

 private:
  template <class Make>
  Map once(Map& kept, const Make& make) const {
    {
      const std::scoped_lock lock(mutex_);
      if (!kept.empty()) return kept;
    }
    Map made = make();  // twice at worst, when two threads come first
    const std::scoped_lock lock(mutex_);
    return kept = std::move(made);
  }

  const int longest_;
  mutable std::mutex mutex_;
  mutable at::Tensor frame_;
  mutable bool sensed_ = false;
  mutable Texture texture_;
  mutable Map information_, salience_;
};

const SeenFrame& own(const Seen& seen) {
  const auto* mine = dynamic_cast<const SeenFrame*>(&seen);
  if (!mine) throw Error(ErrorCode::bad_argument, "[look] another looker has seen this picture");
  return *mine;
}

void check(const LookOptions& options) {
  if (options.frame < 16 || options.frame > 16384)
    throw Error(ErrorCode::bad_argument, "frame must be 16 to 16384 pixels");
  if (options.cell < 4 || options.cell > 256)
    throw Error(ErrorCode::bad_argument, "cell must be 4 to 256 pixels");
}

// A map of another grid on the cells of `shape`.
Map fitted(const Map& map, const Map& shape) {
  if (map.rows == shape.rows && map.cols == shape.cols) return map;
  Map out = like(shape, 0);
  out.values = resample(map, shape.rows, shape.cols).values;
  return out;
}

// The texture with motion, attention and gaze as the history has them.
Texture with_history(const Texture& texture, const History& history, const Map& shape) {
  Texture out = texture;
  const std::pair<Channel, const Map*> added[] = {
      {Channel::motion, &history.motion},
      {Channel::attention_previous, &history.attention_previous},
      {Channel::attention_accumulated, &history.attention_accumulated},
      {Channel::gaze, &history.gaze}};
  for (const auto& [channel, map] : added) {
    if (map->empty()) continue;
    const Map values = fitted(*map, shape);
    const at::Tensor plane = at::tensor(values.values).reshape({1, 1, shape.rows, shape.cols});
    out.put(channel, texture::stretch(plane, out.values.size(1), out.values.size(2))[0][0]);
  }
  return out;
}

bool empty(const History& h) {
  return h.attention_previous.empty() && h.attention_accumulated.empty() && h.gaze.empty() &&
         h.motion.empty();
}

class Balanced : public Looker {
 public:
  Balanced(const LookOptions& options, const std::shared_ptr<const Looker>& network)
      : options_(options),
        information_(registry<Scorer>().make(options.information)),
        salience_(registry<Scorer>().make(options.salience)),
        balancer_(registry<Balancer>().make(options.balancer)) {
    check(options);
    if (options.coupling != kNetwork) {
      coupling_ = registry<Scorer>().make(options.coupling);
    } else if (!(network_ = network)) {
      throw Error(ErrorCode::not_found,
                  "coupling '" + options.coupling +
                      "' needs the bundled model, which was not found: set ARRCOC_MODELS to the "
                      "folder that holds tiny/config.json");
    } else {
      bring_net(*network_);
      if (auto same = network_->with(options.frame, options.channels)) network_ = std::move(same);
    }
    sensing_ = {options.channels, options.frame, options.cell, {}};
    for (const std::string& name : options.providers)
      sensing_.providers.push_back(provider(name, network.get()));
  }

  std::shared_ptr<const Seen> see(const Picture& picture, const at::Tensor& frame) const override {
    // A picture that is its own frame is made into floats by who needs them.
    const bool whole = std::max(picture.width(), picture.height()) <= options_.frame;
    const at::Tensor shown = frame.defined() || whole ? frame : frame_of(picture, options_.frame);
    auto out = std::make_shared<SeenFrame>(picture, shown, options_.frame);
    out->shape = scoring::map_shape(picture, shown.defined() ? shown : picture.rgb, options_.cell);
    if (network_) out->network = network_->see(picture, shown);
    return out;
  }

  std::vector<Look> look(const Seen& given, std::span<const Query> questions,
                         const History& history) const override {
    const SeenFrame& seen = own(given);
    std::vector<Look> out(questions.size());
    if (network_) out = network_->look(*seen.network, questions, history);
    for (size_t i = 0; i < out.size(); ++i) complete(seen, questions[i], history, out[i]);
    return out;
  }

  bool recalls() const override { return network_ && network_->recalls(); }

  Map interest(const Seen& given) const override {
    static const Query nothing;
    return information(own(given), nothing, {});
  }

 private:
  static std::shared_ptr<const Provider> provider(const std::string& name, const Looker* network) {
    if (name != "network-print" && name != "realizer-text") return registry<Provider>().make(name);
    auto print = network ? network->provider() : nullptr;
    if (!print)
      throw Error(ErrorCode::not_found, "provider '" + name + "' needs the bundled model");
    return print;
  }

  void bring_net(const Looker& network) {
    auto* takes = dynamic_cast<NetBalancer*>(balancer_.get());
    const auto* brings = dynamic_cast<const BringsBalance*>(&network);
    if (takes && brings) takes->use(brings->balance_net());
  }

  // From the coupling map to the balanced one.
  void complete(const SeenFrame& seen, const Query& query, const History& history,
                Look& out) const {
    Knowledge& know = out.knowledge;
    std::vector<std::string> notes = std::move(out.relevance.fallbacks);
    know.coupling = coupling_
                        ? score(*coupling_, "coupling", options_.coupling, seen, query, history)
                        : checked(fitted(out.relevance.map, seen.shape), "coupling", kNetwork);
    Balancer::Reads reads = balancer_->reads(options_.balance);
    if (options_.every_map || balancing::coupling_is_flat(know, reads)) reads = {};
    if (reads.information) know.information = information(seen, query, history);
    if (reads.salience) {
      know.salience = salience(seen, query, history);
      know.hotspots = scoring::hotspots(min_max(know.salience));
    }
    out.relevance =
        balancing::balance(know, query, *balancer_, options_.balancer, options_.balance);
    const std::vector<std::string> sensed = seen.notes();
    notes.insert(notes.end(), sensed.begin(), sensed.end());
    out.relevance.fallbacks.insert(out.relevance.fallbacks.begin(), notes.begin(), notes.end());
  }

  Map information(const SeenFrame& seen, const Query& query, const History& history) const {
    const auto make = [&] {
      return score(*information_, "information", options_.information, seen, query, history);
    };
    return information_->reads_question() || !empty(history) ? make() : seen.information(make);
  }
  Map salience(const SeenFrame& seen, const Query& query, const History& history) const {
    const auto make = [&] {
      return score(*salience_, "salience", options_.salience, seen, query, history);
    };
    return salience_->reads_question() || !empty(history) ? make() : seen.salience(make);
  }

  Map score(const Scorer& scorer, const char* role, const std::string& name, const SeenFrame& seen,
            const Query& query, const History& history) const {
    const at::Tensor frame = seen.frame();
    const Texture& plain =
        seen.texture([&] { return texture::sense(seen.picture, frame, sensing_); });
    if (empty(history))
      return checked(scorer.score({seen.picture, frame, plain, query, seen.shape}), role, name,
                     &seen.shape);
    const Texture texture = with_history(plain, history, seen.shape);
    return checked(scorer.score({seen.picture, frame, texture, query, seen.shape}), role, name,
                   &seen.shape);
  }

  static Map checked(Map map, const char* role, const std::string& name,
                     const Map* shape = nullptr) {
    const std::string who = std::string(role) + " (" + name + ")";
    if (shape && (map.rows != shape->rows || map.cols != shape->cols))
      throw Error(ErrorCode::bad_argument, "[" + who + "] returned a map of another shape");
    require_finite(map, who);
    for (float& v : map.values) v = std::clamp(v, 0.0F, 1.0F);
    return map;
  }

  LookOptions options_;
  std::shared_ptr<const Looker> network_;
  std::unique_ptr<Scorer> information_, salience_, coupling_;
  std::unique_ptr<Balancer> balancer_;
  texture::Options sensing_;
};

}  // namespace

std::shared_ptr<const Looker> make_looker(const LookOptions& options,
                                          std::shared_ptr<const Looker> network) {
  const std::string nothing = "none";
  if (options.information == nothing && options.salience == nothing && options.coupling == nothing)
    return given_map({});
  return std::make_shared<Balanced>(options, network);
}

}  // namespace arrcoc
