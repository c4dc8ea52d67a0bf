// SPDX-License-Identifier: Apache-2.0
#include "io/mapped_lease.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <new>
#include <utility>

namespace terrazzo::io {

namespace {

constexpr std::uint32_t kClosed = 1u << 31;

// Mapped pages count as ours (RSS) until they are given up, which costs a call and an interruption of every core that
// runs us: 16 MiB at a time is a small part of what a read may hold, and seldom.
constexpr std::uint64_t kKeepBytes = 16u << 20;

// A page fault maps what the page cache has around it: within the first of these, or, where the page cache has one huge
// page, within the second. What is given up is rounded to the first, for the system gives up a huge page as a whole;
// what is counted, to the second.
constexpr std::uint64_t kFaultBytes = 64 * 1024;
constexpr std::uint64_t kHugePageBytes = 2u << 20;

// File systems that know of every change to their files, so that a lease means what it says. On network and FUSE ones
// others change files behind its back; overlays let the layers below be changed.
bool is_local_disk(int descriptor) {
  struct statfs system {};
  if (fstatfs(descriptor, &system) != 0) { return false; }
  constexpr std::uint32_t kXfs = 0x58465342;  // not in every linux/magic.h
  auto const magic = static_cast<std::uint32_t>(system.f_type);
  return magic == EXT4_SUPER_MAGIC || magic == kXfs || magic == BTRFS_SUPER_MAGIC;
}

bool has_unlimited_address_space() {
  struct rlimit limit {};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

bool take_lease(int descriptor) {
  // Whoever breaks a lease has the holder told by a signal. SIGIO, the default, ends a process that does not expect it;
  // SIGURG is ignored. We ask instead of being told, so once the lease is there, nobody is to be told.
  if (fcntl(descriptor, F_SETSIG, SIGURG) != 0 || fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) { return false; }
  fcntl(descriptor, F_SETOWN, 0);
  return true;
}

bool is_as_long(int descriptor, std::uint64_t size_bytes) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && status.st_size >= 0 &&
         static_cast<std::uint64_t>(status.st_size) >= size_bytes;
}

// Where the page begins that this byte lies in.
std::uint64_t page_of(std::uint64_t offset_bytes) {
  static auto const page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return offset_bytes / page_bytes * page_bytes;
}

std::byte* address(std::span<std::byte const> mapping, std::uint64_t offset_bytes) {
  return const_cast<std::byte*>(mapping.data()) + offset_bytes;
}

}  // namespace

std::unique_ptr<MappedLease> MappedLease::take(int descriptor, std::uint64_t size_bytes) {
  if (size_bytes == 0 || size_bytes > PTRDIFF_MAX || !has_unlimited_address_space() || !is_local_disk(descriptor)) {
    return nullptr;
  }
  int const own = ::open(text("/proc/self/fd/", descriptor).c_str(), O_RDONLY | O_CLOEXEC);
  if (own < 0) { return nullptr; }
  if (take_lease(own) && is_as_long(own, size_bytes)) {
    auto const bytes = static_cast<std::size_t>(size_bytes);
    void* const mapping = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, own, 0);
    if (mapping != MAP_FAILED) {
      return std::unique_ptr<MappedLease>(new MappedLease(own, {static_cast<std::byte const*>(mapping), bytes}));
    }
  }
  ::close(own);  // and with it the lease
  return nullptr;
}

MappedLease::~MappedLease() {
  munmap(address(bytes_, 0), bytes_.size());
  // A child that was forked meanwhile has the same open file: closing ours alone would leave the lease to it.
  fcntl(descriptor_, F_SETLEASE, F_UNLCK);
  ::close(descriptor_);
}

std::span<std::byte const> MappedLease::enter(std::span<Range const> ranges) noexcept {
  if ((inside_.fetch_add(1) & kClosed) == 0) {
    // F_GETLEASE answers what the lease will be once it is broken.
    bool const wanted = fcntl(descriptor_, F_GETLEASE) != F_RDLCK;
    bool const cached = !wanted && is_cached(ranges);
    if (cached && make_resident(ranges)) { return bytes_; }
    if (wanted || cached) { inside_.fetch_or(kClosed); }
  }
  count_out();
  return {};
}

void MappedLease::leave(std::span<Range const> ranges) noexcept {
  count_out();
  try {
    give_up_pages(ranges);
  } catch (std::bad_alloc const&) {}  // then the pages stay until the read is over
}

void MappedLease::count_out() noexcept {
  // Whoever comes when it is closed goes at once without touching anything: to give the lease back twice is harmless.
  if (inside_.fetch_sub(1) == (kClosed | 1)) { fcntl(descriptor_, F_SETLEASE, F_UNLCK); }
}

// By the last page of each: they are read in order, and to ask for every page takes a hundredth of the read.
bool MappedLease::is_cached(std::span<Range const> ranges) const noexcept {
  return std::ranges::all_of(ranges, [&](Range const& range) {
    unsigned char resident = 0;
    std::uint64_t const last = page_of(range.offset_bytes + range.size_bytes - 1);
    return mincore(address(bytes_, last), 1, &resident) == 0 && (resident & 1) != 0;
  });
}

// Page faults one by one would cost as much, and this way a disk that fails is no SIGBUS: submit() will say what it is.
bool MappedLease::make_resident(std::span<Range const> ranges) const noexcept {
  return std::ranges::all_of(ranges, [&](Range const& range) {
    std::uint64_t const begin = page_of(range.offset_bytes);
    std::uint64_t const end = range.offset_bytes + range.size_bytes;
    return madvise(address(bytes_, begin), static_cast<std::size_t>(end - begin), MADV_POPULATE_READ) == 0;
  });
}

void MappedLease::give_up_pages(std::span<Range const> ranges) {
  std::vector<Range> unused;
  {
    std::lock_guard const lock(mutex_);
    for (Range const& range : ranges) {
      std::uint64_t const begin = range.offset_bytes / kFaultBytes * kFaultBytes;
      std::uint64_t const end = ceil_div(range.offset_bytes + range.size_bytes, kFaultBytes) * kFaultBytes;
      used_.push_back({begin, std::min<std::uint64_t>(end, bytes_.size()) - begin});
      std::uint64_t const first = range.offset_bytes / kHugePageBytes;
      std::uint64_t const last = (range.offset_bytes + range.size_bytes - 1) / kHugePageBytes;
      used_bytes_ += (last - first + (first == last_huge_page_ ? 0 : 1)) * kHugePageBytes;
      last_huge_page_ = last;
    }
    if (used_bytes_ < kKeepBytes) { return; }
    used_bytes_ = 0;
    unused = std::exchange(used_, {});
  }
  std::ranges::sort(unused, {}, &Range::offset_bytes);
  for (std::size_t i = 0; i < unused.size();) {
    std::uint64_t const begin = unused[i].offset_bytes;
    std::uint64_t end = begin;
    for (; i < unused.size() && unused[i].offset_bytes <= end; ++i) {
      end = std::max(end, unused[i].offset_bytes + unused[i].size_bytes);
    }
    // Neighbours that are being decoded may lose pages too, which come back by a page fault.
    madvise(address(bytes_, begin), static_cast<std::size_t>(end - begin), MADV_DONTNEED);
  }
}

}  // namespace terrazzo::io
