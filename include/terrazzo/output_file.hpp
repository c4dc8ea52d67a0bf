// SPDX-License-Identifier: Apache-2.0
//
// A file of any kind that appears complete or not at all, by the same rules as create() (docs/writing.md): written
// under a temporary name in the same folder, renamed by publish(). For pictures, arrays and other files beside rasters.
//
//   std::vector<std::uint8_t> const png = terrazzo::encode_png(picture);
//   terrazzo::OutputFile out("dem.png");
//   out.write(std::as_bytes(std::span(png)));
//   out.publish();
//
// "-" is standard output. Pipes, devices and open descriptors (/dev/stdout, /dev/fd/7) are written directly, without a
// temporary file. Thread rule: one thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#pragma GCC visibility push(default)
namespace terrazzo {

class ByteSink;

class OutputFile {
 public:
  // Opening a pipe, or writing to it, waits for its reader without a limit. If a signal interrupts the wait and
  // `cancel` is true, the call throws `cancelled`.
  explicit OutputFile(std::string path, std::atomic<bool> const* cancel = nullptr);
  ~OutputFile();  // removes the file unless it was published
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;

  // False for pipes, which support only write().
  [[nodiscard]] bool seekable() const noexcept;

  // Writes at the position where the last write() ended.
  void write(std::span<std::byte const> bytes);
  // Writes at any offset; the position of write() stays.
  void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes);

  // Renames the file to its final name. Must be the last call.
  void publish();

 private:
  std::shared_ptr<ByteSink> sink_;
  std::uint64_t next_bytes_ = 0, end_bytes_ = 0;
};

// True for "-", "/dev/stdout" and other names of standard output. A program that writes to such a path should print
// nothing else there.
[[nodiscard]] bool is_standard_output(std::string const& path);

}  // namespace terrazzo
#pragma GCC visibility pop
