// SPDX-License-Identifier: Apache-2.0
//
// The plugin is played by functions that read into host memory when they are waited for, and note the order of calls.
#include "io/kvikio_fetch.hpp"

#include "support/temp_folder.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo::io {
namespace {

struct FakeRead {
  std::byte* to;
  std::uint64_t bytes, offset_bytes;
};

struct Fake {
  std::string content;
  std::string calls;  // o, r, w, c
  int started = 0;
  std::optional<int> refuse;      // the read (from 0) that cannot be started
  std::optional<int> fail;        // that fails when it is waited for
  std::optional<int> come_short;  // that gives one byte less
  int waited = 0;
};
Fake* fake = nullptr;

void tell(char const* reason, char* error, std::size_t error_bytes) {
  if (error != nullptr) { std::snprintf(error, error_bytes, "%s", reason); }
}

KvikioApi const kFakeApi{
    .abi = [] { return kKvikioAbi; },
    .version = []() -> char const* { return "0.0.0"; },
    .gds_available = [] { return 0; },
    .set_threads = [](unsigned) {},
    .open = [](char const*, char* error, std::size_t error_bytes) -> void* {
      fake->calls += 'o';
      if (fake->content.empty()) {
        tell("no such luck", error, error_bytes);
        return nullptr;
      }
      return fake;
    },
    .close = [](void*) { fake->calls += 'c'; },
    .read_async = [](void*, void* to, std::uint64_t bytes, std::uint64_t offset, char* error,
                     std::size_t error_bytes) -> void* {
      if (fake->refuse == fake->started++) {
        tell("no context", error, error_bytes);
        return nullptr;
      }
      fake->calls += 'r';
      return new FakeRead{static_cast<std::byte*>(to), bytes, offset};
    },
    .wait = [](void* read, char* error, std::size_t error_bytes) -> std::int64_t {
      fake->calls += 'w';
      std::unique_ptr<FakeRead> const own(static_cast<FakeRead*>(read));
      int const number = fake->waited++;
      if (fake->fail == number) {
        tell("the disk is gone", error, error_bytes);
        return -1;
      }
      std::uint64_t const bytes = own->bytes - (fake->come_short == number ? 1 : 0);
      std::memcpy(own->to, fake->content.data() + own->offset_bytes, bytes);
      return static_cast<std::int64_t>(bytes);
    },
};

class KvikioFetch : public ::testing::Test {
 protected:
  void SetUp() override {
    fake = &fake_;
    for (int i = 0; i < 100; ++i) { fake_.content += static_cast<char>('!' + i % 90); }
    path_ = folder_.write("file.bin", fake_.content);
  }
  void TearDown() override { fake = nullptr; }

  // The error's kind and message.
  template <class Work>
  static std::pair<ErrorKind, std::string> error_of(Work const& work) {
    try {
      work();
    } catch (Error const& error) { return {error.kind(), error.what()}; }
    return {ErrorKind::usage, "no error"};
  }

  Fake fake_;
  terrazzo::testing::TempFolder folder_;
  std::string path_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(200);
};

TEST_F(KvikioFetch, StartsEveryReadBeforeTheFirstWait) {
  {
    auto const file = KvikioFile::open(path_, kFakeApi);
    std::vector<DeviceRange> const ranges{
        {50, memory_.data(), 10}, {0, memory_.data() + 16, 5}, {90, memory_.data() + 32, 10}};
    file->submit(ranges).wait();
  }
  EXPECT_EQ(fake_.calls, "orrrwwwc");
  EXPECT_EQ(std::memcmp(memory_.data(), fake_.content.data() + 50, 10), 0);
  EXPECT_EQ(std::memcmp(memory_.data() + 16, fake_.content.data(), 5), 0);
  EXPECT_EQ(std::memcmp(memory_.data() + 32, fake_.content.data() + 90, 10), 0);
}

TEST_F(KvikioFetch, TakesNoReadForEmptyRanges) {
  auto const file = KvikioFile::open(path_, kFakeApi);
  std::vector<DeviceRange> const ranges{{1000, nullptr, 0}, {3, memory_.data(), 4}, {0, memory_.data(), 0}};
  file->submit(ranges).wait();
  file->submit({}).wait();
  EXPECT_EQ(fake_.calls, "orw");
  EXPECT_EQ(std::memcmp(memory_.data(), fake_.content.data() + 3, 4), 0);
}

TEST_F(KvikioFetch, ReadsNeighboursInOneGo) {
  std::byte* const to = memory_.data();
  auto const merged = merge_ranges(
      std::vector<DeviceRange>{{10, to, 5}, {15, to + 5, 0}, {15, to + 5, 7}, {22, to + 13, 1}, {24, to + 14, 1}});
  ASSERT_EQ(merged.size(), 3u);  // the third leaves a gap in memory, the fourth one in the file
  EXPECT_EQ(merged[0].offset_bytes, 10u);
  EXPECT_EQ(merged[0].bytes, 12u);
  EXPECT_EQ(merged[1].to, to + 13);
  EXPECT_EQ(merged[2].offset_bytes, 24u);
}

TEST_F(KvikioFetch, ShortReadIsAnError) {
  auto const file = KvikioFile::open(path_, kFakeApi);
  fake_.come_short = 1;
  std::vector<DeviceRange> const ranges{
      {0, memory_.data(), 8}, {20, memory_.data() + 16, 8}, {40, memory_.data() + 32, 8}};
  KvikioReads reads = file->submit(ranges);
  auto const [kind, message] = error_of([&] { reads.wait(); });
  EXPECT_EQ(kind, ErrorKind::io);
  EXPECT_NE(message.find("7 of 8"), std::string::npos) << message;
  EXPECT_EQ(fake_.calls, "orrrwww");  // the others were waited for, and only once
}

TEST_F(KvikioFetch, TellsWhyAReadFailed) {
  auto const file = KvikioFile::open(path_, kFakeApi);
  fake_.fail = 0;
  std::vector<DeviceRange> const ranges{{0, memory_.data(), 8}};
  auto const [kind, message] = error_of([&] { file->submit(ranges).wait(); });
  EXPECT_EQ(kind, ErrorKind::io);
  EXPECT_NE(message.find("the disk is gone"), std::string::npos) << message;
}

TEST_F(KvikioFetch, WaitsForStartedReadsWhenOneCannotStart) {
  auto const file = KvikioFile::open(path_, kFakeApi);
  fake_.refuse = 1;
  std::vector<DeviceRange> const ranges{
      {0, memory_.data(), 8}, {20, memory_.data() + 16, 8}, {40, memory_.data() + 32, 8}};
  auto const [kind, message] = error_of([&] { (void)file->submit(ranges); });
  EXPECT_EQ(kind, ErrorKind::io);
  EXPECT_NE(message.find("no context"), std::string::npos) << message;
  EXPECT_EQ(fake_.calls, "orw");
}

TEST_F(KvikioFetch, RefusesRangesPastTheEndBeforeAnyReadStarts) {
  auto const file = KvikioFile::open(path_, kFakeApi);
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  for (DeviceRange const& bad : {DeviceRange{93, memory_.data(), 8}, DeviceRange{101, memory_.data(), 1},
                                 DeviceRange{kHuge, memory_.data(), 2}}) {
    std::vector<DeviceRange> const ranges{{0, memory_.data(), 8}, bad};
    EXPECT_EQ(error_of([&] { (void)file->submit(ranges); }).first, ErrorKind::io);
  }
  EXPECT_EQ(fake_.calls, "o");
}

TEST_F(KvikioFetch, DroppedReadsAreWaitedForAndKeepTheFileOpen) {
  std::vector<DeviceRange> const ranges{{0, memory_.data(), 8}};
  {
    KvikioReads reads = KvikioFile::open(path_, kFakeApi)->submit(ranges);
    EXPECT_EQ(fake_.calls, "or");
  }
  EXPECT_EQ(fake_.calls, "orwc");
}

TEST_F(KvikioFetch, AssignmentWaitsForWhatItReplaces) {
  auto const file = KvikioFile::open(path_, kFakeApi);
  std::vector<DeviceRange> const ranges{{0, memory_.data(), 8}};
  KvikioReads reads = file->submit(ranges);
  reads = file->submit(ranges);
  EXPECT_EQ(fake_.calls, "orrw");
  reads.wait();
  EXPECT_EQ(fake_.calls, "orrww");
}

TEST_F(KvikioFetch, FileThatCannotBeOpenedIsAnError) {
  EXPECT_EQ(error_of([&] { (void)KvikioFile::open(folder_.path("missing"), kFakeApi); }).first, ErrorKind::io);
  fake_.content.clear();
  auto const [kind, message] = error_of([&] { (void)KvikioFile::open(path_, kFakeApi); });
  EXPECT_EQ(kind, ErrorKind::io);
  EXPECT_NE(message.find("no such luck"), std::string::npos) << message;
}

TEST_F(KvikioFetch, AbsentPluginSaysWhatIsMissing) {
  KvikioState const& state = kvikio_state();
  if (state.found) { GTEST_SKIP() << "the plugin is here: " << state.path; }
  EXPECT_FALSE(state.hint.empty());
  auto const [kind, message] = error_of([&] { (void)KvikioFile::open(path_); });
  EXPECT_EQ(kind, ErrorKind::unsupported);
  EXPECT_NE(message.find(state.hint), std::string::npos) << message;
}

}  // namespace
}  // namespace terrazzo::io
