// SPDX-License-Identifier: Apache-2.0
//
// Copies that bypass the caches: for results that are larger than the caches, where the usual store would first read
// the line it is about to overwrite and push out what the decoder still needs.
#pragma once

#include <cstddef>

namespace terrazzo::tile {

// As memcpy. Call fence_streamed_copies() before another thread may look at the target.
void copy_streaming(std::byte* to, std::byte const* from, std::size_t bytes) noexcept;

// Orders all streamed stores of this thread before whatever it stores next.
void fence_streamed_copies() noexcept;

}  // namespace terrazzo::tile
