// SPDX-License-Identifier: Apache-2.0
//
// The decoders and encoders of a device, by name only: codecs do not depend on a GPU. read/device/decoders.cpp and
// write/device/encoder.cpp map these names to kernels and vendors' libraries.
#pragma once

#include <cstdint>

namespace terrazzo::codec {

enum class DeviceMethod : std::uint8_t {
  raw,  // no coding
  lzw,
  packbits,
  deflate,
  zstd,
  jpeg,
  jpeg2000,
  host,  // the host's threads: the device lacks it
};

}  // namespace terrazzo::codec
