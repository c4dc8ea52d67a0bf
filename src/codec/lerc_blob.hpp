// SPDX-License-Identifier: Apache-2.0
//
// LERC blobs of codec version 2.4 (the file version that libtiff writes too). Decoders: liblerc from 2.4 on.
//
// The bytes are those that liblerc 4.0 makes of the same samples, but for its Huffman codes, which bytes that keep
// their value have: ours are of 15 bits at most, and may differ among symbols that are equally frequent. An error
// of 777, which liblerc takes for something else, is an error like any other.
#pragma once

#include "codec/lerc_picture.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

enum class LercCode : std::uint8_t { fastest, portable };  // the bytes are the same

// Bytes that `to` must have, most of which stay untouched; 0 when the picture is too large for LERC.
[[nodiscard]] std::size_t lerc_blob_room(LercPicture const& picture) noexcept;
// No blob is larger.
[[nodiscard]] std::uint64_t lerc_blob_bound(std::uint64_t pixels, std::uint64_t depth, unsigned sample_bytes) noexcept;

// No valid sample comes back more than `max_error` away, 0 or more and finite, up to rounding: of a double sum, and
// then to float32 (half of its last digit: at 200,000 that is 0.008), as by liblerc. `mask_is_known`: the picture has
// the mask of the blob before, which decoders keep. Returns the blob's size. May throw bad_alloc.
[[nodiscard]] std::size_t encode_lerc_blob(LercPicture const& picture, double max_error, bool mask_is_known,
                                           std::span<std::byte> to, LercCode code = LercCode::fastest);

// The samples of floating point bit by bit, NaN among them and without a mask, in a blob within lerc_blob_bound().
// Returns its size.
[[nodiscard]] std::size_t encode_lerc_blob_as_is(LercPicture const& picture, std::span<std::byte> to);

}  // namespace terrazzo::codec
