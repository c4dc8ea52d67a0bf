// SPDX-License-Identifier: Apache-2.0
//
// Long repeats anywhere in a block, which samples do not show and the fastest searches miss. Deterministic.
#pragma once

#include <cstddef>
#include <span>

namespace terrazzo::codec {

// True if many stretches of 16 bytes occur more than once, apart from runs.
[[nodiscard]] bool has_far_repeats(std::span<std::byte const> block) noexcept;

}  // namespace terrazzo::codec
