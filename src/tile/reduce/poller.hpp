// SPDX-License-Identifier: Apache-2.0
//
// Lets long work on one row be cancelled: a function that may throw is called after every 2^18 pixels of work.
#pragma once

#include <cstdint>
#include <functional>

namespace terrazzo::tile {

using Poll = std::function<void()>;  // throws to end the work

// Counts the pixels of work and calls the Poll. For one thread.
class Poller {
 public:
  explicit Poller(Poll const& poll) noexcept : poll_(poll) {}

  void spend(std::uint64_t pixels) {
    spent_pixels_ += pixels;
    if (spent_pixels_ < kPixels || !poll_) { return; }
    spent_pixels_ = 0;
    poll_();
  }

 private:
  static constexpr std::uint64_t kPixels = 1 << 18;

  Poll const& poll_;
  std::uint64_t spent_pixels_ = 0;
};

}  // namespace terrazzo::tile
