// SPDX-License-Identifier: Apache-2.0
//
// LERC blobs of codec version 2.4 (the file version that libtiff writes too). Decoders: liblerc from 2.4 on.
//
// The bytes equal those of liblerc 4.0 for the same samples, except for the Huffman codes of lossless bytes: ours have
// at most 15 bits, and may differ among symbols of equal frequency. An error of 777, which has a special meaning in
// liblerc, is an ordinary error here.
#pragma once

#include "codec/lerc/picture.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

enum class LercCode : std::uint8_t { fastest, portable };  // both give the same bytes

// The required size of `to`, most of which stays unused; 0 if the picture is too large for LERC.
[[nodiscard]] std::size_t lerc_blob_room(LercPicture const& picture) noexcept;
// Upper bound for a blob.
[[nodiscard]] std::uint64_t lerc_blob_bound(std::uint64_t pixels, std::uint64_t depth, unsigned sample_bytes) noexcept;

// Every decoded valid sample is within `max_error` (0 or more, finite) of the original, up to the rounding of a double
// sum and then to float32 (half of its last digit: 0.008 at 200,000), as in liblerc. `mask_is_known`: the picture has
// the mask of the previous blob, which decoders keep. Returns the blob's size. May throw bad_alloc.
[[nodiscard]] std::size_t encode_lerc_blob(LercPicture const& picture, double max_error, bool mask_is_known,
                                           std::span<std::byte> to, LercCode code = LercCode::fastest);

// Writes floating-point samples bit by bit, including NaN and without a mask, in a blob within lerc_blob_bound().
// Returns its size.
[[nodiscard]] std::size_t encode_lerc_blob_as_is(LercPicture const& picture, std::span<std::byte> to);

}  // namespace terrazzo::codec
