// SPDX-License-Identifier: Apache-2.0
//
// File ranges straight into device memory through libkvikio (GPUDirect Storage where the machine has it), by a plugin
// that is looked for once per process: libterrazzo_kvikio.so (plugins/kvikio). That it is absent is an answer.
//
// Where: base/library_search.hpp. TERRAZZO_DISABLE=kvikio (or gpu) makes it absent.
//
// kvikIO writes on streams of its own. What used the memory before must be complete when a read is submitted, the
// stream-ordered allocation of it included; what a finished wait() promises holds for every stream.
//
// Thread rule: any thread may call; a KvikioFile may be shared, a KvikioReads belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::io {

// `bytes` of a file, from `offset_bytes` on, and where they go in device memory.
struct DeviceRange {
  std::uint64_t offset_bytes = 0;
  std::byte* to = nullptr;
  std::size_t bytes = 0;
};

// Without empty ranges; ranges that follow one another in the file and in memory are one.
[[nodiscard]] std::vector<DeviceRange> merge_ranges(std::span<DeviceRange const> ranges);

// The plugin's functions (plugins/kvikio/terrazzo_kvikio.h says what they do).
struct KvikioApi {
  int (*abi)() = nullptr;
  char const* (*version)() = nullptr;
  int (*gds_available)() = nullptr;
  void (*set_threads)(unsigned threads) = nullptr;
  void* (*open)(char const* path, char* error, std::size_t error_bytes) = nullptr;
  void (*close)(void* file) = nullptr;
  void* (*read_async)(void* file, void* to, std::uint64_t bytes, std::uint64_t file_offset_bytes, char* error,
                      std::size_t error_bytes) = nullptr;
  std::int64_t (*wait)(void* read, char* error, std::size_t error_bytes) = nullptr;
};
inline constexpr int kKvikioAbi = 1;

struct KvikioState {
  bool found = false;
  std::string path{};     // of the plugin in use
  std::string version{};  // of libkvikio
  bool gds = false;       // reads go through cuFile
  std::string hint{};     // when not found: why, and what to install
  std::string refused{};  // files that were there and that other users can replace; empty when there are none
};

// Loads the plugin when it was not looked for yet. Never throws.
[[nodiscard]] KvikioState const& kvikio_state();

class KvikioFile;

// Reads under way. Dropped without wait() it waits in its destructor, so that no read outlives its memory.
class KvikioReads {
 public:
  KvikioReads() = default;  // already complete
  KvikioReads(KvikioReads&& other) noexcept = default;
  KvikioReads& operator=(KvikioReads&& other) noexcept;
  ~KvikioReads();

  // Returns when every byte is there. Throws `io` for the first read that failed or came short, after all have ended.
  void wait();

 private:
  friend class KvikioFile;
  struct Pending {
    void* read;
    DeviceRange range;
  };
  void drop() noexcept;

  std::shared_ptr<KvikioFile const> file_;
  std::vector<Pending> pending_;
};

class KvikioFile : public std::enable_shared_from_this<KvikioFile> {
 public:
  // Throws `unsupported` when there is no plugin, `io` when it cannot open the file.
  [[nodiscard]] static std::shared_ptr<KvikioFile> open(std::string const& path);
  // By these functions, which must outlive it: for tests.
  [[nodiscard]] static std::shared_ptr<KvikioFile> open(std::string const& path, KvikioApi const& api);
  ~KvikioFile();
  KvikioFile(KvikioFile const&) = delete;
  KvikioFile& operator=(KvikioFile const&) = delete;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  // Starts every read before it returns; waits for none. Throws `io`, with nothing under way, when a range reaches past
  // the end of the file or a read cannot be started.
  [[nodiscard]] KvikioReads submit(std::span<DeviceRange const> ranges) const;

 private:
  friend class KvikioReads;
  KvikioFile(std::string path, KvikioApi const& api);

  std::string path_;
  KvikioApi const& api_;
  void* handle_ = nullptr;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace terrazzo::io
