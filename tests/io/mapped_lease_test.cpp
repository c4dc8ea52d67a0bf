// SPDX-License-Identifier: Apache-2.0
//
// Skipped where there are no leases: the temporary folder must be on a local disk.
#include "io/mapped_lease.hpp"

#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

namespace terrazzo::io {
namespace {

using namespace std::chrono_literals;
using Range = MappedRead::Range;

constexpr std::uint64_t kMiB = 1 << 20;

std::byte byte_at(std::uint64_t offset) { return static_cast<std::byte>(offset * 2654435761u >> 13); }

class Leases : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::byte> bytes(kSize);
    for (std::size_t i = 0; i < kSize; ++i) { bytes[i] = byte_at(i); }
    path_ = folder_.write("a.bin", bytes);
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(descriptor_, 0);
    if (take() == nullptr) { GTEST_SKIP() << "no lease to be had in the temporary folder"; }
  }
  ~Leases() override { ::close(descriptor_); }

  [[nodiscard]] std::unique_ptr<MappedLease> take(std::uint64_t size = kSize) const {
    return MappedLease::take(descriptor_, size);
  }

  static constexpr std::uint64_t kSize = 64 * kMiB + 77;
  testing::TempFolder folder_;
  std::string path_;
  int descriptor_ = -1;
};

TEST_F(Leases, GiveTheBytesOfTheFile) {
  auto const lease = take();
  std::vector<Range> const ranges = {{5, 100}, {kSize - 3, 3}, {3 * kMiB, kMiB}, {4096, 1}};
  std::span<std::byte const> const bytes = lease->enter(ranges);
  ASSERT_EQ(bytes.size(), kSize);
  for (Range const& range : ranges) {
    for (std::uint64_t i = range.offset_bytes; i < range.offset_bytes + range.size_bytes; ++i) {
      ASSERT_EQ(bytes[i], byte_at(i)) << i;
    }
  }
  lease->leave(ranges);
}

TEST_F(Leases, AreRefusedWhileSomebodyMayWrite) {
  int const writer = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(take(), nullptr);
  // A mapping that may be written to keeps the file open for writing.
  void* const mapping = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writer, 0);
  ::close(writer);
  EXPECT_EQ(take(), nullptr);
  munmap(mapping, 4096);
  EXPECT_NE(take(), nullptr);
}

TEST_F(Leases, AreRefusedForAFileThatShrank) {
  ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(kSize - 1)), 0);
  EXPECT_EQ(take(), nullptr);
  EXPECT_NE(take(kSize - 1), nullptr);
  EXPECT_EQ(take(0), nullptr);
}

TEST_F(Leases, AreRefusedWhenAddressSpaceIsLimited) {
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  struct rlimit const limited = {rlim_t{1} << 46, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  EXPECT_EQ(take(), nullptr);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_NE(take(), nullptr);
}

TEST_F(Leases, OfSeveralReadsAreTheirOwn) {
  Range const range{0, 1000};
  auto first = take();
  auto const second = take();
  ASSERT_NE(second, nullptr);
  first.reset();
  EXPECT_FALSE(second->enter({&range, 1}).empty());
  second->leave({&range, 1});
  // The lease of the second is there still: nobody gets in without waiting.
  EXPECT_EQ(::open(path_.c_str(), O_WRONLY | O_NONBLOCK), -1);
  EXPECT_EQ(errno, EWOULDBLOCK);
}

TEST_F(Leases, KeepAWriterWaitingUntilTheLastOneLeft) {
  Range const range{kMiB, kMiB};
  auto const lease = take();
  ASSERT_FALSE(lease->enter({&range, 1}).empty());
  ASSERT_FALSE(lease->enter({&range, 1}).empty());
  std::atomic<bool> truncated{false};
  std::thread writer([&] {
    EXPECT_EQ(::truncate(path_.c_str(), 0), 0);
    truncated = true;
  });
  // The writer waits, which everyone who comes now learns of.
  auto const give_up = std::chrono::steady_clock::now() + 20s;
  while (!lease->enter({&range, 1}).empty() && std::chrono::steady_clock::now() < give_up) {
    lease->leave({&range, 1});
    std::this_thread::yield();
  }
  EXPECT_TRUE(lease->enter({&range, 1}).empty());
  lease->leave({&range, 1});
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(truncated) << "one is inside still";
  auto const start = std::chrono::steady_clock::now();
  lease->leave({&range, 1});
  writer.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  EXPECT_TRUE(lease->enter({&range, 1}).empty());
  EXPECT_EQ(take(), nullptr) << "the file is empty now";
}

TEST_F(Leases, AreGivenBackByTheFirstWhoComesWhenNobodyIsInside) {
  Range const range{0, 1000};
  auto const lease = take();
  EXPECT_EQ(::open(path_.c_str(), O_WRONLY | O_NONBLOCK), -1);
  EXPECT_TRUE(lease->enter({&range, 1}).empty());
  int const writer = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK);
  EXPECT_GE(writer, 0);
  ::close(writer);
}

std::atomic<int> g_signals{0};

TEST_F(Leases, AreBrokenWithoutASignal) {
  struct sigaction counting {
  }, before_io{}, before_urgent{};
  counting.sa_handler = [](int) { ++g_signals; };
  sigaction(SIGIO, &counting, &before_io);
  sigaction(SIGURG, &counting, &before_urgent);
  auto const lease = take();
  EXPECT_EQ(::open(path_.c_str(), O_WRONLY | O_NONBLOCK), -1);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(g_signals, 0);
  sigaction(SIGIO, &before_io, nullptr);
  sigaction(SIGURG, &before_urgent, nullptr);
}

std::uint64_t mapped_file_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "RssFile:") {
      std::uint64_t kib = 0;
      status >> kib;
      return kib * 1024;
    }
  }
  return 0;
}

// In order, and in an order in which neighbours are far apart in time.
TEST_F(Leases, HoldFewPagesAtATime) {
  for (std::uint64_t const step : {std::uint64_t{1}, std::uint64_t{27}}) {
    auto const lease = take();
    std::uint64_t const before = mapped_file_bytes();
    std::uint64_t most = 0;
    constexpr std::uint64_t kPieces = 640, kPiece = kSize / kPieces;
    for (std::uint64_t i = 0; i < kPieces; ++i) {
      Range const range{i * step % kPieces * kPiece, kPiece};
      std::span<std::byte const> const bytes = lease->enter({&range, 1});
      ASSERT_FALSE(bytes.empty());
      most = std::max(most, mapped_file_bytes());
      lease->leave({&range, 1});
    }
    EXPECT_GT(most, before + kMiB) << "the mapping was not used";
    EXPECT_LT(most, before + 40 * kMiB);
  }
}

TEST_F(Leases, LeaveToReadsWhatIsNotInThePageCache) {
  int const writer = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(fsync(writer), 0);
  ::close(writer);
  ASSERT_EQ(posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED), 0);
  auto const lease = take();
  Range const range{20 * kMiB, kMiB};
  if (!lease->enter({&range, 1}).empty()) { GTEST_SKIP() << "the page cache keeps the file"; }
  std::vector<std::byte> bytes(kMiB);
  ASSERT_EQ(pread(descriptor_, bytes.data(), bytes.size(), 20 * kMiB), static_cast<ssize_t>(kMiB));
  EXPECT_FALSE(lease->enter({&range, 1}).empty()) << "that one range was not there does not end the mapping";
  lease->leave({&range, 1});
}

TEST_F(Leases, CountManyThreadsInAndOut) {
  auto const lease = take();
  std::atomic<int> refused{0}, wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; refused < 40; ++i) {
        Range const range{(i * 4 + t) % 512 * 100'000, 100'000};
        std::span<std::byte const> const bytes = lease->enter({&range, 1});
        if (bytes.empty()) {
          ++refused;
          continue;
        }
        wrong += bytes[range.offset_bytes + i % 100'000] != byte_at(range.offset_bytes + i % 100'000) ? 1 : 0;
        lease->leave({&range, 1});
      }
    });
  }
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(::truncate(path_.c_str(), 0), 0);  // returns when the threads have left; from then on pages are gone
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_EQ(wrong, 0);
}

TEST(LeaseOnAPipe, IsRefused) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  EXPECT_EQ(MappedLease::take(ends[0], 1), nullptr);
  EXPECT_EQ(MappedLease::take(-1, 1), nullptr);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace terrazzo::io
