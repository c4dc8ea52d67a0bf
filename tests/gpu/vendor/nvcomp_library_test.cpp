// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvcomp_library.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::gpu::nvcomp {
namespace {

char const* say_nothing(Status) { return nullptr; }
char const* say_something(Status) { return "too large"; }

TEST(NvcompLibrary, HasEveryFunctionOrIsAbsent) {
  Library const* const found = find_library();
  if (found == nullptr) {
    EXPECT_THROW((void)library(), Error);
    return;
  }
  EXPECT_NE(found->status_string, nullptr);
  for (Functions const& codec : found->codecs) {
    EXPECT_TRUE(codec.decode_alignments != nullptr && codec.decode_temp_size != nullptr && codec.decode != nullptr);
  }
  EXPECT_EQ(std::string(found->of(NvcompCodec::deflate).name), "Deflate");
  EXPECT_EQ(std::string(found->of(NvcompCodec::zstd).name), "Zstd");
}

TEST(NvcompLibrary, TurnsAStatusIntoAnErrorThatNamesTheCall) {
  Library lib{};
  lib.status_string = &say_something;
  Functions codec{};
  codec.name = "Zstd";
  EXPECT_NO_THROW(check(kSuccess, lib, codec, "DecompressAsync"));
  try {
    check(11, lib, codec, "DecompressAsync");
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_EQ(error.message(), "nvcompBatchedZstdDecompressAsync: status 11 (too large)");
  }
  lib.status_string = &say_nothing;
  EXPECT_THROW(check(11, lib, codec, "DecompressAsync"), Error);
}

}  // namespace
}  // namespace terrazzo::gpu::nvcomp
