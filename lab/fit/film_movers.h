// Longer films for the fit's guard: something moves that the network cannot name.
#pragma once

#include "lab/measure/films.h"
#include "lab/scenes/scenes.h"

namespace arrcoc::fitting {

inline constexpr int kMoverFrames = 32;

// `count` films: an upright cut of one generated picture crosses another, before a still camera,
// a trembling or a panning one in turn, with noise on every frame. The question asks for a person,
// the boxes are the cut's. Seeds from `seed` on.
std::vector<measuring::Film> mover_films(const scenes::Assets& assets, int count, uint64_t seed,
                                         const measuring::FilmLook& look);

}  // namespace arrcoc::fitting
