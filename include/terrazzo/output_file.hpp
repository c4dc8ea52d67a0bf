// SPDX-License-Identifier: Apache-2.0
//
// A file of any kind that appears whole or not at all, by the rules of files that create() writes (docs/writing.md):
// under a temporary name in the same folder, renamed by publish(). For what goes along with rasters: pictures, arrays.
//
//   terrazzo::OutputFile out("dem.png");
//   out.write(std::as_bytes(std::span(terrazzo::encode_png(picture))));
//   out.publish();
//
// "-" is standard output. Pipes, devices and what is open already (/dev/stdout, /dev/fd/7) are written as bytes come.
// Thread rule: one thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace terrazzo {

class ByteSink;

class OutputFile {
 public:
  // `cancel` ends the wait for the reader of a pipe, which may be for ever, when a signal interrupts it: the next call
  // throws `cancelled`.
  explicit OutputFile(std::string path, std::atomic<bool> const* cancel = nullptr);
  ~OutputFile();  // a file that was not published is removed
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;

  // False for pipes: only write(), in order.
  [[nodiscard]] bool seekable() const noexcept;

  // Where the last write() ended.
  void write(std::span<std::byte const> bytes);
  // Anywhere; does not move the place of write().
  void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes);

  // Gives the file its name. Nothing may be called afterwards.
  void publish();

 private:
  std::shared_ptr<ByteSink> sink_;
  std::uint64_t next_bytes_ = 0, end_bytes_ = 0;
};

// "-", "/dev/stdout" and whatever leads there: a program that writes to this path should print nothing else.
[[nodiscard]] bool is_standard_output(std::string const& path);

}  // namespace terrazzo
