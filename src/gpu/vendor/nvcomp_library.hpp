// SPDX-License-Identifier: Apache-2.0
//
// nvCOMP's functions, bound once per process: the one table that decoding and encoding share.
//
// Thread rule: functions may be called from any thread.
#pragma once

#include "gpu/vendor/nvcomp.hpp"
#include "gpu/vendor/nvcomp_api.hpp"

#include <array>
#include <cstddef>

namespace terrazzo::gpu::nvcomp {

// The functions of one codec.
struct Functions {
  char const* name;
  DecodeAlignments* decode_alignments;
  DecodeTempSize* decode_temp_size;
  DecodeAsync* decode;
};

struct Library {
  std::array<Functions, 2> codecs;  // indexed by NvcompCodec
  GetStatusString* status_string;

  [[nodiscard]] Functions const& of(NvcompCodec codec) const noexcept {
    return codecs[static_cast<std::size_t>(codec)];
  }
};

// Null if the library is absent or lacks a function that decoding needs.
[[nodiscard]] Library const* find_library();

// Like find_library(), but throws `unsupported` with the package to install.
[[nodiscard]] Library const& library();

// Throws `device` unless `status` is success: "nvcompBatchedZstdDecompressAsync: status 11 (...)".
void check(Status status, Library const& lib, Functions const& codec, char const* call);

}  // namespace terrazzo::gpu::nvcomp
