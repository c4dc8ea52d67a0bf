// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/library.hpp"

#include "gpu/vendor/nvcomp.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace terrazzo::gpu {
namespace {

TEST(VendorLibraries, EachIsEitherFoundWithItsVersionOrSaysWhatToInstall) {
  std::vector<VendorLibrary> const libraries = vendor_libraries();
  ASSERT_EQ(libraries.size(), 3u);
  for (VendorLibrary const& library : libraries) {
    EXPECT_EQ(library.found, !library.path.empty()) << library.name;
    EXPECT_EQ(library.found, !library.version.empty()) << library.name;
    EXPECT_EQ(library.found, library.hint.empty()) << library.name;
  }
}

TEST(VendorLibraries, GivesEveryThreadTheSameModule) {
  VendorModule const* seen[4] = {};
  std::thread threads[4];
  for (int i = 0; i < 4; ++i) {
    threads[i] = std::thread([&seen, i] { seen[i] = &vendor_module(Vendor::nvjpeg); });
  }
  for (std::thread& thread : threads) { thread.join(); }
  for (VendorModule const* module : seen) { EXPECT_EQ(module, seen[0]); }
}

TEST(VendorLibraries, KnowNoFunctionOfAnAbsentLibrary) {
  VendorModule const absent;
  EXPECT_EQ(absent.symbol("malloc"), nullptr);
}

TEST(VendorLibraries, NvcompIsAvailableExactlyWhenItWasFound) {
  EXPECT_EQ(nvcomp_available(), vendor_module(Vendor::nvcomp).library.found);
}

// The answer of a process in which nvCOMP is switched off: 0 when it is as it should be.
int exit_code_when_disabled(char const* list) {
  setenv("TERRAZZO_DISABLE", list, 1);
  if (nvcomp_available() || vendor_module(Vendor::nvcomp).library.hint.find("TERRAZZO_DISABLE") == std::string::npos) {
    return 1;
  }
  try {
    (void)nvcomp_decode_scratch_bytes(NvcompCodec::zstd, 1, 1024, 1024);
  } catch (Error const& error) { return error.kind() == ErrorKind::unsupported ? 0 : 2; }
  return 3;
}

TEST(VendorDisableDeathTest, MakesALibraryAbsent) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process: libraries are looked for once
  EXPECT_EXIT(std::exit(exit_code_when_disabled("kvikio,nvcomp")), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::exit(exit_code_when_disabled("gpu")), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace terrazzo::gpu
