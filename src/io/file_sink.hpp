// SPDX-License-Identifier: Apache-2.0
//
// A local file that appears complete or not at all: written under a temporary name in the same folder
// (io/temporary_file.hpp), renamed by publish(). Until then, and after any failure, an existing file is untouched.
//
// - The calling user owns the file. The umask sets the permissions of a new file. A replaced file keeps its own (rwx
//   only, never setuid, setgid or sticky) if owner and group stay the same; else the umask restricts them, without x
//   bits. At no moment do others have more rights than in the end.
// - A symbolic link stays and its target is replaced. Links and pipes of other users in sticky folders are refused
//   (io/path_target.hpp).
// - A read-only target is refused, although a rename could replace it.
// - "-", /dev/stdout, /dev/fd/N, pipes, devices: append-only, written directly; written bytes cannot be taken back.
//   If a signal interrupts the wait for their reader, a set `cancel` ends it.
#pragma once

#include "io/file_calls.hpp"
#include "io/path_target.hpp"
#include "io/temporary_file.hpp"
#include "io/write_gather.hpp"
#include "terrazzo/sink.hpp"

#include <sys/stat.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::io {

class FileSink final : public ByteSink {
 public:
  FileSink(std::string path, Durability durability, std::atomic<bool> const* cancel = nullptr);
  // Replaces this very name, also if it is a link.
  FileSink(Place place, Durability durability);
  ~FileSink() override { discard(); }

  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  // Throws `usage` for a directory, `io` if the folder does not exist or accepts no file.
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
  [[nodiscard]] std::string spool_folder() const override;
  void publish(std::uint64_t size_bytes) override;
  void discard() noexcept override;

  // publish() in steps, for a raster with sidecars. REQUIRES: is_seekable(), that is a file.
  void finish(std::uint64_t size_bytes);  // the steps that can fail before readers see a change
  void set_sidecars_aside();  // undone by discard() until the file has its name
  void appear();
  void settle();
  // Call before open(). The replaced file must be this one, and still be when the new one gets its name.
  void replace_only(dev_t device, ino_t inode) noexcept { only_over_.emplace(device, inode); }
  // The path, then the target of each link; the last is the file.
  [[nodiscard]] std::span<Place const> places() const noexcept { return places_; }

 private:
  void take_stream(int descriptor);
  void open_stream(struct stat const& status);
  void open_file(struct stat const* old);
  void put(std::uint64_t offset_bytes, std::span<Bytes const> parts);
  void make_room(std::uint64_t end_bytes) noexcept;
  void flush();
  void publish_stream(std::uint64_t size_bytes);
  void sync_folders();
  [[noreturn]] void fail(char const* doing, std::optional<std::uint64_t> offset_bytes = {}) const;  // error from errno

  std::string path_;
  std::string name_;  // for messages
  Durability durability_;
  std::atomic<bool> const* cancel_ = nullptr;
  bool opened_ = false;

  // For a file.
  std::vector<Place> places_{};
  TemporaryFile file_{};  // after places_, which it uses until its destruction
  std::string number_{};  // number of the renamed sidecars; empty: none
  bool appeared_ = false;
  std::optional<std::pair<dev_t, ino_t>> only_over_{};
  std::optional<std::uint64_t> insert_unit_bytes_{};
  bool makes_room_ = false;  // the file system allocates ahead of writes
  std::uint64_t room_bytes_ = 0;  // end of the allocated range

  // For a stream: append only.
  Descriptor stream_{};

  WriteGather gather_ = WriteGather::for_files();
  std::uint64_t end_bytes_ = 0;  // end of the last written byte; of a stream, the offset of the next
};

}  // namespace terrazzo::io
