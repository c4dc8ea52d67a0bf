// SPDX-License-Identifier: Apache-2.0
//
// Where bytes come from. tiff/ and read/ know this interface; io/ implements it.
//
// Many ranges go in one call and are answered asynchronously: a remote source merges and overlaps them, a local file
// may answer before submit() returns. Thread rule: a source is immutable from outside; any number of threads may
// submit at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace terrazzo {

// One wanted range. `into` must stay alive until the ticket has been waited for.
struct RangeRead {
  std::uint64_t offset_bytes = 0;
  std::span<std::byte> into{};
};

// The answer to a submit(): wait() returns when every range is filled and throws the first failure.
// A ticket that is dropped without wait() waits in its destructor, so that no read outlives its buffer.
class ReadTicket {
 public:
  ReadTicket() = default;  // already complete
  explicit ReadTicket(std::future<void> done) : done_(std::move(done)) {}
  explicit ReadTicket(std::exception_ptr failure) : failure_(std::move(failure)) {}
  ReadTicket(ReadTicket&&) = default;
  ReadTicket& operator=(ReadTicket&& other) noexcept {
    if (done_.valid()) { done_.wait(); }
    done_ = std::move(other.done_);
    failure_ = std::exchange(other.failure_, nullptr);
    return *this;
  }
  ~ReadTicket() {
    if (done_.valid()) { done_.wait(); }
  }

  void wait() {
    if (failure_) { std::rethrow_exception(std::exchange(failure_, nullptr)); }
    if (done_.valid()) { done_.get(); }
  }

 private:
  std::future<void> done_;
  std::exception_ptr failure_;
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  [[nodiscard]] virtual std::string const& name() const noexcept = 0;

  // At the time of opening. A source that has shrunk since answers reads past its end with an `io` error.
  [[nodiscard]] virtual std::uint64_t size_bytes() const noexcept = 0;

  // Starts every read. A range that reaches past the end is an `io` Error (from the ticket), never a short read.
  [[nodiscard]] virtual ReadTicket submit(std::span<RangeRead const> ranges) const = 0;

  // True when the bytes come from a place the user controls (a local file): see OpenOptions::trust.
  [[nodiscard]] virtual bool is_local() const noexcept { return true; }

  // The whole source in memory, when it already is; empty otherwise. Lets decoders read without a copy.
  [[nodiscard]] virtual std::span<std::byte const> in_memory() const noexcept { return {}; }

  // One range, blocking.
  void read(std::uint64_t offset_bytes, std::span<std::byte> into) const {
    RangeRead const range{offset_bytes, into};
    submit({&range, 1}).wait();
  }
};

using ByteSourcePtr = std::shared_ptr<ByteSource const>;

}  // namespace terrazzo
