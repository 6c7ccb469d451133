#include "lab/train/streams.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "arrcoc/error.h"
#include "lab/train/real/sample.h"

namespace arrcoc::training {
namespace {

constexpr int kTries = 32;  // pictures in a row that may fail or have no question

std::string key_of(const Stream& stream) {
  return stream.name() == "scenes" ? "tickets" : "tickets_" + stream.name();
}

}  // namespace

Sample scene_sample(const Options& options, const SceneSource& source, uint64_t ticket, bool pinned,
                    std::atomic<int64_t>& failed) {
  Dice dice(options.seed, ticket);
  for (int tries = 0; tries < kTries; ++tries) {
    const bool small = dice.chance(options.small);
    // Held-out seeds have their top bit set, training seeds never do; both lie below the suites'.
    const uint64_t seed = (dice.next() >> 2) | (ticket >= kHeldOut ? 1ULL << 63 : 0);
    static_assert(scenes::kSuiteSeedBase > (1ULL << 63 | ~0ULL >> 2));
    try {
      Sample sample = make_sample(source(seed, small), ticket, options.canvas, pinned);
      if (!sample.asks.empty()) return sample;
    } catch (const Error&) {
      ++failed;  // one bad scene must not end a long run; the number is reported
    }
  }
  throw Error(ErrorCode::bad_argument,
              "32 scenes in a row failed or had no question that fits the canvas");
}

// Pages lie on the same canvas as scenes, photographs on one of half the size, which costs the
// realizer a quarter.
Streams::Streams(const Options& options, SceneSource source, const Parts& parts, at::Device device,
                 at::ScalarType type)
    : options_(options), source_(std::move(source)), pinned_(device.is_cuda()) {
  int pages = 0, photos = 0;
  if (!options.data.empty()) {
    data_ = real::Data::load(real::folders_of(options.data), options.held_share,
                             int64_t{options.remember} << 20);
    if (!data_->has(false) && !data_->has(true))
      throw Error(ErrorCode::not_found,
                  "data: every picture of '" + options.data + "' is held aside");
    const float wanted = options.real * static_cast<float>(options.pictures);
    const int real = std::clamp(static_cast<int>(std::lround(wanted)), 1, options.pictures - 1);
    photos = static_cast<int>(std::lround(data_->photo_share() * real));
    pages = real - photos;
  }
  struct Kind {
    const char* name;
    int pictures;
    Shelf shelf;
    Prefetch::Make make;
  };
  std::vector<Kind> kinds{{"scenes", options.pictures - pages - photos,
                           Shelf{options.slots, options.canvas, 0},
                           [this](uint64_t ticket) { return scene(ticket); }}};
  const auto add = [&](const char* name, int pictures, bool photo) {
    if (pictures == 0) return;
    const real::Wish wish = real::wish_of(options, photo);
    kinds.push_back({name, pictures, Shelf{options.real_slots, wish.canvas, wish.native},
                     [this, photo](uint64_t ticket) { return real_picture(ticket, photo); }});
  };
  add("pages", pages, false);
  add("photographs", photos, true);
  std::vector<Shelf> shelves;
  for (const Kind& kind : kinds) shelves.push_back(kind.shelf);
  pool_ = std::make_unique<Pool>(shelves, device, type);
  for (Kind& kind : kinds) {
    const double share = static_cast<double>(options.fresh) * kind.pictures / options.pictures;
    const int fresh = options.fresh > 0 ? std::max(1, static_cast<int>(std::lround(share))) : 0;
    streams_.push_back(
        std::make_unique<Stream>(kind.name, *pool_, static_cast<int>(streams_.size()),
                                 Stream::Flow{kind.pictures, fresh}, std::move(kind.make), parts));
  }
}

uint64_t Streams::tickets() const {
  uint64_t sum = 0;
  for (const auto& stream : streams_) sum += stream->tickets();
  return sum;
}

void Streams::start(int workers) {
  for (const auto& stream : streams_)  // real pages take longest to make
    stream->start(stream->name() == "photographs" ? std::max(1, workers / 3) : workers);
}

void Streams::refresh() {
  for (const auto& stream : streams_) stream->refresh();
}

void Streams::store(std::map<std::string, std::string>& into) const {
  for (const auto& stream : streams_) into[key_of(*stream)] = std::to_string(stream->tickets());
}

void Streams::restore(const std::map<std::string, std::string>& from) {
  for (const auto& stream : streams_) {
    const auto found = from.find(key_of(*stream));
    if (found == from.end())
      throw Error(ErrorCode::bad_weights, "checkpoint: no '" + key_of(*stream) + "'");
    stream->resume(std::stoull(found->second));
  }
}

Sample Streams::real_picture(uint64_t ticket, bool photo) const {
  real::Wish wish = real::wish_of(options_, photo);
  wish.pinned = pinned_;
  Dice dice(options_.seed, ticket, photo ? 5 : 4);
  for (int tries = 0; tries < kTries; ++tries) {
    const real::Entry& entry = data_->draw(photo, dice);
    try {
      Sample sample = real::training_sample(*data_, entry, ticket, wish, dice);
      if (!sample.asks.empty() || !sample.words.empty()) return sample;
    } catch (const Error&) {
      ++failed_;  // one broken file must not end a long run; the number is reported
    }
  }
  throw Error(ErrorCode::bad_argument,
              "data: 32 real pictures in a row had no question that can be trained on");
}

}  // namespace arrcoc::training
