// SPDX-License-Identifier: Apache-2.0
//
// A file mapped into memory for one read. Touching a page of a mapping that lies past the file's end is SIGBUS, so the
// file is mapped only under a read lease (fcntl F_SETLEASE): while we hold it, the system makes whoever wants to open
// the file for writing or to truncate it wait for us. Each batch asks whether somebody waits; if so, all further
// batches are read by submit(), and the lease goes back when the last one that is inside the mapping has left. Ranges
// that are not in the page cache are read by submit() too: its read-ahead is better than a page fault's.
//
// What a lease does not cover: the system waits for us 45 s at most (/proc/sys/fs/lease-break-time), so a process that
// is stopped for longer in the middle of a tile, while its file is truncated, gets SIGBUS when it goes on.
#pragma once

#include "base/byte_source.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace terrazzo::io {

class MappedLease final : public MappedRead {
 public:
  // Of the file behind this descriptor, which must be open for reading. Null when there is no lease to be had: the file
  // belongs to somebody else, is open for writing somewhere, is shorter than `size_bytes` by now, or lies on a file
  // system that is not a local disk's; and when address space is limited, since a mapping would use it up.
  [[nodiscard]] static std::unique_ptr<MappedLease> take(int descriptor, std::uint64_t size_bytes);
  ~MappedLease() override;
  MappedLease(MappedLease const&) = delete;
  MappedLease& operator=(MappedLease const&) = delete;

  [[nodiscard]] std::span<std::byte const> enter(std::span<Range const> ranges) noexcept override;
  void leave(std::span<Range const> ranges) noexcept override;

 private:
  MappedLease(int descriptor, std::span<std::byte const> bytes) : descriptor_(descriptor), bytes_(bytes) {}
  [[nodiscard]] bool is_cached(std::span<Range const> ranges) const noexcept;
  [[nodiscard]] bool make_resident(std::span<Range const> ranges) const noexcept;
  void count_out() noexcept;
  void give_up_pages(std::span<Range const> ranges);

  int descriptor_;  // our own: a lease belongs to an open file, and reads of one file at once need one each
  std::span<std::byte const> bytes_;
  // How many are inside; kClosed is added when nobody may enter any more. One word, so that the one who leaves last
  // after it was closed knows it.
  std::atomic<std::uint32_t> inside_{0};
  std::mutex mutex_;  // guards what follows
  std::vector<Range> used_;  // by batches that have left, and still in our page table
  std::uint64_t used_bytes_ = 0;
  std::uint64_t last_huge_page_ = UINT64_MAX;  // that was counted
};

}  // namespace terrazzo::io
