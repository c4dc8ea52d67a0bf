// SPDX-License-Identifier: Apache-2.0
#include "gpu/runtime/check.hpp"

#include "gpu/runtime/device_fixture.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::gpu {
namespace {

TEST(CheckCuda, LetsSuccessPass) { EXPECT_NO_THROW(check_cuda(cudaSuccess, "nothing")); }

TEST(CheckCuda, SaysWhatWasBeingDoneAndWhatWentWrong) {
  try {
    check_cuda(cudaErrorMemoryAllocation, "uploading a batch");
    FAIL() << "nothing was thrown";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_NE(error.message().find("uploading a batch"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("cudaErrorMemoryAllocation"), std::string::npos) << error.message();
  }
}

// Without a driver the runtime has the same error for every question.
using CheckLaunch = test::OnDevice;

TEST_F(CheckLaunch, TakesTheErrorOutOfTheThread) {
  ASSERT_NE(cudaSetDevice(100000), cudaSuccess);
  EXPECT_THROW(check_launch("launching"), Error);
  EXPECT_NO_THROW(check_launch("launching"));
}

}  // namespace
}  // namespace terrazzo::gpu
