// SPDX-License-Identifier: Apache-2.0
//
// Teams that show what lanes in turn hide: a result that depends on the order of the lanes between two barriers, and
// variables of a lane that a device would not share. ThreadSanitizer finds missing barriers in the team of threads.
#pragma once

#include "coding/team/team.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace terrazzo::coding::test {

// Lanes one after the other: the last first, or, with a seed, in another order in each step.
class LanesInOrder {
 public:
  static constexpr std::uint32_t kLanes = kTeamLanes;

  explicit LanesInOrder(std::uint32_t seed = 0) : random_(seed), is_random_(seed != 0), order_(kLanes) {
    std::iota(order_.rbegin(), order_.rend(), 0u);
  }
  template <class Body>
  void each(Body const& body) const {
    if (is_random_) { std::shuffle(order_.begin(), order_.end(), random_); }
    for (std::uint32_t const lane : order_) { body(lane); }
  }
  template <class Body>
  [[nodiscard]] bool any(Body const& body) const {
    bool result = false;
    each([&](std::uint32_t lane) { result = body(lane) || result; });
    return result;
  }
  template <class Value>
  [[nodiscard]] Value read(Value const& shared) const {
    return shared;
  }

 private:
  mutable std::mt19937 random_;
  bool is_random_;
  mutable std::vector<std::uint32_t> order_;
};

// Every lane is a thread that runs the whole decoder, as on a device.
class LaneThreads {
 public:
  static constexpr std::uint32_t kLanes = kTeamLanes;

  // Calls run(team, lane) on a thread for each lane.
  template <class Run>
  static void run(Run const& run) {
    Meeting meeting;
    pthread_barrier_init(&meeting.barrier, nullptr, kLanes);
    std::vector<std::thread> threads;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      threads.emplace_back([&meeting, &run, lane] { run(LaneThreads(meeting, lane), lane); });
    }
    for (std::thread& thread : threads) { thread.join(); }
    pthread_barrier_destroy(&meeting.barrier);
  }

  template <class Body>
  void each(Body const& body) const {
    body(lane_);
    wait();
  }
  template <class Body>
  [[nodiscard]] bool any(Body const& body) const {
    if (body(lane_)) { meeting_.flag.store(true, std::memory_order_relaxed); }
    wait();
    bool const result = meeting_.flag.load(std::memory_order_relaxed);
    wait();
    if (lane_ == 0) { meeting_.flag.store(false, std::memory_order_relaxed); }
    wait();
    return result;
  }
  template <class Value>
  [[nodiscard]] Value read(Value const& shared) const {
    Value const value = shared;
    wait();
    return value;
  }

 private:
  struct Meeting {
    pthread_barrier_t barrier;
    std::atomic<bool> flag{false};
  };
  LaneThreads(Meeting& meeting, std::uint32_t lane) : meeting_(meeting), lane_(lane) {}
  void wait() const { pthread_barrier_wait(&meeting_.barrier); }

  Meeting& meeting_;
  std::uint32_t lane_;
};

}  // namespace terrazzo::coding::test
