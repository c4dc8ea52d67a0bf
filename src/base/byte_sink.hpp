// SPDX-License-Identifier: Apache-2.0
//
// Where a file's bytes go. write/ knows this interface; io/ implements it.
//
// A file is written in pieces, then published once or discarded. A sink is good for one file. Small writes that follow
// one another may wait in the sink; every function below sees them where they belong. After an exception only discard()
// makes sense. Thread rule: one thread at a time.
#pragma once

#include "terrazzo/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo {

class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(ByteSink const&) = delete;
  ByteSink& operator=(ByteSink const&) = delete;
  virtual ~ByteSink() = default;  // discards what was not published

  [[nodiscard]] virtual std::string const& name() const noexcept = 0;

  // Begins the file: temporary names are taken here. Called once, before anything else; a second call is a `usage`
  // error.
  virtual void open() = 0;

  // False when write_at() takes only the place where the last write ended (pipes, append-only callbacks). Known after
  // open().
  [[nodiscard]] virtual bool is_seekable() const noexcept { return true; }

  // All of `bytes`, or an exception. Gaps that are never written read as zeros.
  virtual void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) = 0;

  // From hold() to let_go() the caller leaves the memory of what it writes as it is: the sink may wait with it, and
  // write more at a time.
  virtual void hold() {}
  virtual void let_go() {}

  // What was written before. Only where insert_unit_bytes() is not 0.
  virtual void read_at(std::uint64_t /*offset_bytes*/, std::span<std::byte> /*into*/) {
    throw Error(ErrorKind::unsupported, "this sink cannot be read back", {.source = name()});
  }

  // Moves all that was written up by `bytes`, a multiple of insert_unit_bytes(), without copying it; what lies before
  // it is then unspecified until written. False when the place cannot do it after all: nothing has changed.
  [[nodiscard]] virtual bool insert_front(std::uint64_t /*bytes*/) { return false; }
  // 0: insert_front() is not to be had here. The first call may try it out.
  [[nodiscard]] virtual std::uint64_t insert_unit_bytes() noexcept { return 0; }

  // Lets the kernel copy from an open file, by itself. Returns how many bytes are in place, from the first on: fewer
  // than asked, or 0, where it cannot; the rest is then to be written.
  [[nodiscard]] virtual std::uint64_t copy_from(int /*descriptor*/, std::uint64_t /*from_bytes*/,
                                                std::uint64_t /*to_bytes*/, std::uint64_t /*size_bytes*/) {
    return 0;
  }

  // The folder for unnamed files of this write; empty: the system's folder for temporary files.
  [[nodiscard]] virtual std::string spool_folder() const { return {}; }

  // The file is whole and has this size (shorter or longer than what was written): it appears under its name. Nothing
  // may be called afterwards.
  virtual void publish(std::uint64_t size_bytes) = 0;

  // No trace stays. May be called at any time, also after a failure.
  virtual void discard() noexcept = 0;
};

}  // namespace terrazzo
