// SPDX-License-Identifier: Apache-2.0
//
// Sources: the bytes of a file, wherever they are.
//
//   auto const source = terrazzo::callback_source("bucket/dem.tif", size_bytes, read_at,
//                                                 {.read_ahead_bytes = 64 << 10, .requests_in_flight = 64});
//   terrazzo::Dataset const dem = terrazzo::open(source);
//
// The library opens local files and bytes in memory by itself (open(), open_memory()). For other places, pass a
// blocking function to callback_source(), or derive from ByteSource. docs/sources.md has an example of each.
//
// Sidecars: a source of the caller is one file. open() looks for no .aux.xml, .ovr, .msk or world file beside it.
// Trust: the bytes are untrusted unless SourceHints::trusted or OpenOptions::trust says otherwise.
// Failures: open() and the reads turn every exception of a source into an `io` Error that names the source; Errors of
// the kinds `io`, `limit` and `cancelled` keep their kind.
// Thread rule: a source does not change while datasets use it. Any number of threads call submit() at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

// One range to read. `into` stays valid until the ticket is complete.
struct RangeRead {
  std::uint64_t offset_bytes = 0;
  std::span<std::byte> into{};
};

// The answer to submit(). wait() returns when all ranges are filled, and throws the first failure once.
// The destructor waits too, so that no read outlives its buffer.
class ReadTicket {
 public:
  ReadTicket() = default;  // complete
  // A promise's future, or one of std::async. A deferred future runs in the thread that waits.
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

  // False when wait() returns or throws without waiting.
  [[nodiscard]] bool is_pending() const noexcept { return done_.valid(); }

  void wait() {
    if (failure_) { std::rethrow_exception(std::exchange(failure_, nullptr)); }
    if (done_.valid()) { done_.get(); }
  }

 private:
  std::future<void> done_;
  std::exception_ptr failure_;
};

// How to read from a source at its best speed. The defaults suit a local file.
struct SourceHints {
  // Ranges with a gap of at most this size between them are read as one range.
  std::uint64_t merge_gap_bytes = 4096;
  // Decoded size of the blocks that one submit() requests. A larger block is requested alone.
  std::uint64_t batch_bytes = std::uint64_t{256} << 10;
  // Least size of a read of metadata (header, directories, tile index); at most 512 KiB counts. 0: 16 KiB for the first
  // read, then 4 KiB.
  std::uint64_t read_ahead_bytes = 0;
  // Ranges that the source serves at the same time. A read on the host submits that many before it waits for the first,
  // as far as its memory limit allows.
  std::uint32_t requests_in_flight = 1;
  // A range costs little more than the copy of its bytes: rows may be read one range each.
  bool local = false;
  // The user controls the bytes, as those of a local file: see Trust::automatic.
  bool trusted = false;
};

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(ByteSource const&) = delete;
  ByteSource& operator=(ByteSource const&) = delete;
  virtual ~ByteSource() = default;

  // For messages and Info::source.
  [[nodiscard]] virtual std::string const& name() const noexcept = 0;

  // At the time of opening. A source that has shrunk since answers reads past its end with an `io` error.
  [[nodiscard]] virtual std::uint64_t size_bytes() const noexcept = 0;

  // Starts to read all ranges. The ranges themselves are copied before submit() returns; their memory is filled until
  // the ticket is complete. Fills each range whole: a range that reaches past the end is an `io` Error from the ticket.
  [[nodiscard]] virtual ReadTicket submit(std::span<RangeRead const> ranges) const = 0;

  [[nodiscard]] virtual SourceHints hints() const noexcept { return {}; }

  // The bytes of a source that is in memory: decoders read them without a copy. Empty for other sources.
  [[nodiscard]] virtual std::span<std::byte const> in_memory() const noexcept { return {}; }

  // Names the bytes, for caches: sources of equal identity have equal bytes, so their datasets share decoded tiles. An
  // object's version or checksum belongs in it. Empty: unknown, nothing is shared.
  [[nodiscard]] virtual std::string identity() const { return {}; }

  // One range, blocking.
  void read(std::uint64_t offset_bytes, std::span<std::byte> into) const {
    RangeRead const range{offset_bytes, into};
    submit({&range, 1}).wait();
  }
};

using ByteSourcePtr = std::shared_ptr<ByteSource const>;

// A local file. Throws `io` when it cannot be opened. open(path) also finds sidecars; a source of the file does not.
[[nodiscard]] ByteSourcePtr file_source(std::string path);

// Owned bytes. open_memory() borrows them instead.
[[nodiscard]] ByteSourcePtr memory_source(std::vector<std::byte> bytes, std::string name = "memory");

// Reads up to into.size() bytes at an offset, blocks until they are there, and returns their number. After a short read
// Terrazzo calls again for the rest. A result of 0 or above into.size() is an `io` error.
using ReadAt = std::function<std::size_t(std::uint64_t offset_bytes, std::span<std::byte> into)>;

// A source of `size_bytes` that calls `read_at`, from several threads at once. If hints.requests_in_flight is 1, these
// are the reading threads. Otherwise the source starts up to that many threads of its own on demand, and joins them in
// its destructor. A null function is a `usage` error.
[[nodiscard]] ByteSourcePtr callback_source(std::string name, std::uint64_t size_bytes, ReadAt read_at,
                                            SourceHints const& hints = {});

}  // namespace terrazzo
#pragma GCC visibility pop
