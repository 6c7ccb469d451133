// Things of one sort that pass one after the other, told apart by where they were seen.
#pragma once

#include <string>
#include <vector>

namespace arrcoc::filming {

// One of them was seen there.
struct Sighting {
  double seconds = 0;
  double x = 0, y = 0;  // pixels of the frame
  double confidence = 0;
};

// One thing's way. Which of several that are there at once is seen changes from moment to moment.
struct Track {
  Sighting first, last;
  int count = 0;
  double confidence = 0;  // of the surest sighting
};

// sightings: in order of time. Those that can be one thing, as fast and in the direction in which
// most go, are joined.
std::vector<Track> tracks_of(const std::vector<Sighting>& sightings, double width, double height);

// "deer" "ducks" "ears of corn" -> "deer" "duck" "ear of corn"
std::string singular(const std::string& names);

}  // namespace arrcoc::filming
