// SPDX-License-Identifier: Apache-2.0
//
// A file that exists and is changed in place. First bytes are added behind its end, which no reader looks at; then a
// few bytes inside are patched, which makes readers see them. Until commit() the file can be given back as it was.
//
//   FileUpdate file("dem.tif", Durability::none);
//   file.open();
//   file.write_at(file.old_size_bytes(), more);   // any number of times
//   file.publish(size);                           // what was added is on the disk
//   file.patch(offset, pointer);                  // any number of times; each is on the disk before the next
//   file.commit();                                // without it, discard() undoes the patches and cuts the file
//
// Bytes are on the disk before the patch that makes them visible is written, whatever the durability: a power failure
// leaves the old file or the new one. Durability::fsync syncs after the last patch too. A crash before the first patch
// leaves bytes behind the end that nobody refers to. The file is locked (flock) against other updates of ours. A writer
// that replaces the whole file does not wait for them: whether the path still names this file is looked at before
// publish(), after each patch and in commit(). Thread rule: one thread at a time.
#pragma once

#include "base/byte_sink.hpp"
#include "io/file_calls.hpp"
#include "io/write_gather.hpp"
#include "terrazzo/error.hpp"
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
  // Throws `io` when there is no such file, it may not be written, somebody else is changing it, or a link of somebody
  // else leads to it (io/place.hpp).
  void open() override;
  [[nodiscard]] std::uint64_t old_size_bytes() const noexcept { return old_size_bytes_; }

  // REQUIRES: not before old_size_bytes().
  void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) override;
  void publish(std::uint64_t size_bytes) override;
  // Unless commit() was called: undoes the patches and cuts off what was added. The file is closed.
  void discard() noexcept override;

  // A whole new file in place of this one. It appears only if the path names this one until then.
  [[nodiscard]] std::shared_ptr<ByteSink> replacement() const;

  // One write inside the file, which keeps its size. Only after publish(). Throws `io` when the path names another file
  // afterwards: who comes by the path does not see the change.
  void patch(std::uint64_t offset_bytes, std::span<std::byte const> bytes);
  // Runs `work`, which reads the file by its path. When it fails because the path names another file by now, the error
  // says that.
  template <class Work>
  decltype(auto) while_named(Work const& work) const {
    try {
      return work();
    } catch (Error const&) {
      check_name("what has its name now is not changed");
      throw;
    }
  }
  // The change is complete and stays.
  void commit();

 private:
  void check_name(char const* state) const;
  // Bytes before a patch.
  struct Undo {
    std::uint64_t offset_bytes;
    std::vector<std::byte> bytes;
  };
  void put(std::uint64_t offset_bytes, std::span<std::byte const> bytes);
  void sync();
  [[nodiscard]] bool undo() noexcept;  // all patches
  [[noreturn]] void fail(char const* doing, std::optional<std::uint64_t> offset_bytes = {}) const;  // by errno

  std::string path_;
  Durability durability_;
  io::Descriptor file_{};
  std::uint64_t old_size_bytes_ = 0;
  bool added_ = false, published_ = false, committed_ = false;
  bool unsynced_ = false;  // bytes that may not be on the disk yet
  std::vector<Undo> patches_{};
  io::WriteGather gather_ = io::WriteGather::for_files();
};

}  // namespace terrazzo::writing
