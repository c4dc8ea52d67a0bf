// SPDX-License-Identifier: Apache-2.0
//
// Reads file ranges into device memory through libkvikio (GPUDirect Storage if the machine supports it), by a plugin
// that is searched once per process: libterrazzo_kvikio.so (plugins/kvikio). Its absence is a normal result.
//
// Search: base/library_search.hpp. TERRAZZO_DISABLE=kvikio (or gpu) disables it.
//
// kvikIO writes on its own streams. Earlier uses of the memory, and its stream-ordered allocation, must be complete
// when a read is submitted. After wait() the bytes are visible to every stream.
//
// Thread rule: any thread may call; a KvikioFile may be shared; one thread at a time uses a KvikioReads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::io {

// A range of a file and its destination in device memory.
struct DeviceRange {
  std::uint64_t offset_bytes = 0;
  std::byte* to = nullptr;
  std::size_t bytes = 0;
};

// Without empty ranges; ranges that are adjacent in the file and in memory are merged.
[[nodiscard]] std::vector<DeviceRange> merge_ranges(std::span<DeviceRange const> ranges);

// The plugin's functions (described in plugins/kvikio/terrazzo_kvikio.h).
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
  std::string path{};     // path of the loaded plugin
  std::string version{};  // version of libkvikio
  bool gds = false;       // reads go through cuFile
  std::string hint{};     // if not found: the reason, and the package to install
  std::string refused{};  // files refused because other users can replace them; empty: none
};

// Searches and loads the plugin on the first call. Never throws.
[[nodiscard]] KvikioState const& kvikio_state();

class KvikioFile;

// Reads in progress. The destructor waits, so that no read outlives its memory.
class KvikioReads {
 public:
  KvikioReads() = default;  // already complete
  KvikioReads(KvikioReads&& other) noexcept = default;
  KvikioReads& operator=(KvikioReads&& other) noexcept;
  ~KvikioReads();

  // Waits for every byte. Throws `io` for the first read that failed or was short, after all have ended.
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
  // Throws `unsupported` if there is no plugin, `io` if it cannot open the file.
  [[nodiscard]] static std::shared_ptr<KvikioFile> open(std::string const& path);
  // With these functions, which must outlive it: for tests.
  [[nodiscard]] static std::shared_ptr<KvikioFile> open(std::string const& path, KvikioApi const& api);
  ~KvikioFile();
  KvikioFile(KvikioFile const&) = delete;
  KvikioFile& operator=(KvikioFile const&) = delete;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  // Starts every read and waits for none. Throws `io`, with no read in progress, if a range reaches past
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
