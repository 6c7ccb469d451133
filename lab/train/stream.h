// Pictures of one kind, made ahead by threads, going round a shelf of the pool.
//
// Ticket t lies in slot t % slots, so that a checkpoint needs to know the number of tickets only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lab/train/dice.h"
#include "lab/train/pool.h"
#include "lab/train/prefetch.h"

namespace arrcoc::training {

inline constexpr uint64_t kHeldOut = 1ULL << 62;  // tickets from here on are never trained on

// Part p of a step draws from slots p, p + count, ...: a process needs only the pictures of its own
// parts, and as many processes as parts do what one process does part after part.
struct Parts {
  int count = 1, world = 1, rank = 0;
  bool own(int slot) const { return slot % count % world == rank; }
};

class Stream {
 public:
  struct Flow {
    int pictures = 0;  // a step
    int fresh = 0;     // new ones a step; 0: as many as are ready
  };
  // The pool must outlive it. make is called for tickets of this process' own slots alone.
  Stream(std::string name, Pool& pool, int shelf, const Flow& flow, Prefetch::Make make,
         const Parts& parts = {});

  const std::string& name() const { return name_; }
  int shelf() const { return shelf_; }
  int slots() const { return pool_.slots(shelf_); }
  int pictures() const { return flow_.pictures; }
  uint64_t tickets() const { return tickets_; }  // fresh pictures taken so far
  int filled() const { return filled_; }
  // Before start(): goes on after so many tickets.
  void resume(uint64_t tickets) { tickets_ = tickets; }

  // Starts the threads. After resume() the shelf is made again: the last `slots` tickets.
  void start(int workers);
  // Takes a step's fresh pictures in. The first call waits for one step's worth, the shelf fills up
  // on the way.
  void refresh();
  // At most `count` different slots of a part, with pictures of at most `longest` pixels a side.
  std::vector<int> choose(int count, int part, int longest, Dice& dice) const;

 private:
  int slot_of(uint64_t ticket) const {
    return static_cast<int>(ticket % static_cast<uint64_t>(slots()));
  }
  void take_in(int least, int most);

  std::string name_;
  Pool& pool_;
  int shelf_;
  Flow flow_;
  Prefetch::Make make_;
  Parts parts_;
  uint64_t tickets_ = 0;
  int filled_ = 0;
  std::unique_ptr<Prefetch> prefetch_;
};

}  // namespace arrcoc::training
