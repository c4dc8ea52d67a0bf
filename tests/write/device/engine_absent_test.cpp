// SPDX-License-Identifier: Apache-2.0
//
// A build without CUDA: everything compiles and links, and says what is missing.
#include "write/device/engine.hpp"

#include "terrazzo/device.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/write.hpp"

#include <gtest/gtest.h>

namespace terrazzo::writing {
namespace {

template <class Work>
void expect_unsupported(Work const& work) {
  try {
    work();
    FAIL() << "done";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(error.message().find("CUDA"), std::string::npos) << error.message();
  }
}

TEST(AbsentWriteEngine, RefusesAsUnsupported) {
  FilePlan const plan = plan_file(16, 16, {});
  expect_unsupported([] { require_device_engine(); });
  expect_unsupported([&] { (void)make_device_engine(plan, 1, {}, {}, MemoryKind::device); });
  expect_unsupported([] { download_rows({}, {}); });
  expect_unsupported([] { wait_for_stream(nullptr); });
}

TEST(AbsentWriteEngine, LeavesNoFileWhenItIsAskedFor) {
  std::vector<std::byte> bytes(3);
  WriteOptions options;
  options.engine = Engine::device;
  expect_unsupported([&] { (void)create(memory_sink(bytes), 16, 16, options); });
  options.engine = Engine::automatic;
  std::byte pixel{};
  DeviceView const view{&pixel, DType::u8, 1, 16, 16, 256, 16, 1};
  expect_unsupported([&] { (void)write(memory_sink(bytes), view, options); });
  EXPECT_EQ(bytes.size(), 3U);
}

}  // namespace
}  // namespace terrazzo::writing
