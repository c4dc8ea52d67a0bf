// SPDX-License-Identifier: Apache-2.0
#include "io/spool.hpp"

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "io/file_calls.hpp"
#include "io/write_gather.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::io {

namespace {

constexpr std::size_t kFirstChunkBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxChunkBytes = std::size_t{32} << 20;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
// From this size on, free threads fault in the pages: one thread faults and fills them at 3.7 GB/s, which would stall a
// GPU's tiles.
constexpr std::size_t kSharedOutBytes = std::size_t{8} << 20;
// Buffer for copies through memory: stays in the L2 cache.
constexpr std::size_t kCopyBytes = std::size_t{1} << 20;
// Placed bytes are released on disk in steps of this size, so that a spooled file needs its space once, not twice.
constexpr std::uint64_t kReleaseBytes = std::uint64_t{64} << 20;

// A piece of memory that is filled once, from its start.
class Chunk {
 public:
  explicit Chunk(std::size_t capacity)
      : bytes_(static_cast<std::byte*>(
            std::aligned_alloc(capacity >= kHugePageBytes ? kHugePageBytes : std::size_t{64}, capacity))),
        capacity_(capacity) {
    if (bytes_ == nullptr) { throw std::bad_alloc(); }
    // A GiB in pages of 4 KiB is a quarter of a million page faults: with huge pages, 2 GiB are appended in 0.55 s
    // instead of 1.45 s.
    if (capacity >= kHugePageBytes) { ::madvise(bytes_.get(), capacity, MADV_HUGEPAGE); }
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t room() const noexcept { return capacity_ - size_; }
  [[nodiscard]] std::span<std::byte const> bytes() const noexcept { return {bytes_.get(), size_}; }

  void append(std::span<std::byte const> bytes) noexcept {
    std::memcpy(bytes_.get() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }

  // Faults in pages for the next `bytes`, and for `ahead_bytes` after them, if there are enough to share. Only for
  // speed: other pages are faulted in when they are written.
  void make_pages(std::size_t bytes, std::uint64_t ahead_bytes) {
    std::size_t const end = size_ + bytes;
    if (capacity_ < kSharedOutBytes || end <= made_) { return; }
    std::size_t const from = std::max(made_, size_ / kHugePageBytes * kHugePageBytes);
    std::size_t const to = std::min(
        capacity_,
        round_up(end + static_cast<std::size_t>(std::min<std::uint64_t>(ahead_bytes, capacity_)), kHugePageBytes));
    if (to - from < kSharedOutBytes) { return; }
#ifdef MADV_POPULATE_WRITE
    parallel_for(ceil_div(to - from, kHugePageBytes), resolve_threads(0), [&](std::uint64_t page) {
      ::madvise(bytes_.get() + from + page * kHugePageBytes, kHugePageBytes, MADV_POPULATE_WRITE);
    });
#endif
    made_ = to;
  }

 private:
  struct Free {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::size_t made_ = 0;  // end of the faulted pages
};
static_assert(kMaxChunkBytes % kHugePageBytes == 0 && kSharedOutBytes % kHugePageBytes == 0);

std::string temporary_folder() {
  char const* const folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

}  // namespace

struct Spool::Impl {
  Impl(ByteSink& to, SpoolQuota& shared, SpoolWay asked, bool in_place)
      : sink(to), quota(shared), wanted(asked), may_use_sink(in_place) {}
  ~Impl() { release_memory(); }
  Impl(Impl const&) = delete;
  Impl& operator=(Impl const&) = delete;

  ByteSink& sink;
  SpoolQuota& quota;
  SpoolWay wanted;
  bool may_use_sink;
  SpoolWay way = SpoolWay::memory;
  std::uint64_t size = 0;

  std::deque<Chunk> chunks{};
  std::uint64_t in_memory = 0;  // this spool's part of quota.used_bytes

  Descriptor file{};
  std::string folder{};
  WriteGather gather = WriteGather::for_files();  // for the file; the sink has its own

  [[noreturn]] void fail(char const* doing) const {
    throw Error(ErrorKind::io,
                text("cannot ", doing, " the file for waiting tiles in ", folder, ": ", std::strerror(errno)),
                {.source = sink.name()});
  }

  void put(std::uint64_t offset_bytes, std::span<std::byte const> bytes) {
    if (!write_all_at(file.get(), offset_bytes, bytes)) { fail("write"); }
  }

  void release_memory() noexcept {
    quota.used_bytes -= in_memory;
    in_memory = 0;
    chunks.clear();
  }

  // Passes every chunk to `take` in order and frees it.
  template <class Take>
  void drain(Take const& take) {
    std::uint64_t offset = 0;
    while (!chunks.empty()) {
      std::span<std::byte const> const bytes = chunks.front().bytes();
      take(offset, bytes);
      offset += bytes.size();
      quota.used_bytes -= bytes.size();
      in_memory -= bytes.size();
      chunks.pop_front();
    }
  }

  void leave_memory(SpoolWay next) {
    way = next;
    if (next == SpoolWay::in_place) {
      sink.let_go();  // chunks are freed as soon as they are written
      drain([this](std::uint64_t offset, std::span<std::byte const> bytes) { sink.write_at(offset, bytes); });
      return;
    }
    folder = sink.spool_folder();
    if (folder.empty()) { folder = temporary_folder(); }
    file = open_unnamed(folder);
    if (!file) { fail("make"); }
    drain([this](std::uint64_t offset, std::span<std::byte const> bytes) { put(offset, bytes); });
  }

  void append_to_memory(std::span<std::byte const> bytes) {
    quota.used_bytes += bytes.size();
    in_memory += bytes.size();
    while (!bytes.empty()) {
      if (chunks.empty() || chunks.back().room() == 0) {
        // Chunks grow: a spool of a small overview takes little memory, one of a whole raster has few chunks.
        chunks.emplace_back(chunks.empty() ? kFirstChunkBytes : std::min(chunks.back().capacity() * 4, kMaxChunkBytes));
      }
      std::span<std::byte const> const part = bytes.first(std::min(bytes.size(), chunks.back().room()));
      // Half of the pending bytes: a spool that ends soon has few unused pages.
      chunks.back().make_pages(part.size(), in_memory / 2);
      chunks.back().append(part);
      bytes = bytes.subspan(part.size());
    }
  }

  // Called if the quota has no room for `bytes` more.
  void pass_quota(std::uint64_t bytes) {
    if (wanted == SpoolWay::memory) {
      throw Error(ErrorKind::limit,
                  text("compressed tiles that wait for their place need more than spool_bytes (", quota.limit_bytes,
                       "): ", quota.used_bytes, " are used and ", bytes,
                       " more are to come; raise it, or let spool_way be automatic"),
                  {.source = sink.name()});
    }
    bool const sink_can = may_use_sink && sink.is_seekable() && sink.insert_unit_bytes() != 0;
    leave_memory(sink_can ? SpoolWay::in_place : SpoolWay::unnamed_file);
  }

  // From back to front: no byte is overwritten before it is moved.
  void move_up(std::uint64_t by_bytes) {
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(size, kCopyBytes)));
    std::uint64_t left = size;
    while (left > 0) {
      std::span<std::byte> const part =
          std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size())));
      left -= part.size();
      sink.read_at(left, part);
      sink.write_at(left + by_bytes, part);
    }
  }

  void place_in_place(std::uint64_t offset_bytes) {
    if (offset_bytes == 0) { return; }
    std::uint64_t const unit = sink.insert_unit_bytes();
    if (unit != 0 && offset_bytes % unit == 0 && sink.insert_front(offset_bytes)) { return; }
    move_up(offset_bytes);
  }

  void place_file(std::uint64_t offset_bytes) {
    gather.flush(one_by_one([this](std::uint64_t offset, Bytes bytes) { put(offset, bytes); }));
    gather.clear();
    std::vector<std::byte> buffer;
    bool kernel_copies = true;
    std::uint64_t done = 0;
    while (done < size) {
      std::uint64_t const step_start = done;
      std::uint64_t const step_end = done + std::min(kReleaseBytes, size - done);
      if (kernel_copies) { done += sink.copy_from(file.get(), done, offset_bytes + done, step_end - done); }
      kernel_copies = done == step_end;
      while (done < step_end) {
        if (buffer.empty()) { buffer.resize(kCopyBytes); }
        std::span<std::byte> const part =
            std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(step_end - done, buffer.size())));
        if (!read_all_at(file.get(), done, part)) { fail("read"); }
        sink.write_at(offset_bytes + done, part);
        done += part.size();
      }
      // Only to save space: a failure is harmless.
      static_cast<void>(file_calls.fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                             static_cast<off_t>(step_start),
                                             static_cast<off_t>(step_end - step_start)));
    }
    file.reset();
  }
};

Spool::Spool(ByteSink& sink, SpoolQuota& quota, SpoolWay way, bool in_place)
    : impl_(std::make_unique<Impl>(sink, quota, way, in_place)) {
  if (way == SpoolWay::unnamed_file) { impl_->leave_memory(SpoolWay::unnamed_file); }
  if (way == SpoolWay::in_place && in_place) {
    if (!sink.is_seekable() || sink.insert_unit_bytes() == 0) {
      throw Error(ErrorKind::unsupported, "tiles cannot wait in place here: bytes cannot be inserted in front of them",
                  {.source = sink.name()});
    }
    impl_->leave_memory(SpoolWay::in_place);
  }
}

Spool::~Spool() = default;
Spool::Spool(Spool&&) noexcept = default;

std::uint64_t Spool::append(std::span<std::byte const> bytes) {
  Impl& spool = *impl_;
  std::uint64_t const start = spool.size;
  if (bytes.empty()) { return start; }
  if (spool.way == SpoolWay::memory &&
      bytes.size() > spool.quota.limit_bytes - std::min(spool.quota.limit_bytes, spool.quota.used_bytes)) {
    spool.pass_quota(bytes.size());
  }
  if (spool.way == SpoolWay::memory) {
    spool.append_to_memory(bytes);
  } else if (spool.way == SpoolWay::in_place) {
    spool.sink.write_at(start, bytes);
  } else {
    spool.gather.write(start, bytes,
                       one_by_one([&spool](std::uint64_t offset, Bytes part) { spool.put(offset, part); }));
  }
  spool.size += bytes.size();
  return start;
}

std::uint64_t Spool::size_bytes() const noexcept { return impl_->size; }

SpoolWay Spool::way() const noexcept { return impl_->way; }

void Spool::place(std::uint64_t offset_bytes) {
  Impl& spool = *impl_;
  switch (spool.way) {
    case SpoolWay::in_place: spool.place_in_place(offset_bytes); break;
    case SpoolWay::unnamed_file: spool.place_file(offset_bytes); break;
    default:
      spool.drain([&](std::uint64_t offset, std::span<std::byte const> bytes) {
        spool.sink.write_at(offset_bytes + offset, bytes);
      });
  }
  spool.size = 0;
}

}  // namespace terrazzo::io
