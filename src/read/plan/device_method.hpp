// SPDX-License-Identifier: Apache-2.0
//
// Decides whether the GPU decodes the tiles of a level, and with which kernel or library.
#pragma once

#include "codec/registry/device_method.hpp"
#include "read/open/dataset.hpp"
#include "read/open/level.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace terrazzo::reading {

// Some sizes on the device have 32 bits; the host decodes larger tiles.
inline constexpr std::uint64_t kMaxDeviceTileBytes = std::uint64_t{1} << 31;

// The device decoder of a codec, from the codec's row. read/device/decoders.cpp maps it to a kernel or a library.
using codec::DeviceMethod;
[[nodiscard]] std::string_view to_string(DeviceMethod method) noexcept;

// The device decoders that this machine has.
struct DeviceAbilities {
  bool nvcomp = false, nvjpeg = false, nvjpeg2k = false;
};

struct MethodChoice {
  DeviceMethod method = DeviceMethod::host;
  std::string reason{};  // why it is the host
};
[[nodiscard]] MethodChoice choose_device_method(Level const& level, SourceTrust trust, ReadRequest const& request,
                                                DeviceAbilities const& abilities);

}  // namespace terrazzo::reading
