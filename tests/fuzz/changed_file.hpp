// SPDX-License-Identifier: Apache-2.0
//
// A file of arbitrary bytes that is changed where it lies, and what must hold afterwards: a failure leaves its bytes as
// they were, and a success a file that opens and whose raster has the pixels it had.
#pragma once

#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/settings.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::fuzzing {

inline constexpr std::uint64_t kMemoryLimitBytes = 64U << 20;
inline constexpr std::uint64_t kMaxPixels = 1U << 16;
// Files may become sparse: reading them as a whole would measure the memory's speed.
inline constexpr std::uint64_t kMaxFileBytes = 1U << 20;

inline void require(bool condition) {
  if (!condition) { std::abort(); }
}

// In memory where there is such a place; gone with the process's next input.
class ChangedFile {
 public:
  explicit ChangedFile(std::span<std::byte const> bytes) : before_(bytes.begin(), bytes.end()) {
    char const* const folder = std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
    path_ = std::string(folder) + "/terrazzo-fuzz-" + std::to_string(getpid()) + ".tif";
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    pixels_ = pixels();
  }
  ~ChangedFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    std::filesystem::remove(path_ + ".ovr", ignored);
  }
  ChangedFile(ChangedFile const&) = delete;
  ChangedFile& operator=(ChangedFile const&) = delete;

  [[nodiscard]] std::string const& path() const noexcept { return path_; }
  // Small enough to be worth a run, and opens.
  [[nodiscard]] bool is_raster() const {
    try {
      Info const info = open(path_).info();
      return std::uint64_t{info.width} * info.height * info.bands.size() <= kMaxPixels;
    } catch (Error const&) { return false; }
  }

  // A new nodata value changes the pixels of tiles that are not in the file.
  enum class Pixels : std::uint8_t { stay, may_change };
  template <class Change>
  void change(Change const& change, Pixels pixels_after = Pixels::stay) {
    if (too_large_) { return; }
    try {
      change();
    } catch (Error const& error) {
      require(error.kind() != ErrorKind::device && error.kind() != ErrorKind::cancelled);
      require(bytes() == before_);
      return;
    }
    static_cast<void>(open(path_));
    if (pixels_ && pixels_after == Pixels::stay) { require(pixels() == pixels_); }
    pixels_ = pixels();
    too_large_ = std::filesystem::file_size(path_) > kMaxFileBytes;
    if (!too_large_) { before_ = bytes(); }
  }

  // Of the raster; nothing when a tile cannot be read.
  [[nodiscard]] std::optional<std::vector<std::byte>> pixels() const {
    try {
      Dataset const dataset = open(path_);
      if (!is_raster()) { return std::nullopt; }
      HostArray const array = read(dataset, {.memory_limit_bytes = kMemoryLimitBytes});
      return std::vector<std::byte>(array.bytes().begin(), array.bytes().end());
    } catch (Error const&) { return std::nullopt; }
  }

 private:
  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::ifstream in(path_, std::ios::binary);
    std::string const text((std::istreambuf_iterator<char>(in)), {});
    auto const all = std::as_bytes(std::span(text));
    return {all.begin(), all.end()};
  }

  std::vector<std::byte> before_;
  std::string path_;
  std::optional<std::vector<std::byte>> pixels_{};
  bool too_large_ = false;
};

}  // namespace terrazzo::fuzzing

// Found by libFuzzer in the target that includes this header.
extern "C" __attribute__((used)) inline int LLVMFuzzerInitialize(int*, char***) {
  terrazzo::set_settings(
      {.threads = 1, .memory_limit_bytes = terrazzo::fuzzing::kMemoryLimitBytes, .tile_cache_bytes = 0});
  return 0;
}
