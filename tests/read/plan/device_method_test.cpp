// SPDX-License-Identifier: Apache-2.0
#include "read/plan/device_method.hpp"

#include "read/images.hpp"
#include "tiff/directory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace terrazzo::reading {
namespace {

using tiff::Compression;

// A level of this compression; nothing of it is ever read.
class LevelOf {
 public:
  explicit LevelOf(Compression compression) : opened_(image<std::uint8_t>({.width = 32, .height = 32})) {
    Level const& any = *opened_->shared_impl()->levels[0];
    image_ = any.image;
    image_.compression = compression;
    source_ = any.source;
  }
  tiff::Image& edit() { return image_; }
  [[nodiscard]] MethodChoice choose(SourceTrust trust = SourceTrust::stated, ReadRequest const& request = {},
                                    DeviceAbilities const& abilities = {true, true, true}) const {
    Level const level(source_, tiff::read_chain(source_).directories.at(0), image_);
    return choose_device_method(level, trust, request, abilities);
  }

 private:
  Opened opened_;
  tiff::Image image_;
  ByteSourcePtr source_;
};

struct Rule {
  Compression compression;
  DeviceMethod method;
  SourceTrust least;
  bool lossy;
  bool DeviceAbilities::*library;
};

Rule const kRules[] = {
    {Compression::none, DeviceMethod::raw, SourceTrust::none, false, nullptr},
    {Compression::lzw, DeviceMethod::lzw, SourceTrust::none, false, nullptr},
    {Compression::packbits, DeviceMethod::packbits, SourceTrust::none, false, nullptr},
    {Compression::deflate, DeviceMethod::deflate, SourceTrust::assumed, false, &DeviceAbilities::nvcomp},
    {Compression::pkzip_deflate, DeviceMethod::deflate, SourceTrust::assumed, false, &DeviceAbilities::nvcomp},
    {Compression::zstd, DeviceMethod::zstd, SourceTrust::stated, false, &DeviceAbilities::nvcomp},
    {Compression::jpeg, DeviceMethod::jpeg, SourceTrust::assumed, true, &DeviceAbilities::nvjpeg},
    {Compression::jpeg2000, DeviceMethod::jpeg2000, SourceTrust::assumed, true, &DeviceAbilities::nvjpeg2k},
    {Compression::lzma, DeviceMethod::host, SourceTrust::none, false, nullptr},
    {Compression::lerc, DeviceMethod::host, SourceTrust::none, true, nullptr},
    {Compression::webp, DeviceMethod::host, SourceTrust::none, true, nullptr},
    {Compression::lz4, DeviceMethod::host, SourceTrust::none, false, nullptr},
};

TEST(DeviceMethods, FollowCompressionTrustLibrariesAndTheRequest) {
  for (Rule const& rule : kRules) {
    LevelOf const level(rule.compression);
    for (int bits = 0; bits < 96; ++bits) {
      auto const trust = static_cast<SourceTrust>(bits / 32);
      ReadRequest request;
      request.strict = (bits & 1) != 0;
      request.exact = (bits & 2) != 0;
      DeviceAbilities const abilities{(bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0};
      bool const possible = rule.method != DeviceMethod::host && !request.strict && !(request.exact && rule.lossy) &&
                            trust >= rule.least && (rule.library == nullptr || abilities.*rule.library);
      MethodChoice const choice = level.choose(trust, request, abilities);
      EXPECT_EQ(choice.method, possible ? rule.method : DeviceMethod::host)
          << tiff::compression_name(rule.compression) << ", bits " << bits << ": " << choice.reason;
      EXPECT_EQ(choice.reason.empty(), choice.method != DeviceMethod::host) << "the host has a reason, and only it";
    }
  }
}

TEST(DeviceMethods, NameTheLibraryThatIsMissing) {
  EXPECT_NE(LevelOf(Compression::zstd).choose(SourceTrust::stated, {}, {}).reason.find("nvCOMP"), std::string::npos);
  EXPECT_NE(LevelOf(Compression::jpeg).choose(SourceTrust::stated, {}, {}).reason.find("nvJPEG"), std::string::npos);
  EXPECT_NE(LevelOf(Compression::jpeg2000).choose(SourceTrust::stated, {}, {}).reason.find("nvJPEG2000"),
            std::string::npos);
}

TEST(DeviceMethods, LeaveColoursReversedBitsAndOddSamplesToTheHost) {
  LevelOf reversed(Compression::lzw);
  reversed.edit().reversed_bits = true;
  EXPECT_EQ(reversed.choose().method, DeviceMethod::host);

  LevelOf cmyk(Compression::lzw);
  cmyk.edit().samples = 4;
  cmyk.edit().photometric = tiff::Photometric::separated;
  EXPECT_EQ(cmyk.choose().method, DeviceMethod::host);

  LevelOf twelve(Compression::jpeg);
  twelve.edit().bits = 12;
  EXPECT_EQ(twelve.choose().method, DeviceMethod::host);
  for (std::uint32_t const samples : {1u, 2u, 3u, 4u}) {
    LevelOf jpeg(Compression::jpeg);
    jpeg.edit().samples = samples;
    EXPECT_EQ(jpeg.choose().method, samples == 1 || samples == 3 ? DeviceMethod::jpeg : DeviceMethod::host) << samples;
  }
  LevelOf planes(Compression::jpeg);
  planes.edit().samples = 4;
  planes.edit().separate_planes = true;
  EXPECT_EQ(planes.choose().method, DeviceMethod::jpeg) << "each plane is a gray image";

  for (std::uint32_t const bits : {8u, 12u, 16u, 32u}) {
    LevelOf jpeg2000(Compression::jpeg2000);
    jpeg2000.edit().bits = bits;
    EXPECT_EQ(jpeg2000.choose().method, bits == 8 || bits == 16 ? DeviceMethod::jpeg2000 : DeviceMethod::host) << bits;
  }
}

TEST(DeviceMethods, LeaveHugeBlocksToTheHost) {
  LevelOf level(Compression::none);
  level.edit().bits = 64;
  level.edit().block_width_px = 1u << 14;
  level.edit().block_height_px = 1u << 14;
  EXPECT_EQ(level.choose().method, DeviceMethod::raw) << "2 GiB";
  level.edit().block_height_px += 1;
  EXPECT_EQ(level.choose().method, DeviceMethod::host);
}

TEST(DeviceMethods, HaveNames) {
  for (int method = 0; method <= static_cast<int>(DeviceMethod::host); ++method) {
    EXPECT_FALSE(to_string(static_cast<DeviceMethod>(method)).empty()) << method;
  }
}

}  // namespace
}  // namespace terrazzo::reading
