// SPDX-License-Identifier: Apache-2.0
//
// The state of a Dataset. Immutable after open().
#pragma once

#include "geo/crs/crs.hpp"
#include "read/open/level.hpp"
#include "terrazzo/info.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace terrazzo {

namespace reading {

// The trust in the bytes of a source; it decides which decoders may read them. NVIDIA's decoders have undefined
// behaviour on damaged input. nvCOMP's ZSTD is the worst of them (it hangs the GPU, or changes pixels silently), so it
// requires more trust than a local file has.
enum class SourceTrust : std::uint8_t {
  none,  // hardened decoders only
  assumed,  // a local file: libtiff, nvJPEG, nvJPEG2000 and nvCOMP's Deflate too
  stated,  // stated by OpenOptions::trust: all decoders
};

}  // namespace reading

struct Dataset::Impl {
  Info info;
  std::vector<reading::LevelPtr> levels;  // 0: full resolution
  geo::CrsDefinition crs;  // the file's CRS definition, for detailed_info()
  bool trusted = false;  // libtiff may decode rare codecs
  bool trust_is_stated = false;  // OpenOptions::trust set it

  [[nodiscard]] reading::SourceTrust trust() const noexcept {
    return !trusted ? reading::SourceTrust::none
                    : (trust_is_stated ? reading::SourceTrust::stated : reading::SourceTrust::assumed);
  }
};

}  // namespace terrazzo
