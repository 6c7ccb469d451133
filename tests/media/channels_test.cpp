// Every channel of the texture is alive: those who fill it and those who read it are what use_of()
// says, and each of them is run.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "arrcoc/media.h"
#include "models/tiny/files.h"
#include "models/tiny/page.h"
#include "places.h"
#include "sight.h"

using namespace arrcoc;
using namespace arrcoc::test;

namespace {

using Names = std::set<std::string>;
using Uses = std::map<Channel, Names>;

std::vector<Channel> all_channels() {
  std::vector<Channel> out;
  for (int i = 0; i < kAllChannels; ++i) out.push_back(static_cast<Channel>(i));
  return out;
}

void expect_uses(const Uses& found, bool writers) {
  for (const Channel c : all_channels()) {
    const std::vector<std::string>& named = writers ? use_of(c).writers : use_of(c).readers;
    EXPECT_FALSE(named.empty()) << to_string(c);
    const auto it = found.find(c);
    EXPECT_EQ(it == found.end() ? Names{} : it->second, Names(named.begin(), named.end()))
        << to_string(c);
  }
}

// Print, a red square and a soft spot: something for everybody.
Scenery scenery(ChannelSet set) {
  at::Tensor rgb = flat(.5, .6, .4);
  scribble(rgb, 0, 0, 256, 256, 0.1);
  fill(rgb, 100, 100, 140, 160, .9, .1, .1);
  return {rgb, "where is the small thing at the top?", set};
}

// The map of a scorer; empty where it refuses.
Map scored(const Scorer& scorer, const Scenery& scenery, const Texture& texture) {
  try {
    return scorer.score(
        {scenery.picture, scenery.frame, texture, scenery.query, scenery.sight().shape});
  } catch (const Error&) {
    return {};
  }
}

// Scorers whose map moves when one channel is another, nothing being zero for want of somebody.
void add_scorers(ChannelSet set, Uses& readers) {
  Scenery s = scenery(set);
  auto g = at::detail::createCPUGenerator(4);
  const int64_t h = s.texture.values.size(1), w = s.texture.values.size(2);
  for (const Channel c : channels_of(set))
    if (!(s.texture.of(c).abs().max().item<float>() > 0))
      s.texture.put(c, at::rand({h, w}, g, at::kFloat));
  at::Tensor half = at::ones({h, w});
  half.slice(1, w / 2).zero_();
  for (const auto& [name, summary] : registry<Scorer>().list()) {
    if (name == "reader") continue;  // words of the picture itself, by OCR
    const auto scorer = registry<Scorer>().make(name);
    const Map before = scored(*scorer, s, s.texture);
    for (const Channel c : channels_of(set)) {
      Texture other = s.texture;
      other.put(c, half);
      if (scored(*scorer, s, other) != before) readers[c].insert(name);
    }
  }
}

// Channels without which the bundled network sees other words.
void add_network(Uses& readers) {
  const tiny::NetworkWeights weights = tiny::load_networks(places::sources() + "/models/tiny");
  const tiny::RealizerNet net(weights.shape);
  const tiny::Page page = tiny::page_of_frame(scenery(ChannelSet::compact).frame);
  const at::Tensor words = net.read(weights.realizer, page, at::kFloat).words;
  for (size_t i = 0; i < channels_of(ChannelSet::compact).size(); ++i) {
    tiny::Page without = page;
    without.texture = page.texture.clone();
    without.texture.select(3, static_cast<int64_t>(i)).zero_();
    const at::Tensor others = net.read(weights.realizer, without, at::kFloat).words;
    if ((others - words).abs().max().item<float>() > 1e-3F * words.abs().max().item<float>())
      readers[channels_of(ChannelSet::compact)[i]].insert("network");
  }
}

// Channels of a set that hold something although nobody gave anything.
void add_pixels(ChannelSet set, Uses& writers) {
  const Scenery s = scenery(set);
  for (const Channel c : channels_of(set))
    if (s.texture.of(c).var().item<float>() > 0) writers[c].insert("pixels");
}

void add_providers(Uses& writers) {
  const auto bundle = load_bundle(places::sources() + "/models/tiny");
  const Scenery s = scenery(ChannelSet::full);
  const auto add = [&](const std::string& name, const Provider& provider) {
    const at::Tensor given = provider.provide(s.frame, s.picture);
    for (size_t i = 0; i < provider.channels().size(); ++i)
      if (given[static_cast<int64_t>(i)].abs().max().item<float>() > 0)
        writers[provider.channels()[i]].insert(name);
  };
  for (const auto& [name, summary] : registry<Provider>().list())
    if (name != "reader-text") add(name, *registry<Provider>().make(name));
  add("network-print", *bundle->looker->provider());
  // Scribble is nothing that OCR can read: what it fills is what it says (reader_test.cpp runs it).
  for (const Channel c : registry<Provider>().make("reader-text")->channels())
    writers[c].insert("reader-text");
}

// What a map of the history changes, seen by the scorer that reads the channel.
void add_history(Uses& writers) {
  const Scenery s = scenery(ChannelSet::compact);
  Map spot = like(s.sight().shape, 0);
  for (int r = 2; r < 5; ++r)
    for (int c = 3; c < 9; ++c) spot.at(r, c) = 1;
  const std::pair<Channel, Map History::*> given[] = {
      {Channel::motion, &History::motion},
      {Channel::attention_previous, &History::attention_previous},
      {Channel::attention_accumulated, &History::attention_accumulated},
      {Channel::gaze, &History::gaze}};
  for (const auto& [channel, map] : given) {
    LookOptions options;
    options.coupling = "none";
    options.salience = use_of(channel).readers.front();
    options.every_map = true;
    const auto looker = make_looker(options);
    const auto seen = looker->see(s.picture);
    const auto salience = [&](const History& history) {
      try {
        return looker->look(*seen, {&s.query, 1}, history).front().knowledge.salience;
      } catch (const Error&) {
        return Map{};  // scorer "attention" without a place where somebody looked
      }
    };
    History history;
    history.*map = spot;
    if (salience(history) != salience({})) writers[channel].insert("history");
  }
}

}  // namespace

TEST(Channels, EachIsReadByThoseThatItNames) {
  media::register_strategies();
  Uses readers;
  add_scorers(ChannelSet::full, readers);
  add_scorers(ChannelSet::compact, readers);
  add_network(readers);
  expect_uses(readers, false);
}

TEST(Channels, EachIsFilledByThoseThatItNames) {
  media::register_strategies();
  Uses writers;
  add_pixels(ChannelSet::full, writers);
  add_pixels(ChannelSet::compact, writers);
  add_providers(writers);
  add_history(writers);
  expect_uses(writers, true);
}

TEST(Channels, EveryOneIsInASet) {
  std::set<Channel> in_sets;
  for (ChannelSet set : {ChannelSet::full, ChannelSet::compact})
    in_sets.insert(channels_of(set).begin(), channels_of(set).end());
  EXPECT_EQ(in_sets.size(), static_cast<size_t>(kAllChannels));
}
