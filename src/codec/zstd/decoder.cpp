// SPDX-License-Identifier: Apache-2.0
#include "codec/zstd/decoder.hpp"

#include "coding/zstd/format.hpp"
#include "tile/host/cpu.hpp"

#include <algorithm>

namespace terrazzo::codec {

#if TERRAZZO_HAVE_X86

namespace {

using coding::ZstdBlockHeader;
using coding::ZstdBlockKind;
using coding::ZstdLiteralsHeader;

// The number of sequences of a block (3.1.1.3.2.1).
struct SequenceCount {
  std::size_t bytes;
  std::uint32_t count;

  [[nodiscard]] bool read(std::span<std::byte const> in) noexcept {
    if (in.empty()) { return false; }
    count = std::to_integer<std::uint32_t>(in[0]);
    bytes = count < 128 ? 1 : count < 255 ? 2 : 3;
    if (in.size() < bytes) { return false; }
    if (bytes == 2) { count = ((count - 128) << 8) + std::to_integer<std::uint32_t>(in[1]); }
    if (bytes == 3) { count = 0x7F00 + static_cast<std::uint32_t>(coding::zstd_detail::number(in.data(), 1, 2)); }
    return count != 0 || bytes == 1;  // versions of libzstd differ on a 0 of two bytes: let libzstd decide
  }
};

}  // namespace

struct ZstdDecoder::Block {
  ZstdBlockHeader header;
  std::span<std::byte const> content;
  // For a compressed block:
  std::span<std::byte const> literals, sequences;
  bool has_coded_literals = false;  // they are not decoded yet
  CodedLiterals coded;
};

bool ZstdDecoder::is_for(std::span<std::byte const> in, std::size_t bytes) noexcept {
  if (bytes <= kMostBlockBytes || !tile::has_avx2()) { return false; }
  auto const start = static_cast<std::size_t>(coding::plain_zstd_frame_start(in.data(), in.size(), bytes).bytes);
  ZstdBlockHeader block;
  ZstdLiteralsHeader literals;
  SequenceCount sequences;
  if (start == 0 || !block.read(in.data() + start, in.size() - start)) { return false; }
  if (block.kind != ZstdBlockKind::compressed) { return false; }
  std::span<std::byte const> const content = in.subspan(start + coding::kZstdBlockHeaderBytes);
  if (!literals.read(content.data(), content.size()) || !literals.is_coded() || literals.is_one_stream) {
    return false;
  }
  if (!literals.fits(content.size(), kMostBlockBytes)) { return false; }
  if (!sequences.read(content.subspan(static_cast<std::size_t>(literals.bytes + literals.stored)))) { return false; }
  // Measured on elevations, images, classes and programs at levels 1 to 19.
  constexpr std::size_t kLeastQuarterBits = 25, kLeastLiteralsOfSequence = 12;
  return literals.stored * 8 * 4 >= literals.literals * kLeastQuarterBits &&
         literals.literals >= sequences.count * kLeastLiteralsOfSequence;
}

bool ZstdDecoder::decode(std::span<std::byte const> in, std::span<std::byte> out) noexcept {
  coding::ZstdFrameStart const start = coding::plain_zstd_frame_start(in.data(), in.size(), out.size());
  if (start.bytes == 0) { return false; }
  most_block_bytes_ = static_cast<std::size_t>(start.most_block_bytes);
  literal_table_ = nullptr;
  sequence_tables_.are_told = false;
  last_distances_ = {1, 4, 8};  // the initial values of every frame
  ZstdOutput output{out.data(), out.data(), out.data() + out.size()};
  std::span<std::byte const> rest = in.subspan(static_cast<std::size_t>(start.bytes));
  for (bool is_last = false; !is_last;) {
    std::array<Block, 2> blocks;
    std::size_t count = 0;
    for (; count < blocks.size() && !is_last; ++count) {
      if (!read_block(rest, count, blocks[count])) { return false; }
      is_last = blocks[count].header.is_last;
    }
    auto const& [first, second] = blocks;
    bool const is_pair = first.has_coded_literals && second.has_coded_literals &&
                         first.coded.count == second.coded.count && first.coded.count > 1;
    if (is_pair && !decode_literals(first.coded, second.coded)) { return false; }
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_pair && blocks[i].has_coded_literals && !decode_literals(blocks[i].coded)) { return false; }
      if (!run_block(blocks[i], output)) { return false; }
    }
  }
  return output.at == output.end && rest.empty();
}

bool ZstdDecoder::read_block(std::span<std::byte const>& in, std::size_t turn, Block& block) noexcept {
  ZstdBlockHeader& header = block.header;
  if (!header.read(in.data(), in.size())) { return false; }
  in = in.subspan(coding::kZstdBlockHeaderBytes);
  if (header.kind == ZstdBlockHeader::kReserved || header.bytes > most_block_bytes_ || header.stored() > in.size()) {
    return false;
  }
  block.content = in.first(static_cast<std::size_t>(header.stored()));
  if (header.kind == ZstdBlockKind::compressed && !read_literals(in, turn, block)) { return false; }
  in = in.subspan(block.content.size());
  return true;
}

// `in` begins with the block's content and continues after it.
bool ZstdDecoder::read_literals(std::span<std::byte const> in, std::size_t turn, Block& block) noexcept {
  using Kind = ZstdLiteralsHeader::Kind;
  ZstdLiteralsHeader header;
  std::span<std::byte const> const content = block.content;
  if (!header.read(content.data(), content.size()) || !header.fits(content.size(), most_block_bytes_)) { return false; }
  auto const head = static_cast<std::size_t>(header.bytes), stored = static_cast<std::size_t>(header.stored);
  std::span<std::byte const> section = content.subspan(head, stored);
  block.sequences = content.subspan(head + stored);
  std::span<std::byte> const room = std::span(literals_[turn]).first(static_cast<std::size_t>(header.literals));
  block.literals = room;
  if (header.kind == Kind::raw) {
    bool const has_slack = in.size() - head - stored >= kLiteralSlackBytes;
    if (has_slack) {
      block.literals = section;
    } else {
      std::ranges::copy(section, room.begin());
    }
    return true;
  }
  if (header.kind == Kind::repeated) {
    std::ranges::fill(room, section[0]);
    return true;
  }
  if (header.kind == Kind::coded) {
    // Do not overwrite the last table: the previous block may still need it for decoding.
    LiteralTable& table = literal_tables_[literal_table_ == &literal_tables_[0] ? 1 : 0];
    std::size_t const told = read_literal_table(section, table);
    if (told == 0) { return false; }
    literal_table_ = &table;
    section = section.subspan(told);
  }
  std::size_t const streams = header.is_one_stream ? 1 : CodedLiterals::kMostStreams;
  block.has_coded_literals = true;
  block.coded.table = literal_table_;
  return literal_table_ != nullptr && find_literal_streams(section, streams, room, block.coded);
}

bool ZstdDecoder::run_block(Block const& block, ZstdOutput& output) noexcept {
  if (block.header.kind == ZstdBlockKind::compressed) { return run_compressed(block, output); }
  auto const bytes = static_cast<std::size_t>(block.header.bytes);
  if (bytes > output.room()) { return false; }
  if (block.header.kind == ZstdBlockKind::raw) {
    std::ranges::copy(block.content, output.at);
  } else {
    std::fill_n(output.at, bytes, block.content[0]);
  }
  output.at += bytes;
  return true;
}

bool ZstdDecoder::run_compressed(Block const& block, ZstdOutput& output) noexcept {
  std::byte const* const before = output.at;
  SequenceCount sequences;
  if (!sequences.read(block.sequences)) { return false; }
  std::span<std::byte const> const in = block.sequences.subspan(sequences.bytes);
  if (sequences.count == 0) {
    if (!in.empty() || block.literals.size() > output.room()) { return false; }
    std::ranges::copy(block.literals, output.at);
    output.at += block.literals.size();
  } else {
    std::size_t const told = read_sequence_tables(in, sequence_tables_);
    if (told == 0) { return false; }
    if (!run_sequences(sequence_tables_, sequences.count, in.subspan(told), block.literals, last_distances_, output)) {
      return false;
    }
  }
  return static_cast<std::size_t>(output.at - before) <= most_block_bytes_;
}

#else

bool ZstdDecoder::is_for(std::span<std::byte const>, std::size_t) noexcept { return false; }
bool ZstdDecoder::decode(std::span<std::byte const>, std::span<std::byte>) noexcept { return false; }

#endif

}  // namespace terrazzo::codec
