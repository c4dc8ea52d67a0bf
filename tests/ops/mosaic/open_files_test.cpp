// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/open_files.hpp"

#include "ops/mosaic/memory_inputs.hpp"
#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace terrazzo::ops {
namespace {

using testing::MemoryInputs;
using testing::placed_builder;

class OpenFilesTest : public ::testing::Test {
 protected:
  OpenFilesTest() {
    for (int i = 0; i < 5; ++i) {
      inputs_.add(std::string(1, static_cast<char>('a' + i)), placed_builder<std::uint8_t>(i, 0, 1, 1, {1}));
    }
    request_ = inputs_.opening();
    records_ = read_inputs(inputs_.names(), request_);
  }
  MemoryInputs inputs_;
  MosaicRequest request_;
  Inputs records_;
};

TEST_F(OpenFilesTest, OpensAFileOnceAsLongAsThereIsRoom) {
  OpenFiles open(records_.files, request_, records_.bands, 3);
  for (std::uint32_t const i : {0U, 1U, 2U, 0U, 1U, 2U}) {
    EXPECT_EQ(open.get(i).info().source, records_.files[i].path);
  }
  EXPECT_EQ(open.opened_count(), 3U);
}

TEST_F(OpenFilesTest, ClosesTheLeastRecentlyUsedFile) {
  OpenFiles open(records_.files, request_, records_.bands, 2);
  for (std::uint32_t const i : {0U, 1U, 0U, 2U}) { static_cast<void>(open.get(i)); }
  EXPECT_EQ(open.opened_count(), 3U);
  static_cast<void>(open.get(0));
  EXPECT_EQ(open.opened_count(), 3U);
  static_cast<void>(open.get(1));
  EXPECT_EQ(open.opened_count(), 4U);
}

TEST_F(OpenFilesTest, KeepsAFileThatIsInUse) {
  OpenFiles open(records_.files, request_, records_.bands, 1);
  std::optional<Dataset> used = open.get(0);
  static_cast<void>(open.get(1));
  static_cast<void>(open.get(0));
  EXPECT_EQ(open.opened_count(), 2U);
  used.reset();
  static_cast<void>(open.get(2));
  static_cast<void>(open.get(0));
  EXPECT_EQ(open.opened_count(), 4U);
}

TEST_F(OpenFilesTest, OpensAClosedFileAgain) {
  OpenFiles open(records_.files, request_, records_.bands, 3);
  static_cast<void>(open.get(3));
  open.close(3);
  open.close(4);  // was never open
  static_cast<void>(open.get(3));
  EXPECT_EQ(open.opened_count(), 2U);
}

TEST_F(OpenFilesTest, RefusesAFileThatHasChanged) {
  OpenFiles open(records_.files, request_, records_.bands, 3);
  inputs_.add("b", placed_builder<std::uint8_t>(1, 0, 2, 1, {1, 1}));
  Error const error = testing::failure_of([&] { return open.get(1); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_EQ(error.where().source, "b");
}

TEST(FilesAtOnce, IsAtLeastOne) { EXPECT_GE(files_at_once(), 1U); }

}  // namespace
}  // namespace terrazzo::ops
