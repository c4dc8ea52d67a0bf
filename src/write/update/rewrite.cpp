// SPDX-License-Identifier: Apache-2.0
#include "write/update/rewrite.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "tiff/ghost_area.hpp"
#include "write/layout/file_head.hpp"
#include "write/plan/file_tags.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace terrazzo::writing {
namespace {

// Size of tiles that are copied together.
constexpr std::uint64_t kBatchBytes = std::uint64_t{16} << 20;

constexpr std::array kPlaceTags{tiff::tag::StripOffsets, tiff::tag::StripByteCounts, tiff::tag::TileOffsets,
                                tiff::tag::TileByteCounts};

// A tile to copy: its range in the source, and its offset in the file.
struct Move {
  std::size_t image;
  std::uint64_t block;
  tiff::BlockRange from;
  std::uint64_t to_bytes = 0;
};

class Rewrite {
 public:
  Rewrite(RewritePlan const& plan, ByteSource const& source, ByteSink& sink)
      : plan_(plan), source_(source), sink_(sink) {
    for (CopiedImage const& image : plan.images) { places_.emplace_back(image.image.block_count()); }
    interleaved_ = masks_follow_their_images();
  }

  WriteReport run() {
    list_moves();
    FileHeadFormat const format{plan_.bigtiff, plan_.cog, interleaved_, plan_.order};
    std::uint64_t at =
        first_directory_bytes(format) + tiff::chain_bytes(all_tags(), plan_.bigtiff) + (plan_.cog ? kSlackBytes : 0);
    bool before_raster = plan_.cog;
    for (Move& move : moves_) {
      // The raster is the last image in a COG.
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
      throw Error(ErrorKind::limit,
                  "the file would exceed 4 GiB, the limit of a classic TIFF file: convert it with BigTiff::always",
                  {.source = source_.name()});
    }
    std::vector<std::byte> front = encode_file_head(format, all_tags());
    front.resize(moves_.empty() ? front.size() : moves_.front().to_bytes - frame_bytes());
    sink_.write_at(0, front);
    copy();
    report_.bytes_written = std::max<std::uint64_t>(at, front.size());
    return report_;
  }

 private:
  [[nodiscard]] std::uint64_t frame_bytes() const noexcept { return plan_.cog ? tiff::kTileFrameBytes : 0; }

  // True if there are masks, each with the size and the tiles of the image before it, so that the two can be
  // interleaved.
  [[nodiscard]] bool masks_follow_their_images() const {
    bool any = false;
    for (std::size_t i = 0; i < plan_.images.size(); ++i) {
      if (!plan_.images[i].is_mask) { continue; }
      if (i == 0 || plan_.images[i - 1].is_mask) { return false; }
      tiff::Image const &mask = plan_.images[i].image, &image = plan_.images[i - 1].image;
      if (mask.width_px != image.width_px || mask.height_px != image.height_px || mask.planes() != 1 ||
          mask.block_width_px != image.block_width_px || mask.block_height_px != image.block_height_px) {
        return false;
      }
      any = true;
    }
    return any;
  }

  // Includes the places of tiles that are known so far: they do not change the size.
  [[nodiscard]] std::vector<tiff::TagSet> all_tags() const {
    std::vector<tiff::TagSet> all;
    for (std::size_t i = 0; i < plan_.images.size(); ++i) {
      all.push_back(plan_.images[i].tags);
      // Tiles may be listed in strip tags, and both lists may exist: remaining tags would point to old offsets.
      for (std::uint16_t const tag : kPlaceTags) { all.back().erase(tag); }
      places_[i].encode(plan_.images[i].image.tiled, plan_.bigtiff, all.back());
    }
    return all;
  }

  // Lists tiles in their order in the new file.
  void list_moves() {
    if (!plan_.cog) {
      for (std::size_t i = 0; i < plan_.images.size(); ++i) { list_image(i, i + 1); }
      return;
    }
    // Small images first, each before its mask.
    for (std::size_t end = plan_.images.size(); end > 0;) {
      std::size_t const first = plan_.images[end - 1].is_mask && end > 1 ? end - 2 : end - 1;
      list_image(first, end);
      end = first;
    }
  }

  // Lists images `first` to `end`: tile by tile if they are interleaved, otherwise one image after another.
  void list_image(std::size_t first, std::size_t end) {
    std::size_t const together = interleaved_ ? end : first + 1;
    for (std::uint64_t block = 0; block < plan_.images[first].image.block_count(); ++block) {
      for (std::size_t i = first; i < together; ++i) {
        if (block < plan_.images[i].image.block_count()) { list_block(i, block); }
      }
    }
    if (together < end) { list_image(together, end); }
  }

  void list_block(std::size_t image, std::uint64_t block) {
    ++report_.tiles;
    tiff::BlockRange const range = plan_.images[image].index.range(block);
    if (range.size_bytes == 0) {
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
             bytes + moves_[end].from.size_bytes <= kBatchBytes) {
        bytes += moves_[end++].from.size_bytes + 2 * frame_bytes();
      }
      if (end == first) {
        copy_large(moves_[end++], buffer);
      } else {
        buffer.assign(bytes, std::byte{0});
        copy_batch(std::span(moves_).subspan(first, end - first), buffer);
      }
      first = end;
      bool const goes_on = !plan_.progress || plan_.progress(first, moves_.size());
      if (!goes_on || (plan_.cancel != nullptr && plan_.cancel->load(std::memory_order_relaxed))) {
        throw Error(ErrorKind::cancelled, "the rewrite was cancelled");
      }
    }
  }

  // Copies a tile of any size, in pieces.
  void copy_large(Move const& move, std::vector<std::byte>& buffer) {
    std::uint64_t const size = move.from.size_bytes;
    if (plan_.cog) {
      sink_.write_at(move.to_bytes - frame_bytes(), tiff::tile_leader(static_cast<std::uint32_t>(size)));
    }
    for (std::uint64_t done = 0; done < size; done += buffer.size()) {
      buffer.resize(static_cast<std::size_t>(std::min(size - done, kBatchBytes)));
      source_.read(move.from.offset_bytes + done, buffer);
      sink_.write_at(move.to_bytes + done, buffer);
    }
    if (plan_.cog) {
      std::array<std::byte, tiff::kTileFrameBytes> last{};
      source_.read(move.from.offset_bytes + size - last.size(), last);
      sink_.write_at(move.to_bytes + size, last);
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
      auto const at = buffer.begin() + static_cast<std::ptrdiff_t>(moves[i].to_bytes - start);
      std::ranges::copy(tiff::tile_leader(static_cast<std::uint32_t>(tile.size())),
                        at - static_cast<std::ptrdiff_t>(tiff::kTileFrameBytes));
      std::ranges::copy(tiff::tile_trailer(tile), at + static_cast<std::ptrdiff_t>(tile.size()));
    }
    sink_.write_at(start, buffer);
  }

  RewritePlan const& plan_;
  ByteSource const& source_;
  ByteSink& sink_;
  bool interleaved_ = false;  // each tile of a COG is followed by the tile of its mask
  std::vector<BlockPlaces> places_;
  std::vector<Move> moves_;
  WriteReport report_{};
};

}  // namespace

WriteReport rewrite(RewritePlan const& plan, ByteSource const& source, ByteSink& sink) {
  return Rewrite(plan, source, sink).run();
}

}  // namespace terrazzo::writing
