// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/library.hpp"

#include "gpu/vendor/nvcomp.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace terrazzo::gpu {
namespace {

namespace fs = std::filesystem;

class VendorFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("terrazzo_vendor_" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path make(fs::path const& relative) const {
    fs::create_directories(root_ / relative);
    return root_ / relative;
  }

  fs::path root_;
};

bool contains(std::vector<fs::path> const& folders, fs::path const& folder) {
  return std::find(folders.begin(), folders.end(), folder) != folders.end();
}

TEST_F(VendorFolderTest, TakesTheUsersFoldersFirstAndInTheirOrder) {
  fs::path const b = make("b");
  fs::path const a = make("a");
  VendorFolders const folders =
      vendor_folders({b.string() + "::" + (root_ / "missing").string() + ":" + a.string(), {}, {}});
  EXPECT_EQ(folders.before_loader, (std::vector<fs::path>{b, a}));
  EXPECT_TRUE(folders.after_loader.empty());
}

TEST_F(VendorFolderTest, LooksBesideTheOriginAndInItsLibFolders) {
  fs::path const bin = make("app/bin");
  fs::path const inner = make("app/bin/lib");
  fs::path const outer = make("app/lib");
  VendorFolders const folders = vendor_folders({"", {bin}, {}});
  EXPECT_EQ(folders.after_loader, (std::vector<fs::path>{bin, inner, outer}));
}

TEST_F(VendorFolderTest, FindsWheelsOfTheSitePackagesThatHoldOurOwnLibrary) {
  fs::path const ours = make("venv/lib/python3.11/site-packages/terrazzo/lib");
  fs::path const plain = make("venv/lib/python3.11/site-packages/nvidia/cu13/lib");
  fs::path const wide = make("venv/lib/python3.11/site-packages/nvidia/libnvcomp/lib64");
  VendorFolders const folders = vendor_folders({"", {ours}, {}});
  EXPECT_TRUE(contains(folders.after_loader, plain));
  EXPECT_TRUE(contains(folders.after_loader, wide));
}

TEST_F(VendorFolderTest, FindsWheelsOfTheEnvironmentOfTheExecutableAndOfTheActiveOne) {
  fs::path const bin = make("one/bin");
  fs::path const first = make("one/lib/python3.12/site-packages/nvidia/nvjpeg2k/lib");
  fs::path const second = make("two/lib/python3.13/site-packages/nvidia/nvjpeg2k/lib");
  VendorFolders const folders = vendor_folders({"", {bin}, {root_ / "two"}});
  EXPECT_TRUE(contains(folders.after_loader, first));
  EXPECT_TRUE(contains(folders.after_loader, second));
}

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
