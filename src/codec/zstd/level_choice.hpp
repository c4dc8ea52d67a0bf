// SPDX-License-Identifier: Apache-2.0
//
// The level with which libzstd encodes a block: the wanted one, or a faster one that is about as small on a sample
// (matches/level_trial.hpp).
#pragma once

#include "codec/registry/block.hpp"

#include <cstddef>
#include <span>

namespace terrazzo::codec {

// `room` holds an encoded block. Levels from 13 on are kept: they are chosen for the last per cent.
[[nodiscard]] int choose_zstd_level(std::span<std::byte const> block, int wanted, std::span<std::byte> room,
                                    Workspace& workspace);

}  // namespace terrazzo::codec
