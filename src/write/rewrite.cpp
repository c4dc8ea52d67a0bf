// SPDX-License-Identifier: Apache-2.0
#include "write/rewrite.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "write/assembly.hpp"
#include "write/file_tags.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>

namespace terrazzo::writing {
namespace {

namespace tag = tiff::tag;

// Tiles that are copied together.
constexpr std::uint64_t kBatchBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kFrameBytes = 4;  // a leader, or a trailer

// A tile on its way: its place in the source, and in the file.
struct Move {
  std::size_t image;
  std::uint64_t block;
  tiff::BlockRange from;
  std::uint64_t to_bytes = 0;
};

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept { return (value + unit - 1) / unit * unit; }

class Rewrite {
 public:
  Rewrite(RewritePlan const& plan, ByteSource const& source, ByteSink& sink)
      : plan_(plan), source_(source), sink_(sink) {
    for (CopiedImage const& image : plan.images) { places_.emplace_back(image.image.block_count()); }
    has_mask_ = std::ranges::any_of(plan.images, [](CopiedImage const& image) { return image.is_mask; });
  }

  WriteReport run() {
    list_moves();
    std::uint64_t at = first_directory() + directories_bytes() + (plan_.cog ? kSlackBytes : 0);
    bool before_raster = plan_.cog;
    for (Move& move : moves_) {
      // The raster is the last of a COG.
      if (before_raster && (move.image == 0 || (move.image == 1 && plan_.images[1].is_mask))) {
        at = raster_start_bytes(at);
        before_raster = false;
      }
      move.to_bytes = at + frame_bytes();
      at = move.to_bytes + move.from.size_bytes + frame_bytes();
      places_[move.image].offsets_bytes[move.block] = move.to_bytes;
      places_[move.image].sizes_bytes[move.block] = static_cast<std::uint32_t>(move.from.size_bytes);
      report_.compressed_bytes += move.from.size_bytes;
    }
    if (!plan_.bigtiff && at > 0xFFFFFFFFULL) {
      throw Error(ErrorKind::limit, "the file would pass 4 GiB, and is no BigTIFF file", {.source = source_.name()});
    }
    std::vector<std::byte> front = encode_front();
    front.resize(moves_.empty() ? front.size() : moves_.front().to_bytes - frame_bytes());
    sink_.write_at(0, front);
    copy();
    report_.bytes_written = std::max<std::uint64_t>(at, front.size());
    return report_;
  }

 private:
  [[nodiscard]] std::uint64_t frame_bytes() const noexcept { return plan_.cog ? kFrameBytes : 0; }

  [[nodiscard]] std::uint64_t first_directory() const {
    std::uint64_t const header = tiff::header_bytes(plan_.bigtiff);
    return plan_.cog ? round_up(header + ghost_text(has_mask_).size(), 2) : header;
  }

  [[nodiscard]] tiff::TagSet tags_of(std::size_t index) const {
    CopiedImage const& image = plan_.images[index];
    tiff::TagSet tags = image.tags;
    bool const tiled = image.image.tiled;
    // Some writers use the names of strips for tiles, or the other way round.
    tags.erase(tiled ? tag::StripOffsets : tag::TileOffsets);
    tags.erase(tiled ? tag::StripByteCounts : tag::TileByteCounts);
    tags.set_offsets(tiled ? tag::TileOffsets : tag::StripOffsets, places_[index].offsets_bytes, plan_.bigtiff);
    auto const& sizes = places_[index].sizes_bytes;
    tiff::TagValue value{tiff::FieldType::long_, sizes.size(), std::vector<std::byte>(sizes.size() * 4)};
    std::memcpy(value.bytes.data(), sizes.data(), value.bytes.size());
    tags.set(tiled ? tag::TileByteCounts : tag::StripByteCounts, std::move(value));
    return tags;
  }

  [[nodiscard]] std::uint64_t directories_bytes() const {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < plan_.images.size(); ++i) { bytes += tiff::directory_bytes(tags_of(i), plan_.bigtiff); }
    return bytes;
  }

  [[nodiscard]] std::vector<std::byte> encode_front() const {
    std::vector<std::byte> front = tiff::encode_header(plan_.bigtiff, first_directory());
    if (plan_.cog) {
      std::string const ghost = ghost_text(has_mask_);
      auto const bytes = std::as_bytes(std::span(ghost));
      front.insert(front.end(), bytes.begin(), bytes.end());
    }
    front.resize(first_directory());
    for (std::size_t i = 0; i < plan_.images.size(); ++i) {
      tiff::TagSet const tags = tags_of(i);
      std::uint64_t const end = front.size() + tiff::directory_bytes(tags, plan_.bigtiff);
      std::uint64_t const next = i + 1 < plan_.images.size() ? end : 0;
      std::vector<std::byte> const directory = tiff::encode_directory(tags, plan_.bigtiff, front.size(), next);
      front.insert(front.end(), directory.begin(), directory.end());
    }
    return front;
  }

  // Tiles in the order in which they will lie.
  void list_moves() {
    if (!plan_.cog) {
      for (std::size_t i = 0; i < plan_.images.size(); ++i) { list_image(i, i + 1); }
      return;
    }
    // Small images first. A mask follows its image, tile by tile.
    for (std::size_t end = plan_.images.size(); end > 0;) {
      std::size_t const first = plan_.images[end - 1].is_mask && end > 1 ? end - 2 : end - 1;
      list_image(first, end);
      end = first;
    }
  }

  // Of image `first`, and of its mask when `end` is beyond the next one. A mask has one plane.
  void list_image(std::size_t first, std::size_t end) {
    std::uint64_t const blocks = plan_.images[first].image.block_count();
    bool const with_mask = end - first > 1;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      list_block(first, block);
      if (with_mask && block < plan_.images[first + 1].image.block_count()) { list_block(first + 1, block); }
    }
  }

  void list_block(std::size_t image, std::uint64_t block) {
    ++report_.tiles;
    tiff::BlockRange const range = plan_.images[image].index.range(block);
    if (range.size_bytes == 0 || range.offset_bytes == 0) {
      ++report_.sparse_tiles;
      return;
    }
    bool const inside =
        range.offset_bytes <= source_.size_bytes() && range.size_bytes <= source_.size_bytes() - range.offset_bytes;
    if (!inside || range.size_bytes > 0xFFFFFFFFULL) {
      throw Error(ErrorKind::malformed, text("tile ", block, " lies outside the file"),
                  {.source = source_.name(), .ifd = plan_.images[image].image.ifd, .offset = range.offset_bytes});
    }
    moves_.push_back({image, block, range});
  }

  void copy() {
    std::vector<std::byte> buffer;
    for (std::size_t first = 0; first < moves_.size();) {
      std::size_t end = first;
      std::uint64_t bytes = 0;
      std::uint64_t const start = moves_[first].to_bytes;
      while (end < moves_.size() && moves_[end].to_bytes == start + bytes &&
             (end == first || bytes + moves_[end].from.size_bytes <= kBatchBytes)) {
        bytes += moves_[end++].from.size_bytes + 2 * frame_bytes();
      }
      buffer.assign(bytes, std::byte{0});
      copy_batch(std::span(moves_).subspan(first, end - first), buffer);
      first = end;
      bool const goes_on = !plan_.progress || plan_.progress(first, moves_.size());
      if (!goes_on || (plan_.cancel != nullptr && plan_.cancel->load(std::memory_order_relaxed))) {
        throw Error(ErrorKind::cancelled, "the rewrite was cancelled");
      }
    }
  }

  void copy_batch(std::span<Move const> moves, std::span<std::byte> buffer) {
    std::uint64_t const start = moves.front().to_bytes - frame_bytes();
    std::vector<RangeRead> reads;
    for (Move const& move : moves) {
      reads.push_back({move.from.offset_bytes, buffer.subspan(move.to_bytes - start, move.from.size_bytes)});
    }
    source_.submit(reads).wait();
    for (std::size_t i = 0; plan_.cog && i < moves.size(); ++i) {
      std::span<std::byte const> const tile = reads[i].into;
      auto const size = static_cast<std::uint32_t>(tile.size());
      std::size_t const at = moves[i].to_bytes - start;
      std::memcpy(buffer.data() + at - kFrameBytes, &size, kFrameBytes);
      std::size_t const last = std::min<std::size_t>(kFrameBytes, tile.size());
      std::memcpy(buffer.data() + at + tile.size(), tile.data() + tile.size() - last, last);
    }
    sink_.write_at(start, buffer);
  }

  RewritePlan const& plan_;
  ByteSource const& source_;
  ByteSink& sink_;
  bool has_mask_ = false;
  std::vector<BlockPlaces> places_;
  std::vector<Move> moves_;
  WriteReport report_{};
};

}  // namespace

WriteReport rewrite(RewritePlan const& plan, ByteSource const& source, ByteSink& sink) {
  return Rewrite(plan, source, sink).run();
}

}  // namespace terrazzo::writing
