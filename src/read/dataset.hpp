// SPDX-License-Identifier: Apache-2.0
//
// What a Dataset holds. Immutable after open().
#pragma once

#include "geo/crs.hpp"
#include "read/level.hpp"
#include "terrazzo/info.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace terrazzo {

namespace reading {

// Which decoders may see the bytes of a source. On damaged input NVIDIA's decoders have undefined behaviour; nvCOMP's
// ZSTD is the worst of them (it hangs the GPU, or changes pixels and says nothing), so that a local file is not enough.
enum class SourceTrust : std::uint8_t {
  none,  // hardened decoders only
  assumed,  // a local file: libtiff, nvJPEG, nvJPEG2000 and nvCOMP's Deflate too
  stated,  // OpenOptions::trust says so: all of them
};

}  // namespace reading

struct Dataset::Impl {
  Info info;
  std::vector<reading::LevelPtr> levels;  // 0: full resolution
  geo::CrsDefinition crs;  // what the file says of its CRS, for detailed_info()
  bool trusted = false;  // may libtiff's long tail see these bytes?
  bool trust_is_stated = false;  // because OpenOptions::trust says so

  [[nodiscard]] reading::SourceTrust trust() const noexcept {
    return !trusted ? reading::SourceTrust::none
                    : (trust_is_stated ? reading::SourceTrust::stated : reading::SourceTrust::assumed);
  }
};

}  // namespace terrazzo
