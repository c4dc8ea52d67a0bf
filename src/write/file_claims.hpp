// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of a file its directories refer to, and so which bytes an edit may write: space that is known to be ours,
// and space behind everything that is claimed. A claim may reach beyond the end of the file, where it was cut off;
// bytes that were added there would become pixels.
//
// Private tags may hold offsets that nobody here can know. So numbers of unknown tags count as offsets: bytes that one
// of them may refer to are neither written over nor left behind.
#pragma once

#include "tiff/directory.hpp"
#include "tiff/image.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::writing {

// Bytes, half open.
struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  [[nodiscard]] bool overlaps(ByteRange const& other) const noexcept { return begin < other.end && other.begin < end; }
  friend auto operator<=>(ByteRange const&, ByteRange const&) = default;
};

// Readers of a cut file would fetch such a hole; whoever copies it may fill it.
inline constexpr std::uint64_t kMaxHoleBytes = std::uint64_t{1} << 30;

class FileClaims {
 public:
  // The chain outlives it. Reads the lists of all blocks once. Throws `limit` when they are more than the file can
  // hold.
  explicit FileClaims(tiff::Chain const& chain);

  // Where bytes may be added: behind the end of the file and behind every claim. Throws `limit` when a claim reaches
  // further beyond the end than kMaxHoleBytes, `unsupported` when a block has no size and reaches to the end of the
  // file, wherever that is.
  [[nodiscard]] std::uint64_t append_start_bytes() const;

  // Bytes from the first directory on that the directories of the chain may take anew: their own, those of their
  // values, and the slack behind them in a file whose ghost area promises the layout. Nothing when a directory holds
  // pointers, or a private tag may refer to one of these bytes.
  [[nodiscard]] std::optional<ByteRange> reusable() const;

  // Throws `malformed` when a block, a value, or a directory outside the chain lies on one of these ranges: header and
  // links between directories, which are about to change.
  void check_patches(std::span<ByteRange const> patches) const;

  // A private tag that may refer to bytes that nothing else claims, and that a rewritten file would lack.
  [[nodiscard]] std::optional<std::uint16_t> tag_of_unclaimed_bytes() const;

 private:
  using Visit = std::function<void(ByteRange const&, tiff::Directory const&)>;
  void check_block_count() const;
  void each_block(tiff::Directory const& directory, std::optional<tiff::Image> const& image, Visit const& visit) const;
  void each_chain_block(Visit const& visit) const;
  void each_value(Visit const& visit) const;  // of all directories: values outside their entries
  void each_claim(Visit const& visit) const;  // values and blocks
  [[nodiscard]] ByteRange range_of(tiff::Directory const& directory) const;
  [[nodiscard]] bool is_zero(ByteRange const& range) const;
  [[nodiscard]] std::optional<ByteRange> own_run(std::uint64_t first_bytes) const;

  tiff::Chain const& chain_;
  std::vector<std::optional<tiff::Image>> images_{};  // of the chain
  std::vector<bool> repeats_blocks_{};  // of the chain: the blocks are those of a directory before it
  std::vector<tiff::Directory> others_{};  // that directories of the chain point to
  std::uint64_t size_bytes_ = 0;  // of the file
  std::uint64_t frame_bytes_ = 0;  // around tiles, as the ghost area says
  std::uint64_t front_bytes_ = 0;  // header and ghost area
  bool promises_layout_ = false;
  std::uint64_t claimed_end_bytes_ = 0;
  std::optional<std::uint32_t> endless_ifd_{};  // with a block that reaches to the end of the file
};

}  // namespace terrazzo::writing
