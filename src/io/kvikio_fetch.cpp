// SPDX-License-Identifier: Apache-2.0
#include "io/kvikio_fetch.hpp"

#include "base/checked.hpp"
#include "base/library_search.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace terrazzo::io {

namespace {

namespace fs = std::filesystem;

constexpr char const* kPlugin = "libterrazzo_kvikio.so";
// One thread reads 5 GB/s from the page cache, sixteen threads 45 GB/s; more threads gain nothing.
constexpr unsigned kMaxThreads = 16;

using ErrorText = std::array<char, 512>;

template <class Function>
bool bind(void* library, char const* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

struct Plugin {
  KvikioState state;
  KvikioApi api;
};

Plugin load() {
  Plugin plugin;
  if (is_gpu_part_disabled("kvikio")) {
    plugin.state.hint = "disabled by TERRAZZO_DISABLE";
    return plugin;
  }
  LoadedLibrary const loaded = load_library(kPlugin);
  void* const library = loaded.handle;
  plugin.state.refused = refusal_note(loaded);
  if (library == nullptr) {
    plugin.state.hint = !loaded.trouble.empty() ? text(kPlugin, " cannot be loaded: ", loaded.trouble)
                        : !loaded.refused.empty()
                            ? plugin.state.refused
                            : text(kPlugin, " was not found; build plugins/kvikio with the ",
                                   "package libkvikio-cu13, and name its folder in ", "TERRAZZO_VENDOR_PATH");
    return plugin;
  }
  KvikioApi& api = plugin.api;
  if (!bind(library, "terrazzo_kvikio_abi", api.abi) || api.abi() != kKvikioAbi ||
      !bind(library, "terrazzo_kvikio_version", api.version) ||
      !bind(library, "terrazzo_kvikio_gds_available", api.gds_available) ||
      !bind(library, "terrazzo_kvikio_set_threads", api.set_threads) ||
      !bind(library, "terrazzo_kvikio_open", api.open) || !bind(library, "terrazzo_kvikio_close", api.close) ||
      !bind(library, "terrazzo_kvikio_read_async", api.read_async) ||
      !bind(library, "terrazzo_kvikio_wait", api.wait)) {
    plugin.state.hint = text(kPlugin, " is of another version of Terrazzo");
    return plugin;
  }
  plugin.state.path = loaded.path;
  plugin.state.version = api.version();
  plugin.state.gds = api.gds_available() != 0;
  api.set_threads(std::clamp(std::thread::hardware_concurrency(), 1u, kMaxThreads));
  plugin.state.found = true;
  return plugin;
}

Plugin const& plugin() {
  static auto* const instance = new Plugin(load());  // never destroyed: reads may end after static destructors
  return *instance;
}

}  // namespace

std::vector<DeviceRange> merge_ranges(std::span<DeviceRange const> ranges) {
  std::vector<DeviceRange> merged;
  merged.reserve(ranges.size());
  for (DeviceRange const& range : ranges) {
    if (range.bytes == 0) { continue; }
    if (!merged.empty()) {
      DeviceRange& last = merged.back();
      if (checked_add<std::uint64_t>(last.offset_bytes, last.bytes) == range.offset_bytes &&
          last.to + last.bytes == range.to) {
        last.bytes += range.bytes;
        continue;
      }
    }
    merged.push_back(range);
  }
  return merged;
}

KvikioState const& kvikio_state() { return plugin().state; }

KvikioFile::KvikioFile(std::string path, KvikioApi const& api) : path_(std::move(path)), api_(api) {
  std::error_code error;
  size_bytes_ = fs::file_size(path_, error);
  if (error) { throw Error(ErrorKind::io, text("cannot open: ", error.message()), {.source = path_}); }
  ErrorText reason{};
  handle_ = api_.open(path_.c_str(), reason.data(), reason.size());
  if (handle_ == nullptr) {
    throw Error(ErrorKind::io, text("kvikIO cannot open the file: ", reason.data()), {.source = path_});
  }
}

KvikioFile::~KvikioFile() {
  if (handle_ != nullptr) { api_.close(handle_); }
}

std::shared_ptr<KvikioFile> KvikioFile::open(std::string const& path) {
  if (!plugin().state.found) {
    throw Error(ErrorKind::unsupported, text("kvikIO is missing: ", plugin().state.hint), {.source = path});
  }
  return open(path, plugin().api);
}

std::shared_ptr<KvikioFile> KvikioFile::open(std::string const& path, KvikioApi const& api) {
  return std::shared_ptr<KvikioFile>(new KvikioFile(path, api));
}

KvikioReads KvikioFile::submit(std::span<DeviceRange const> ranges) const {
  std::vector<DeviceRange> const merged = merge_ranges(ranges);
  for (DeviceRange const& range : merged) {
    if (!range_fits(range.offset_bytes, range.bytes, size_bytes_)) {
      throw Error(ErrorKind::io, text(range.bytes, " bytes reach past the end of the file, at ", size_bytes_),
                  {.source = path_, .offset = range.offset_bytes});
    }
  }
  KvikioReads reads;  // waits for the started reads if a later one cannot start
  reads.file_ = shared_from_this();
  reads.pending_.reserve(merged.size());
  for (DeviceRange const& range : merged) {
    ErrorText reason{};
    void* const read =
        api_.read_async(handle_, range.to, range.bytes, range.offset_bytes, reason.data(), reason.size());
    if (read == nullptr) {
      throw Error(ErrorKind::io, text("kvikIO cannot read: ", reason.data()),
                  {.source = path_, .offset = range.offset_bytes});
    }
    reads.pending_.push_back({read, range});
  }
  return reads;
}

KvikioReads& KvikioReads::operator=(KvikioReads&& other) noexcept {
  if (this != &other) {
    drop();
    pending_ = std::exchange(other.pending_, {});
    file_ = std::move(other.file_);
  }
  return *this;
}

KvikioReads::~KvikioReads() { drop(); }

void KvikioReads::drop() noexcept {
  for (Pending const& pending : std::exchange(pending_, {})) { (void)file_->api_.wait(pending.read, nullptr, 0); }
}

void KvikioReads::wait() {
  std::exception_ptr failure;
  for (Pending const& pending : std::exchange(pending_, {})) {
    ErrorText reason{};
    std::int64_t const got = file_->api_.wait(pending.read, reason.data(), reason.size());
    if (failure || (got >= 0 && static_cast<std::uint64_t>(got) == pending.range.bytes)) { continue; }
    std::string const message =
        got < 0 ? text("kvikIO: ", reason.data())
                : text("read ", got, " of ", pending.range.bytes, " bytes: the file shrank while it was read");
    failure = std::make_exception_ptr(
        Error(ErrorKind::io, message, {.source = file_->path_, .offset = pending.range.offset_bytes}));
  }
  file_.reset();
  if (failure) { std::rethrow_exception(failure); }
}

}  // namespace terrazzo::io
