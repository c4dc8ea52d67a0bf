// SPDX-License-Identifier: Apache-2.0
//
// The level at which libzstd encodes a block: the wanted one, or a faster one that adds little to the size of a sample
// (matches/level_trial.hpp).
#pragma once

#include "codec/registry/encoder.hpp"

#include <cstddef>
#include <span>

namespace terrazzo::codec {

// `room` holds an encoded block.
[[nodiscard]] int choose_zstd_level(EncodeFormat const& format, std::span<std::byte const> block,
                                    std::span<std::byte> room, Workspace& workspace);

}  // namespace terrazzo::codec
