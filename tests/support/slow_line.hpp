// SPDX-License-Identifier: Apache-2.0
//
// A source behind a slow line, in virtual time. It never sleeps, so tests of latency are independent of the machine's
// load.
#pragma once

#include "terrazzo/source.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::testing {

// Every range is one request. A request starts when it is submitted or when a lane is free, whichever is later, and
// takes one round trip. A wait for a ticket moves the clock to the end of its last request.
class SlowLine final : public ByteSource {
 public:
  SlowLine(ByteSourcePtr inner, std::size_t lanes, SourceHints const& hints)
      : inner_(std::move(inner)), hints_(hints), free_at_(lanes, 0) {}

  [[nodiscard]] std::string const& name() const noexcept override { return inner_->name(); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return inner_->size_bytes(); }
  [[nodiscard]] SourceHints hints() const noexcept override { return hints_; }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override {
    inner_->submit(ranges).wait();
    std::lock_guard const lock(mutex_);
    std::uint64_t end = now_;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      std::uint64_t& lane = *std::ranges::min_element(free_at_);
      lane = std::max(lane, now_) + 1;
      end = std::max(end, lane);
    }
    requests_ += ranges.size();
    auto const busy = static_cast<std::size_t>(std::ranges::count_if(free_at_, [&](auto at) { return at > now_; }));
    peak_ = std::max(peak_, busy);
    return ReadTicket(std::async(std::launch::deferred, [this, end] {
      std::lock_guard const waiting(mutex_);
      now_ = std::max(now_, end);
    }));
  }

  // Round trips since the last reset().
  [[nodiscard]] std::uint64_t round_trips() const {
    std::lock_guard const lock(mutex_);
    return now_;
  }
  [[nodiscard]] std::uint64_t requests() const {
    std::lock_guard const lock(mutex_);
    return requests_;
  }
  [[nodiscard]] std::size_t most_lanes_busy() const {
    std::lock_guard const lock(mutex_);
    return peak_;
  }
  void reset() {
    std::lock_guard const lock(mutex_);
    std::ranges::fill(free_at_, 0);
    now_ = requests_ = peak_ = 0;
  }

 private:
  ByteSourcePtr inner_;
  SourceHints hints_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::vector<std::uint64_t> free_at_;  // one entry per lane; the unit is a round trip
  mutable std::uint64_t now_ = 0, requests_ = 0;
  mutable std::size_t peak_ = 0;
};

}  // namespace terrazzo::testing
