// SPDX-License-Identifier: Apache-2.0
//
// Sinks: where the bytes of a new file go.
//
//   std::vector<std::byte> bytes;
//   terrazzo::write(terrazzo::memory_sink(bytes), pixels, options);
//
// The library writes local files, memory and the caller's functions (below). For other places derive from ByteSink.
//
// A file is written in pieces and then published once, or discarded. A sink takes one file. It may keep small writes
// that follow one another for a while; read_at(), insert_front(), copy_from() and publish() take these into account.
// After an exception the writer calls only discard(). An exception of a sink ends the write and reaches the caller
// unchanged.
// Thread rule: one thread at a time.
#pragma once

#include "terrazzo/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(ByteSink const&) = delete;
  ByteSink& operator=(ByteSink const&) = delete;
  virtual ~ByteSink() = default;  // discards a file that was not published

  // For messages.
  [[nodiscard]] virtual std::string const& name() const noexcept = 0;

  // Begins the file. Called once, before all other functions; a second call is a `usage` error.
  virtual void open() = 0;

  // False when write_at() accepts only the offset where the last write ended (pipes, append-only functions). Known
  // after open().
  [[nodiscard]] virtual bool is_seekable() const noexcept { return true; }

  // Writes all of `bytes`, or throws. Gaps that are never written read as zeros.
  virtual void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) = 0;

  // The file is complete and has this size, which may be smaller or larger than the bytes written: makes it visible
  // under its name. No function is called afterwards.
  virtual void publish(std::uint64_t size_bytes) = 0;

  // Removes all traces of the file. Called at any time, also after a failure.
  virtual void discard() noexcept = 0;

  // The rest is optional: short cuts that save copies where the place offers them.

  // Between hold() and let_go() the caller does not change the memory that it passed to write_at(), so the sink may
  // write it later, in larger pieces.
  virtual void hold() {}
  virtual void let_go() {}

  // Reads bytes that were written before. Called only if insert_unit_bytes() is not 0.
  virtual void read_at(std::uint64_t /*offset_bytes*/, std::span<std::byte> /*into*/) {
    throw Error(ErrorKind::unsupported, "this sink cannot be read back", {.source = name()});
  }

  // Moves all written bytes up by `bytes`, a multiple of insert_unit_bytes(), without a copy. The bytes before them are
  // unspecified until written. Returns false, with the file unchanged, if the place refuses.
  [[nodiscard]] virtual bool insert_front(std::uint64_t /*bytes*/) { return false; }
  // 0: insert_front() is not available. The first call may probe the place.
  [[nodiscard]] virtual std::uint64_t insert_unit_bytes() noexcept { return 0; }

  // Lets the kernel copy from an open file. Returns the number of bytes that are in place, counted from the first; the
  // caller writes the rest.
  [[nodiscard]] virtual std::uint64_t copy_from(int /*descriptor*/, std::uint64_t /*from_bytes*/,
                                                std::uint64_t /*to_bytes*/, std::uint64_t /*size_bytes*/) {
    return 0;
  }

  // The folder for unnamed files of this write; empty: the system's folder for temporary files.
  [[nodiscard]] virtual std::string spool_folder() const { return {}; }
};

enum class Durability : std::uint8_t {
  none,  // the file survives a crash of the process, but not a power failure
  fsync,  // file and folder are synced to disk before close() returns
};

// A file that appears whole or not at all: written under a temporary name in the same folder and renamed by publish().
// "-" is standard output; pipes and devices are written as bytes come. OutputFile (terrazzo/output_file.hpp) writes
// other kinds of files by the same rules.
[[nodiscard]] std::shared_ptr<ByteSink> file_sink(std::string path, Durability durability = Durability::none);

// publish() replaces the content of `bytes`, which must live until then.
[[nodiscard]] std::shared_ptr<ByteSink> memory_sink(std::vector<std::byte>& bytes);

// Sinks that call the caller's functions. Written bytes cannot be withdrawn: after a failure the caller discards them.
using WriteAt = std::function<void(std::uint64_t offset_bytes, std::span<std::byte const> bytes)>;
using Append = std::function<void(std::span<std::byte const> bytes)>;
[[nodiscard]] std::shared_ptr<ByteSink> seekable_sink(std::string name, WriteAt write_at);
[[nodiscard]] std::shared_ptr<ByteSink> append_sink(std::string name, Append append);

}  // namespace terrazzo
#pragma GCC visibility pop
