// SPDX-License-Identifier: Apache-2.0
#include "gpu/transfer/upload.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "gpu/runtime/stream.hpp"
#include "support/device_bytes.hpp"
#include "support/failure.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace terrazzo::gpu {
namespace {

using Bytes = std::vector<std::byte>;
using terrazzo::testing::DeviceBytes;
using terrazzo::testing::failure_of;

Bytes pattern(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) { bytes[i] = static_cast<std::byte>(i * 7 + i / 4096); }
  return bytes;
}

TEST(Upload, WithoutAGpuAreADeviceError) {
  if (probe_device().usable) { GTEST_SKIP() << "there is a GPU"; }
  Bytes bytes(10);
  EXPECT_EQ(failure_of([&] { upload(bytes, bytes.data(), 1, nullptr); }).kind(), ErrorKind::device);
  EXPECT_EQ(failure_of([&] { download(bytes.data(), bytes, 1, nullptr); }).kind(), ErrorKind::device);
}

using UploadOnDevice = test::OnDevice;

TEST_F(UploadOnDevice, ComeBackAsTheyWent) {
  constexpr std::size_t kChunk = PinnedPool::kChunkBytes;
  StreamHandle const stream = make_stream();
  for (std::size_t const size : {std::size_t{0}, std::size_t{1}, kChunk - 1, kChunk, kChunk + 1, 5 * kChunk + 17}) {
    for (unsigned const threads : {1u, 4u}) {
      SCOPED_TRACE(size);
      Bytes sent = pattern(size);
      Bytes const copy = sent;
      DeviceBytes const memory(size + 64);
      upload(sent, memory.data() + 32, threads, stream.get());
      std::ranges::fill(sent, std::byte{0});  // it may be reused at once
      Bytes got(size);
      download(memory.data() + 32, got, threads, stream.get());
      EXPECT_TRUE(got == copy);
      Bytes const around = memory.back();
      EXPECT_TRUE(std::all_of(around.begin(), around.begin() + 32, [](std::byte b) { return b == std::byte{0xCD}; }));
      EXPECT_TRUE(std::all_of(around.end() - 32, around.end(), [](std::byte b) { return b == std::byte{0xCD}; }));
    }
  }
}

TEST_F(UploadOnDevice, FillsPiecesOfTheGivenSize) {
  StreamHandle const stream = make_stream();
  Bytes const sent = pattern(1000);
  DeviceBytes const memory(1000);
  std::atomic<std::size_t> pieces{0};
  upload(sent.size(), 300, memory.data(), 4, stream.get(), [&](std::size_t at, std::span<std::byte> into) {
    ++pieces;
    EXPECT_EQ(into.size(), at == 900 ? 100u : 300u);
    std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(at), into.size(), into.begin());
  });
  check_cuda(cudaStreamSynchronize(stream.get()), "uploading");
  EXPECT_EQ(pieces, 4u);
  EXPECT_TRUE(memory.back() == sent);
}

TEST_F(UploadOnDevice, SendsRunsWithGapsBetweenThem) {
  constexpr std::size_t kChunk = PinnedPool::kChunkBytes;
  StreamHandle const stream = make_stream();
  Bytes const sent = pattern(2 * kChunk + 5);
  DeviceBytes const memory(sent.size() + 100);
  Bytes wanted(sent.size() + 100, std::byte{0xCD});
  RunUpload runs(memory.data(), stream.get());
  runs.append(7, std::span(sent).first(10));
  runs.append(17, std::span(sent).subspan(10, 1));
  runs.append(100, std::span(sent).subspan(11));
  runs.flush();
  std::copy_n(sent.begin(), 11, wanted.begin() + 7);
  std::copy(sent.begin() + 11, sent.end(), wanted.begin() + 100);
  check_cuda(cudaStreamSynchronize(stream.get()), "uploading");
  EXPECT_TRUE(memory.back() == wanted);
}

}  // namespace
}  // namespace terrazzo::gpu
