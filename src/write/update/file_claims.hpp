// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a file that its directories refer to, and thus the bytes that an edit may write: space that is known to
// be ours, and space after every claim. A claim may extend past the end of the file. If it is a block that needs these
// bytes, or a tag's value, the file is truncated and must not grow: the missing bytes would become zeros, and so
// pixels.
//
// Private tags may hold offsets that are unknown to us. So numbers of unknown tags count as offsets: bytes that one of
// them may refer to are neither overwritten nor dropped.
#pragma once

#include "tiff/directory.hpp"
#include "tiff/image.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::writing {

// A half-open range of bytes.
struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  [[nodiscard]] bool overlaps(ByteRange const& other) const noexcept { return begin < other.end && other.begin < end; }
  friend auto operator<=>(ByteRange const&, ByteRange const&) = default;
};

// Readers fetch all listed bytes of a block, including those that its pixels do not need.
inline constexpr std::uint64_t kMaxHoleBytes = std::uint64_t{16} << 20;

class FileClaims {
 public:
  // The chain outlives this object. Reads the lists of all blocks once. Throws `limit` if they name more blocks than
  // the file can hold.
  explicit FileClaims(tiff::Chain const& chain);

  // The offset at which bytes may be appended: after the end of the file and after every claim. Throws
  // - `malformed` if the file lacks bytes of a block that its pixels depend on, or bytes of a tag's value,
  // - `limit` if a claim that no pixel needs extends further past the end than kMaxHoleBytes,
  // - `unsupported` if a block has no size and extends to the end of the file.
  [[nodiscard]] std::uint64_t append_start_bytes() const;

  // Bytes from the first directory on that the directories of the chain may reuse: their own bytes, those of their
  // values, and the slack after them in a file whose ghost area promises the layout. nullopt if a directory holds
  // pointers, or if a private tag may refer to one of these bytes.
  [[nodiscard]] std::optional<ByteRange> reusable() const;

  // Throws `malformed` if a block, a value, or a directory outside the chain overlaps one of these ranges: the header
  // and the links between directories, which are about to change.
  void check_patches(std::span<ByteRange const> patches) const;

  // A private tag that may refer to bytes that nothing else claims; a rewritten file would lack these bytes.
  [[nodiscard]] std::optional<std::uint16_t> tag_of_unclaimed_bytes() const;

 private:
  using Visit = std::function<void(ByteRange const&, tiff::Directory const&)>;
  void check_block_count() const;
  void check_complete() const;
  void check_complete(tiff::Directory const& directory, std::optional<tiff::Image> const& image) const;
  void each_block(tiff::Directory const& directory, std::optional<tiff::Image> const& image, Visit const& visit) const;
  void each_chain_block(Visit const& visit) const;
  void each_value(Visit const& visit) const;  // values of all directories outside their entries
  void each_claim(Visit const& visit) const;  // values and blocks
  [[nodiscard]] ByteRange range_of(tiff::Directory const& directory) const;
  [[nodiscard]] bool is_zero(ByteRange const& range) const;
  [[nodiscard]] std::optional<ByteRange> own_run(std::uint64_t first_bytes) const;

  tiff::Chain const& chain_;
  std::vector<std::optional<tiff::Image>> images_{};  // images of the chain
  std::vector<bool> repeats_blocks_{};  // per directory of the chain: its blocks are those of an earlier directory
  std::vector<tiff::Directory> others_{};  // directories that the chain points to
  std::uint64_t size_bytes_ = 0;  // size of the file
  std::uint64_t frame_bytes_ = 0;  // bytes around tiles, according to the ghost area
  std::uint64_t front_bytes_ = 0;  // header and ghost area
  bool promises_layout_ = false;
  std::uint64_t claimed_end_bytes_ = 0;
  std::optional<std::uint32_t> endless_ifd_{};  // a directory with a block that extends to the end of the file
};

}  // namespace terrazzo::writing
