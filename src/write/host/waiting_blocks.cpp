// SPDX-License-Identifier: Apache-2.0
#include "write/host/waiting_blocks.hpp"

namespace terrazzo::writing {

namespace {

constexpr char const* kPurpose = "compressed tiles that wait for tiles above them";

}  // namespace

std::size_t WaitingBlocks::index_of(TileId id) const noexcept {
  return std::size_t{id.plane} * plan_.levels.front().blocks_across + id.column;
}

WaitingBlocks::BlockRow& WaitingBlocks::row_of(std::uint32_t block_row) {
  if (auto const found = rows_.find(block_row); found != rows_.end()) { return found->second; }
  std::size_t const count = std::size_t{plan_.levels.front().blocks_across} * plan_.planes;
  BlockRow made;
  made.missing = count;
  // With the reservation of each block.
  made.memory.push_back(budget_.reserve(count * (sizeof(made.blocks.front()) + sizeof(made.memory.front())), kPurpose));
  made.blocks.resize(count);
  return rows_.emplace(block_row, std::move(made)).first->second;
}

void WaitingBlocks::add(TileId id, std::span<std::byte const> bytes) {
  BlockRow& row = row_of(id.row);
  if (!bytes.empty()) {
    row.memory.push_back(budget_.reserve(bytes.size(), kPurpose));
    row.blocks[index_of(id)].assign(bytes.begin(), bytes.end());
  }
  --row.missing;
  for (auto next = rows_.find(complete_until_); next != rows_.end() && next->first == complete_until_; ++next) {
    if (next->second.missing != 0) { break; }
    ++complete_until_;
  }
}

std::span<std::byte const> WaitingBlocks::bytes_of(TileId id) const { return rows_.at(id.row).blocks[index_of(id)]; }

}  // namespace terrazzo::writing
