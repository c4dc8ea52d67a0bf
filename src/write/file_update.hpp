// SPDX-License-Identifier: Apache-2.0
//
// A file that exists and is changed in place. First bytes are added behind its end, which no reader looks at; then a
// few bytes inside are patched, which makes readers see them. Until the first patch the file can be given back as it
// was.
//
//   FileUpdate file("dem.tif", Durability::none);
//   file.open();
//   file.write_at(file.old_size_bytes(), more);   // any number of times
//   file.publish(size);                           // what was added stays (and is on the disk, when asked for)
//   file.patch(offset, pointer);                  // at last
//
// A crash before publish() leaves bytes behind the end that nobody refers to. The file is locked (flock) against other
// updates of ours. A writer that replaces the whole file does not wait for them: whether the path still names this file
// is looked at before publish() and after each patch. Thread rule: one thread at a time.
#pragma once

#include "base/byte_sink.hpp"
#include "io/file_calls.hpp"
#include "io/write_gather.hpp"
#include "terrazzo/write.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

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
  // Cuts off what was added, unless it was published. The file is closed.
  void discard() noexcept override;

  // A whole new file in place of this one. It appears only if the path names this one until then.
  [[nodiscard]] std::shared_ptr<ByteSink> replacement() const;

  // One write anywhere in the file. Only after publish(). Throws `io` when the path names another file afterwards: who
  // comes by the path does not see the change.
  void patch(std::uint64_t offset_bytes, std::span<std::byte const> bytes);

 private:
  void check_name(char const* state) const;
  void put(std::uint64_t offset_bytes, std::span<std::byte const> bytes);
  void sync();
  [[noreturn]] void fail(char const* doing, std::optional<std::uint64_t> offset_bytes = {}) const;  // by errno

  std::string path_;
  Durability durability_;
  io::Descriptor file_{};
  std::uint64_t old_size_bytes_ = 0;
  bool added_ = false, published_ = false;
  io::WriteGather gather_ = io::WriteGather::for_files();
};

}  // namespace terrazzo::writing
