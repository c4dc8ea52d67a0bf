// SPDX-License-Identifier: Apache-2.0
//
// Reads that are long enough to map their file, while others want to write to it. A mapping without the lease would end
// this process with SIGBUS.
#include "read/images.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace terrazzo::reading {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kSide = 6144, kTile = 512;  // 36 MiB

// Neighbours differ, and so do tiles.
std::uint8_t pixel(std::uint32_t row, std::uint32_t column) {
  return static_cast<std::uint8_t>((row * 2654435761u + column * 40503u) >> 9);
}

class MappedReads : public ::testing::Test {
 protected:
  MappedReads() {
    testing::TiffBuilder builder;
    std::vector<std::uint32_t> offsets, counts;
    std::vector<std::byte> pixels(kTile * kTile);
    for (std::uint32_t top = 0; top < kSide; top += kTile) {
      for (std::uint32_t left = 0; left < kSide; left += kTile) {
        for (std::uint32_t i = 0; i < pixels.size(); ++i) {
          pixels[i] = static_cast<std::byte>(pixel(top + i / kTile, left + i % kTile));
        }
        std::vector<std::byte> const packed = packbits(pixels);
        offsets.push_back(static_cast<std::uint32_t>(builder.data(packed)));
        counts.push_back(static_cast<std::uint32_t>(packed.size()));
      }
    }
    builder.longs(256, {kSide})
        .longs(257, {kSide})
        .shorts(258, {8})
        .shorts(259, {kPackBits})
        .shorts(262, {1})
        .longs(322, {kTile})
        .longs(323, {kTile})
        .longs(324, offsets)
        .longs(325, counts);
    bytes_ = builder.bytes();
    path_ = folder_.write("a.tif", bytes_);
  }

  static bool is_right(HostArray const& array) {
    auto const* const found = reinterpret_cast<std::uint8_t const*>(array.bytes().data());
    for (std::uint32_t r = 0; r < kSide; ++r) {
      for (std::uint32_t c = 0; c < kSide; ++c) {
        if (found[std::size_t{r} * kSide + c] != pixel(r, c)) { return false; }
      }
    }
    return true;
  }

  testing::TempFolder folder_;
  std::vector<std::byte> bytes_;
  std::string path_;
};

TEST_F(MappedReads, GiveThePixels) {
  Dataset const dataset = open(path_);
  ReadReport report;
  EXPECT_TRUE(is_right(read(dataset, {.threads = 3}, &report)));
  EXPECT_EQ(report.tiles, 144u);
  std::uint64_t const tile_bytes = kTile * kTile + kTile * kTile / 128;
  EXPECT_EQ(report.bytes_read, 144 * tile_bytes) << "mapped bytes count as read";
}

// The child cuts the file in half and puts it together again, over and over; it only makes system calls.
TEST_F(MappedReads, OfAFileThatShrinksGiveThePixelsOrAnError) {
  Dataset const dataset = open(path_);
  static_cast<void>(dataset.info());
  pid_t const child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // when the test is gone, so is this
    std::size_t const half = bytes_.size() / 2;
    while (true) {
      if (truncate(path_.c_str(), static_cast<off_t>(half)) != 0) { _exit(1); }
      int const file = ::open(path_.c_str(), O_WRONLY);
      if (pwrite(file, bytes_.data() + half, bytes_.size() - half, static_cast<off_t>(half)) < 0) { _exit(2); }
      ::close(file);
      usleep(3000);
    }
  }
  int right = 0, failed = 0;
  for (auto const end = Clock::now() + 3s; Clock::now() < end;) {
    try {
      HostArray const array = read(dataset, {.threads = 3});
      ASSERT_TRUE(is_right(array));
      ++right;
    } catch (Error const& error) {
      ASSERT_EQ(error.kind(), ErrorKind::io) << error.what();
      ++failed;
    }
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child could not write";
  EXPECT_GT(right + failed, 5);
}

TEST_F(MappedReads, DoNotKeepAWriterWaiting) {
  Dataset const dataset = open(path_);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) { static_cast<void>(read(dataset, {.threads = 2})); }
  });
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(7ms);
    auto const start = Clock::now();
    int const file = ::open(path_.c_str(), O_RDWR);
    EXPECT_GE(file, 0);
    EXPECT_LT(Clock::now() - start, 5s) << "the system takes a lease away after 45 s";
    ::close(file);
  }
  stop = true;
  reader.join();
}

TEST_F(MappedReads, LetTheirProgressFunctionWriteToTheFile) {
  Dataset const dataset = open(path_);
  for (unsigned const threads : {1u, 3u}) {
    auto const start = Clock::now();
    HostArray const array = read(dataset, {.threads = threads, .progress = [&](std::uint64_t, std::uint64_t) {
                                             int const file = ::open(path_.c_str(), O_RDWR);
                                             ::close(file);
                                             return file >= 0;
                                           }});
    EXPECT_TRUE(is_right(array));
    EXPECT_LT(Clock::now() - start, 20s);
  }
}

}  // namespace
}  // namespace terrazzo::reading
