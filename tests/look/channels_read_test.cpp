// Which channels of the full set a scorer reads: docs/look.md lists them, and those that nobody
// does.
#include <gtest/gtest.h>

#include <set>

#include "arrcoc/error.h"
#include "sight.h"

using namespace arrcoc;
using namespace arrcoc::test;

namespace {

// The map under a texture in which one channel is another; empty where the scorer refuses.
Map scored(const Scorer& scorer, const Scenery& scenery, const Texture& texture) {
  try {
    const Sight sight{scenery.picture, scenery.frame, texture, scenery.query,
                      scenery.sight().shape};
    return scorer.score(sight);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

TEST(Channels, EachIsReadByAScorerOrNamedAsUnread) {
  at::Tensor rgb = flat(.5, .6, .4);
  scribble(rgb, 0, 0, 256, 256, 0.1);
  fill(rgb, 100, 100, 140, 160, .9, .1, .1);
  Scenery scenery(rgb, "the red square at the top", ChannelSet::full);
  auto g = at::detail::createCPUGenerator(4);
  const auto h = scenery.texture.values.size(1), w = scenery.texture.values.size(2);
  const auto noise = [&] { return at::rand({h, w}, g, at::kFloat); };
  for (const Channel c :
       channels_of(ChannelSet::full))  // nothing is zero only for want of somebody
    if (!(scenery.texture.of(c).abs().max().item<float>() > 0)) scenery.texture.put(c, noise());
  at::Tensor half = at::ones({h, w});
  half.slice(1, w / 2).zero_();
  std::set<std::string> read;
  for (const auto& [name, summary] : registry<Scorer>().list()) {
    const auto scorer = registry<Scorer>().make(name);
    const Map before = scored(*scorer, scenery, scenery.texture);
    for (const Channel c : channels_of(ChannelSet::full)) {
      Texture other = scenery.texture;
      other.put(c, half);
      if (scored(*scorer, scenery, other) != before) read.insert(to_string(c));
    }
  }
  EXPECT_EQ(read, (std::set<std::string>{"eccentricity", "edges", "edges_inverted", "highpass",
                                         "motion", "saliency", "distance_field",
                                         "attention_previous", "attention_accumulated", "gaze"}));
}
