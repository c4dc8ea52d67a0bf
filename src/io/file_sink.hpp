// SPDX-License-Identifier: Apache-2.0
//
// A local file that appears whole or not at all: written under a temporary name in the same folder
// (io/temporary_file.hpp), renamed by publish(). Until then, and after any failure, what bore the name is untouched.
//
// - A file that is replaced keeps its permission bits; a new one gets them by the umask. The owner is whoever writes.
// - A symbolic link stays: the file it leads to is replaced.
// - A target that may not be written (read-only) is refused, although a rename could replace it.
// - "-", /dev/stdout, /dev/fd/N, pipes, devices: written as they come, append-only; nothing can be taken back there.
#pragma once

#include "base/byte_sink.hpp"
#include "io/file_calls.hpp"
#include "io/temporary_file.hpp"
#include "io/write_gather.hpp"
#include "terrazzo/write.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace terrazzo::io {

class FileSink final : public ByteSink {
 public:
  FileSink(std::string path, Durability durability);
  ~FileSink() override { discard(); }

  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  // Throws `usage` for a directory, `io` when the folder does not exist or takes no file.
  void open() override;
  [[nodiscard]] bool is_seekable() const noexcept override { return !stream_; }
  void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) override;
  void hold() override { gather_.hold(); }
  void let_go() override;
  void read_at(std::uint64_t offset_bytes, std::span<std::byte> into) override;
  [[nodiscard]] bool insert_front(std::uint64_t bytes) override;
  [[nodiscard]] std::uint64_t insert_unit_bytes() noexcept override;
  [[nodiscard]] std::uint64_t copy_from(int descriptor, std::uint64_t from_bytes, std::uint64_t to_bytes,
                                        std::uint64_t size_bytes) override;
  [[nodiscard]] std::string spool_folder() const override { return folder_path_; }
  void publish(std::uint64_t size_bytes) override;
  void discard() noexcept override;

 private:
  void open_stream(int descriptor);
  void open_file(std::string const& target);
  void put(std::uint64_t offset_bytes, std::span<Bytes const> parts);
  void make_room(std::uint64_t end_bytes) noexcept;
  void flush();
  void publish_file(std::uint64_t size_bytes);
  void publish_stream(std::uint64_t size_bytes);
  void sync_folder();
  [[noreturn]] void fail(char const* doing, std::optional<std::uint64_t> offset_bytes = {}) const;  // by errno

  std::string path_;
  std::string name_;  // for messages
  Durability durability_;
  bool opened_ = false;

  // A file.
  std::string folder_path_{};
  std::string final_name_{};       // in the folder
  Descriptor folder_{};            // so that nothing depends on the current folder of the process later on
  TemporaryFile file_{};           // after folder_, which it uses to the last
  std::optional<std::uint64_t> insert_unit_bytes_{};
  bool makes_room_ = false;        // whether the file system is asked for room ahead of what is written
  std::uint64_t room_bytes_ = 0;   // up to here it has given some

  // Something that only takes what comes next.
  Descriptor stream_{};

  WriteGather gather_ = WriteGather::for_files();
  std::uint64_t end_bytes_ = 0;  // where the last byte ended; of a stream, where the next one goes
};

}  // namespace terrazzo::io
