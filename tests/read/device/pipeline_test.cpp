// SPDX-License-Identifier: Apache-2.0
//
// The pipeline's part beside decoding and placing: batches, budgets, bad tiles, progress.
#include "read/device/pipeline.hpp"

#include "gpu/runtime/guarded_wait.hpp"
#include "read/device/decoders.hpp"
#include "read/device/device_fixture.hpp"
#include "read/images.hpp"
#include "support/counting_allocator.hpp"
#include "support/data_folder.hpp"
#include "support/device_bytes.hpp"
#include "support/lzw_stream.hpp"
#include "support/temp_folder.hpp"
#include "terrazzo/profile.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <set>
#include <stdexcept>

namespace terrazzo::reading {
namespace {

using Bytes = std::vector<std::byte>;
using terrazzo::testing::CountingAllocator;
using terrazzo::testing::DeviceBytes;

constexpr std::uint16_t kLzw = 5, kDeflate = 8;

// One stored block in a zlib frame, checksum and all.
Bytes zlib_stored(Bytes const& bytes) {
  auto const byte = [](std::size_t value) { return static_cast<std::byte>(value & 0xFF); };
  Bytes out{byte(0x78), byte(0x01), byte(1)};
  for (std::size_t const size : {bytes.size(), ~bytes.size()}) {
    out.push_back(byte(size));
    out.push_back(byte(size >> 8));
  }
  out.insert(out.end(), bytes.begin(), bytes.end());
  std::uint32_t a = 1, b = 0;
  for (std::byte const value : bytes) {
    a = (a + static_cast<std::uint32_t>(value)) % 65521;
    b = (b + a) % 65521;
  }
  for (std::uint32_t const value : {b >> 8, b, a >> 8, a}) { out.push_back(byte(value)); }
  return out;
}

// 12 x 8 tiles of 1 KiB. Blocks of `bad` are damaged in one of several ways.
testing::TiffBuilder tiles(std::uint16_t compression, std::set<std::uint64_t> const& bad = {}) {
  ImageSpec spec{
      .width = 190, .height = 120, .bands = 2, .tile_width = 16, .tile_height = 16, .compression = compression};
  spec.edit = [compression, bad](std::uint64_t block, Bytes& bytes) {
    if (compression == kLzw) { bytes = testing::lzw_stream(bytes); }
    if (compression == kDeflate) { bytes = zlib_stored(bytes); }
    if (!bad.contains(block)) { return; }
    switch (block % 3) {
      case 0: bytes.resize(bytes.size() / 2); break;
      case 1: std::ranges::fill(bytes, std::byte{0xFF}); break;
      default: bytes.resize(3); break;
    }
  };
  return image<std::uint16_t>(spec);
}

// In a file, so that it is trusted: nvCOMP takes it where it is installed.
class Written {
 public:
  explicit Written(testing::TiffBuilder const& builder) : dataset_(open(folder_.write("tiles.tif", builder.bytes()))) {}
  [[nodiscard]] Dataset const& operator*() const { return dataset_; }

 private:
  testing::TempFolder folder_;
  Dataset dataset_;
};

TEST(PipelineTestFiles, AreWhatTheHostReads) {
  for (std::uint16_t const compression : {kNone, kPackBits, kLzw, kDeflate}) {
    Written const written(tiles(compression));
    EXPECT_EQ(values_of<std::uint16_t>(read(*written)), expected<std::uint16_t>({0, 0, 190, 120}, {1, 2}))
        << compression;
    Written const damaged(tiles(compression, {4, 17, 39}));
    ReadReport report;
    (void)read(*damaged, {.bad_tile = BadTile::fill}, &report);
    EXPECT_FALSE(report.bad_tiles.empty()) << compression;
  }
}

using PipelineOnDevice = test::OnDevice;

TEST_F(PipelineOnDevice, EqualsTheHostForEveryCompression) {
  for (std::uint16_t const compression : {kNone, kPackBits, kLzw, kDeflate}) {
    SCOPED_TRACE(compression);
    Written const written(tiles(compression));
    for (ReadRequest const& request :
         {ReadRequest{}, ReadRequest{.window = Window{20, 30, 100, 50}, .bands = {2}, .dtype = DType::f32},
          ReadRequest{.target_size = TargetSize{33, 44}}, ReadRequest{.threads = 1}, ReadRequest{.threads = 3}}) {
      test::expect_same_read(*written, request);
    }
  }
}

TEST_F(PipelineOnDevice, FetchesByKvikioWhereItIsInstalledAndRefusesItElsewhere) {
  auto const libraries = device_state().libraries;
  bool const installed =
      std::ranges::any_of(libraries, [](DeviceLibrary const& l) { return l.name == "kvikio" && l.found; });
  ReadRequest request;
  request.device_fetch = DeviceFetch::kvikio;
  for (std::uint16_t const compression : {kNone, kPackBits, kLzw}) {
    SCOPED_TRACE(compression);
    Written const written(tiles(compression));
    if (installed) {
      test::expect_same_read(*written, request);
    } else {
      test::Outcome const refused = test::read_on_device(*written, request);
      ASSERT_TRUE(refused.error.has_value());
      EXPECT_EQ(refused.error->kind(), ErrorKind::unsupported);
    }
  }
  test::Outcome const memory = test::read_on_device(*Opened(tiles(kLzw)), request);
  ASSERT_TRUE(memory.error.has_value()) << "it reads local files only";
  EXPECT_EQ(memory.error->kind(), ErrorKind::unsupported);
}

TEST_F(PipelineOnDevice, ReportsBadTilesAsTheHostDoesAndKeepsTheGoodOnes) {
  for (std::uint16_t const compression : {kNone, kPackBits, kLzw, kDeflate}) {
    for (std::set<std::uint64_t> const& bad :
         {std::set<std::uint64_t>{7}, {0}, {4, 17, 39, 95}, {90, 91, 92, 93, 94, 95}}) {
      SCOPED_TRACE(::testing::Message() << "compression " << compression << ", " << bad.size() << " bad");
      Written const written(tiles(compression, bad));
      test::expect_same_read(*written, {});
      test::expect_same_read(*written, {.bad_tile = BadTile::fill});
      test::expect_same_read(
          *written, {.window = Window{10, 5, 150, 100}, .bands = {2, 1}, .masked = true, .bad_tile = BadTile::fill});
      test::expect_same_read(*written, {.target_size = TargetSize{95, 60}, .bad_tile = BadTile::fill});
    }
  }
}

TEST_F(PipelineOnDevice, NeverShowsUntrustedDeflateToNvcomp) {
  testing::TiffBuilder const builder = tiles(kDeflate, {3, 4, 5});
  Opened const opened(builder);
  EnginePlan const plan = plan_device_read(*opened, {.engine = Engine::device});
  EXPECT_EQ(plan.decoder, "host threads");
  test::expect_same_read(*opened, {.bad_tile = BadTile::fill});
}

TEST_F(PipelineOnDevice, WorksInAnyBudgetThatTakesOneTile) {
  Written const written(tiles(kLzw));
  HostArray const wanted = read(*written);
  for (std::uint64_t budget = 1 << 22; budget > 256; budget = budget * 2 / 3) {
    SCOPED_TRACE(budget);
    release_device_memory();
    auto const allocator = std::make_shared<CountingAllocator>();
    DeviceBytes const memory(wanted.bytes().size());
    DeviceView const view{memory.data(), DType::u16, 2, 120, 190, 190 * 120 * 2, 190 * 2, 2};
    ReadRequest const request{.engine = Engine::device, .device_budget_bytes = budget, .device_allocator = allocator};
    std::optional<Error> refused;
    try {
      read_into(*written, request, view);
    } catch (Error const& error) { refused.emplace(error); }
    constexpr std::uint64_t kConstantBytes = 64 << 10;  // bands and maps are no scratch
    EXPECT_LE(allocator->peak_bytes, budget + kConstantBytes);
    if (refused) {
      EXPECT_EQ(refused->kind(), ErrorKind::limit) << refused->what();
      EXPECT_EQ(allocator->allocations, 0) << "refused before anything is taken";
    } else {
      EXPECT_TRUE(std::ranges::equal(memory.back(), wanted.bytes()));
    }
    release_device_memory();
    EXPECT_EQ(allocator->live, 0);
    if (budget < 1000) { EXPECT_TRUE(refused.has_value()); }
  }
}

// nvJPEG reads pinned memory of the host's.
TEST_F(PipelineOnDevice, CountsCompressedJpegInTheMemoryLimit) {
  Dataset const dataset = open((testing::data_folder() / "rgb_jpeg.tif").string());  // four tiles
  ReadRequest request{.engine = Engine::device};
  if (plan_device_read(dataset, request).decoder != "nvJPEG") { GTEST_SKIP() << "no nvJPEG"; }
  ASSERT_EQ(profile_device_read(dataset, request).host_tiles, 0u) << "the host has limits of its own";
  std::uint64_t batches = 0;
  request.progress = [&](std::uint64_t, std::uint64_t) { return ++batches != 0; };
  HostArray const whole = read_device(dataset, request).to_host();
  EXPECT_EQ(batches, 1u);
  request.memory_limit_bytes = 2 * kJpegHeadroomBytes + 1000;
  batches = 0;
  ReadReport report;
  HostArray const parts = read_device(dataset, request, nullptr, &report).to_host();
  EXPECT_GT(batches, 1u);
  EXPECT_EQ(report.tiles, 4u);
  EXPECT_TRUE(std::ranges::equal(whole.bytes(), parts.bytes()));
  request.memory_limit_bytes = kJpegHeadroomBytes;
  EXPECT_EQ(failure_of([&] { (void)read_device(dataset, request); }).kind(), ErrorKind::limit);
}

TEST_F(PipelineOnDevice, TellsProgressUpToTheNumberOfTiles) {
  Written const written(tiles(kPackBits));
  std::uint64_t last = 0, total = 0;
  std::atomic<int> inside{0};
  bool together = false, backwards = false;
  ReadRequest request{.engine = Engine::device};
  request.progress = [&](std::uint64_t done, std::uint64_t of) {
    together = together || inside++ != 0;
    backwards = backwards || done < last;
    last = done;
    total = of;
    --inside;
    return true;
  };
  (void)read_device(*written, request);
  EXPECT_EQ(last, 96u);
  EXPECT_EQ(total, 96u);
  EXPECT_FALSE(together) << "never two at a time";
  EXPECT_FALSE(backwards);
}

TEST_F(PipelineOnDevice, StopsWhenProgressSaysNo) {
  Written const written(tiles(kPackBits));
  ReadRequest request{.engine = Engine::device};
  request.progress = [](std::uint64_t, std::uint64_t) { return false; };
  EXPECT_EQ(failure_of([&] { (void)read_device(*written, request); }).kind(), ErrorKind::cancelled);
  test::expect_same_read(*written, {});  // and the slots are as good as before
}

TEST_F(PipelineOnDevice, PassesTheExceptionOfProgressOn) {
  Written const written(tiles(kPackBits));
  ReadRequest request{.engine = Engine::device};
  request.progress = [](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error("mine"); };
  EXPECT_THROW((void)read_device(*written, request), std::runtime_error);
  test::expect_same_read(*written, {});
}

TEST_F(PipelineOnDevice, StopsWhenItIsCancelled) {
  Written const written(tiles(kPackBits));
  std::atomic<bool> const cancel{true};
  for (Engine const engine : {Engine::device, Engine::host}) {
    ReadRequest request{.engine = engine};
    request.cancel = &cancel;
    EXPECT_EQ(failure_of([&] { (void)read_device(*written, request); }).kind(), ErrorKind::cancelled);
  }
  test::expect_same_read(*written, {});
}

// A tile larger than a pinned chunk comes in pieces.
TEST_F(PipelineOnDevice, ReadsTilesLargerThanAChunk) {
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    ImageSpec spec{.width = 3000, .height = 3001, .rows_per_strip = 2500, .compression = compression};
    Written const written(image<std::uint8_t>(spec));
    test::expect_same_read(*written, {});
    test::expect_same_read(*written, {.window = Window{100, 2400, 2000, 200}});
  }
}

TEST_F(PipelineOnDevice, ReadsManyTinyTiles) {
  ImageSpec const spec{.width = 4096, .height = 600, .tile_width = 16, .tile_height = 16, .compression = kPackBits};
  Written const written(image<std::uint8_t>(spec));
  test::expect_same_read(*written, {});
}

// Needs tests/device/default_stream_guard.cpp preloaded, and therefore a shared CUDA runtime. With
// TERRAZZO_EXPECT_STREAM_GUARD set, a missing guard or GPU is a failure instead of a skip.
class PipelineUnderGuard : public test::OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    waits_ = reinterpret_cast<std::uint64_t (*)()>(dlsym(RTLD_DEFAULT, "terrazzo_guarded_waits"));
    if (std::getenv("TERRAZZO_EXPECT_STREAM_GUARD") != nullptr) {
      ASSERT_FALSE(IsSkipped()) << "a GPU was promised";
      ASSERT_NE(waits_, nullptr) << "default_stream_guard was promised, and is not loaded";
    } else if (waits_ == nullptr && !IsSkipped()) {
      GTEST_SKIP() << "nobody counts: default_stream_guard is not loaded";
    }
  }

  struct Counts {
    std::uint64_t tiles = 0, batches = 0, waits = 0;
  };

  // Of a read like one that went before it.
  Counts counts_of(Dataset const& dataset, ReadRequest request) const {
    request.engine = Engine::device;
    (void)read_device(dataset, request);
    Counts counts;
    request.progress = [&](std::uint64_t, std::uint64_t) { return ++counts.batches != 0; };
    ReadReport report;
    // Waits that our code counts, and others, which the preloaded library counts.
    std::uint64_t const before = gpu::host_waits() + waits_();
    (void)read_device(dataset, request, nullptr, &report);
    counts.waits = gpu::host_waits() + waits_() - before;
    counts.tiles = report.tiles;
    return counts;
  }

  std::uint64_t (*waits_)() = nullptr;
};

TEST_F(PipelineUnderGuard, WaitsForBatchesAndNeverForATile) {
  struct {
    std::uint16_t compression;
    bool strict;  // decoded by the host's threads
  } const ways[] = {{kNone, false}, {kPackBits, false}, {kLzw, false}, {kDeflate, false}, {kPackBits, true}};
  // Result, fill and the read's own stream; a batch's end, its slot's, and its pinned chunk's.
  constexpr std::uint64_t kPerRead = 6, kPerBatch = 3;
  for (auto const& way : ways) {
    for (std::uint32_t const side : {256u, 512u}) {
      SCOPED_TRACE(::testing::Message() << "compression " << way.compression << (way.strict ? ", strict, " : ", ")
                                        << side << " px");
      ImageSpec spec{
          .width = side, .height = side, .tile_width = 16, .tile_height = 16, .compression = way.compression};
      spec.edit = [&](std::uint64_t, Bytes& bytes) {
        if (way.compression == kLzw) { bytes = testing::lzw_stream(bytes); }
        if (way.compression == kDeflate) { bytes = zlib_stored(bytes); }
      };
      Counts const counts = counts_of(*Written(image<std::uint8_t>(spec)), {.strict = way.strict});
      EXPECT_EQ(counts.tiles, side * side / 256);
      EXPECT_LE(counts.batches, 10u) << "of tiles for which a wait each would be seen";
      EXPECT_GT(counts.waits, counts.batches) << "or nobody counts";
      EXPECT_LE(counts.waits, kPerRead + kPerBatch * counts.batches);
    }
  }
}

}  // namespace
}  // namespace terrazzo::reading
