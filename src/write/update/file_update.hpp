// SPDX-License-Identifier: Apache-2.0
//
// Changes an existing file in place. First, bytes are appended, which no reader sees; then a few bytes inside the file
// are patched, which makes them visible. Until commit(), the old file can be restored.
//
//   FileUpdate file("dem.tif", Durability::none);
//   file.open();
//   file.write_at(file.old_size_bytes(), more);   // any number of times
//   file.publish(size);                           // the appended bytes are on disk
//   file.patch(offset, pointer);                  // any number of times; each is on disk before the next
//   file.commit();                                // without it, discard() undoes the patches and truncates the file
//
// For any durability, bytes are on disk before the patch that makes them visible is written: a power failure leaves the
// old file or the new one. Durability::fsync syncs after the last patch too. A crash before the first patch leaves
// unused bytes at the end of the file. The file is locked (flock) against our other updates. A writer that replaces the
// whole file ignores the lock, so publish(), patch() and commit() check that the path still names this file. Thread
// rule: one thread at a time.
#pragma once

#include "io/file_calls.hpp"
#include "io/write_gather.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/sink.hpp"
#include "terrazzo/write.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::writing {

class FileUpdate final : public ByteSink {
 public:
  FileUpdate(std::string path, Durability durability);
  ~FileUpdate() override { discard(); }

  [[nodiscard]] std::string const& name() const noexcept override { return path_; }
  // Throws `io` if the file does not exist, is not writable, is locked by another update, or is reached through another
  // user's link (io/path_target.hpp).
  void open() override;
  [[nodiscard]] std::uint64_t old_size_bytes() const noexcept { return old_size_bytes_; }

  // REQUIRES: offset_bytes >= old_size_bytes().
  void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) override;
  void publish(std::uint64_t size_bytes) override;
  // Unless commit() was called: undoes the patches and removes the appended bytes. Closes the file.
  void discard() noexcept override;

  // A sink for a new file that replaces this one. It is published only if the path still names this file.
  [[nodiscard]] std::shared_ptr<ByteSink> replacement() const;

  // One write inside the file, which keeps its size. REQUIRES: publish() was called. Throws `io` if the path names
  // another file afterwards: readers of the path would not see the change.
  void patch(std::uint64_t offset_bytes, std::span<std::byte const> bytes);
  // Runs `work`, which reads the file by its path. If it fails and the path names another file by now, the error says
  // so.
  template <class Work>
  decltype(auto) while_named(Work const& work) const {
    try {
      return work();
    } catch (Error const&) {
      check_name("the file that has this name now is unchanged");
      throw;
    }
  }
  // Makes the change permanent.
  void commit();

 private:
  void check_name(char const* state) const;
  // The bytes before a patch.
  struct Undo {
    std::uint64_t offset_bytes;
    std::vector<std::byte> bytes;
  };
  void put(std::uint64_t offset_bytes, std::span<std::byte const> bytes);
  void sync();
  [[nodiscard]] bool undo() noexcept;  // undoes all patches
  [[noreturn]] void fail(char const* doing, std::optional<std::uint64_t> offset_bytes = {}) const;  // error from errno

  std::string path_;
  Durability durability_;
  io::Descriptor file_{};
  std::uint64_t old_size_bytes_ = 0;
  bool added_ = false, published_ = false, committed_ = false;
  bool unsynced_ = false;  // bytes that may not be on disk yet
  std::vector<Undo> patches_{};
  io::WriteGather gather_ = io::WriteGather::for_files();
};

}  // namespace terrazzo::writing
