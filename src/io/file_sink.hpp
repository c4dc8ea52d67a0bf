// SPDX-License-Identifier: Apache-2.0
//
// A local file that appears whole or not at all: written under a temporary name in the same folder
// (io/temporary_file.hpp), renamed by publish(). Until then, and after any failure, what bore the name is untouched.
//
// - The owner is whoever writes. A new file gets its permissions by the umask. A file that is replaced keeps them (rwx
//   only, never setuid, setgid or sticky) if the new one has its owner and group; else the umask counts too, and nobody
//   may execute it. At no moment may anybody do more than in the end.
// - A symbolic link stays: the file it leads to is replaced. Links of strangers in sticky folders are refused, and so
//   are their pipes (io/place.hpp).
// - A target that may not be written (read-only) is refused, although a rename could replace it.
// - "-", /dev/stdout, /dev/fd/N, pipes, devices: written as they come, append-only; nothing can be taken back there.
//   `cancel` ends the wait for whoever reads them, once a signal has interrupted it.
#pragma once

#include "base/byte_sink.hpp"
#include "io/file_calls.hpp"
#include "io/place.hpp"
#include "io/temporary_file.hpp"
#include "io/write_gather.hpp"
#include "terrazzo/write.hpp"

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
  // This very name: whatever bears it, a link too, is replaced.
  FileSink(Place place, Durability durability);
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
  [[nodiscard]] std::string spool_folder() const override;
  void publish(std::uint64_t size_bytes) override;
  void discard() noexcept override;

  // publish() in steps, for a raster with files beside it. Only of a file, that is where is_seekable() says so.
  void finish(std::uint64_t size_bytes);  // what can fail without being seen
  void set_sidecars_aside();  // back again in discard(), until the file has its name
  void appear();
  void settle();
  // Before open(). The file that is replaced has to be this one, still when the new one gets its name.
  void replace_only(dev_t device, ino_t inode) noexcept { only_over_.emplace(device, inode); }
  // The path, and what each link leads to; the last is the file.
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
  [[noreturn]] void fail(char const* doing, std::optional<std::uint64_t> offset_bytes = {}) const;  // by errno

  std::string path_;
  std::string name_;  // for messages
  Durability durability_;
  std::atomic<bool> const* cancel_ = nullptr;
  bool opened_ = false;

  // A file.
  std::vector<Place> places_{};
  TemporaryFile file_{};  // after places_, which it uses to the last
  std::string number_{};  // of sidecars that are set aside; empty: there are none
  bool appeared_ = false;
  std::optional<std::pair<dev_t, ino_t>> only_over_{};
  std::optional<std::uint64_t> insert_unit_bytes_{};
  bool makes_room_ = false;  // whether the file system is asked for room ahead of what is written
  std::uint64_t room_bytes_ = 0;  // up to here it has given some

  // Something that only takes what comes next.
  Descriptor stream_{};

  WriteGather gather_ = WriteGather::for_files();
  std::uint64_t end_bytes_ = 0;  // where the last byte ended; of a stream, where the next one goes
};

}  // namespace terrazzo::io
