// SPDX-License-Identifier: Apache-2.0
//
// The public functions, in builds with CUDA and without, on machines with a GPU and without.
#include "terrazzo/device.hpp"
#include "terrazzo/profile.hpp"

#include "read/device/device_fixture.hpp"
#include "read/device/engine.hpp"
#include "read/images.hpp"
#include "support/data_folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

namespace terrazzo::reading {
namespace {

ImageSpec tiled() {
  return {.width = 90, .height = 70, .bands = 2, .tile_width = 16, .tile_height = 16, .compression = kPackBits};
}

// Memory that no read gets as far as to write to.
std::byte nowhere[16];

DeviceView view_of(Dataset const& dataset, ReadRequest const& request, void* data) {
  ReadPlan const plan = terrazzo::plan(dataset, request);
  auto const sample = static_cast<std::int64_t>(size_bytes(plan.dtype()));
  std::int64_t const row = sample * plan.width();
  return {data,          plan.dtype(), static_cast<std::uint32_t>(plan.bands().size()),
          plan.height(), plan.width(), row * plan.height(),
          row,           sample};
}

// ---------------------------------------------------------------------------------------------------------------
// Without a GPU

TEST(DeviceReadWithoutAGpu, IsAnErrorThatSaysWhyAndNamesTheFile) {
  DeviceState const state = device_state();
  if (state.usable) { GTEST_SKIP() << "there is a GPU: " << state.name; }
  EXPECT_FALSE(state.reason.empty());
  ErrorKind const kind = state.built ? ErrorKind::device : ErrorKind::unsupported;
  Opened const opened(image<std::uint8_t>(tiled()));
  DeviceView const view = view_of(*opened, {}, nowhere);
  WindowOf const window{*opened, {0, 0, 90, 70}};
  for (Engine const engine : {Engine::automatic, Engine::host, Engine::device}) {
    ReadRequest const request{.engine = engine};
    Error const errors[] = {
        failure_of([&] { (void)read_device(*opened, request); }),
        failure_of([&] { read_into(*opened, request, view); }),
        failure_of([&] { read_pieces(*opened, request, 90 * 2, [](DeviceView const&, std::uint32_t) { FAIL(); }); }),
        failure_of([&] { (void)profile_device_read(*opened, request); }),
        failure_of([&] {
          read_windows({&window, 1}, request, {view, 1, 90 * 70 * 2});
        }),
        failure_of([&] {
          (void)read_windows_device({&window, 1}, request);
        })};
    for (Error const& error : errors) { EXPECT_EQ(error.kind(), kind) << error.what(); }
    EXPECT_EQ(errors[0].where().source, "memory.tif");
    EXPECT_EQ(errors[1].where().source, "memory.tif");
  }
  EXPECT_NO_THROW(release_device_memory());
  EXPECT_NO_THROW(reset_device_memory_peak());
  EXPECT_EQ(device_memory_use().used_bytes, 0u);
  EXPECT_EQ(device_memory_use().peak_bytes, 0u);
}

TEST(DeviceReadWithoutAGpu, LeavesHostReadsAlone) {
  Opened const opened(image<std::uint8_t>(tiled()));
  EXPECT_EQ(values_of<std::uint8_t>(read(*opened)), expected<std::uint8_t>({0, 0, 90, 70}, {1, 2}));
}

TEST(DeviceReadWithoutAGpu, PlansTheHostAndSaysWhy) {
  DeviceState const state = device_state();
  if (state.usable) { GTEST_SKIP() << "there is a GPU: " << state.name; }
  Opened const opened(image<std::uint8_t>(tiled()));
  EnginePlan const plan = plan_device_read(*opened);
  EXPECT_EQ(plan.engine, Engine::host);
  EXPECT_EQ(plan.decoder, "host threads");
  EXPECT_EQ(plan.reason, state.reason);
}

// ---------------------------------------------------------------------------------------------------------------
// What is refused before a device is asked for

TEST(DeviceReadInto, RefusesADestinationThatIsNotTheResult) {
  Opened const opened(image<std::uint8_t>(tiled()));
  DeviceView const good = view_of(*opened, {}, nowhere);
  DeviceView no_memory = good, bands = good, height = good, width = good, one_row = good;
  no_memory.data = nullptr;
  bands.bands = 3;
  height.height -= 1;
  width.width += 1;
  one_row.row_stride_bytes = 0;
  for (DeviceView const& view : {no_memory, bands, height, width, one_row}) {
    EXPECT_EQ(failure_of([&] { read_into(*opened, {}, view); }).kind(), ErrorKind::usage);
  }
  EXPECT_EQ(failure_of([&] { read_into(*opened, {.dtype = DType::f32}, good); }).kind(), ErrorKind::usage)
      << "the request wants another type than the view holds";
  EXPECT_EQ(failure_of([&] { read_into(*opened, {.bands = {3}}, good); }).kind(), ErrorKind::usage);
}

TEST(ReadWindows, RefusesWhatDoesNotFit) {
  Opened const opened(image<std::uint8_t>(tiled()));
  WindowOf const windows[] = {{*opened, {0, 0, 10, 10}}, {*opened, {80, 60, 10, 10}}};
  DeviceView const item = view_of(*opened, {.window = Window{0, 0, 10, 10}}, nowhere);
  DeviceBatchView const batch{item, 2, 200};
  auto const kind = [](auto const& f) { return failure_of(f).kind(); };
  EXPECT_EQ(kind([&] { read_windows(windows, {}, {item, 3, 200}); }), ErrorKind::usage) << "too few windows";
  EXPECT_EQ(kind([&] { read_windows(windows, {.window = Window{0, 0, 10, 10}}, batch); }), ErrorKind::usage);
  EXPECT_EQ(kind([&] { read_windows(windows, {.target_size = TargetSize{5, 5}}, batch); }), ErrorKind::usage);
  EXPECT_EQ(kind([&] { read_windows(windows, {}, {item, 2, 0}); }), ErrorKind::usage) << "two items at one address";
  WindowOf const outside[] = {windows[0], {*opened, {81, 60, 10, 10}}};
  EXPECT_EQ(kind([&] { read_windows(outside, {}, batch); }), ErrorKind::usage);
  WindowOf const other_size[] = {windows[0], {*opened, {0, 0, 10, 9}}};
  EXPECT_EQ(kind([&] { read_windows(other_size, {}, batch); }), ErrorKind::usage);
}

TEST(ReadWindows, OfNoneDoNothing) {
  ReadReport report;
  report.tiles = 7;
  EXPECT_NO_THROW(read_windows({}, {}, {}, nullptr, &report));
  EXPECT_EQ(report.tiles, 0u);
}

TEST(ReadWindowsDevice, RefusesWindowsThatAreNotOneTensor) {
  Opened const opened(image<std::uint8_t>(tiled()));
  Opened const other_type(image<float>(tiled()));
  ImageSpec more_bands = tiled();
  more_bands.bands = 3;
  Opened const other_bands(image<std::uint8_t>(more_bands));
  auto const kind = [](std::vector<WindowOf> const& windows, ReadRequest const& request = {}) {
    return failure_of([&] { (void)read_windows_device(windows, request); }).kind();
  };
  WindowOf const first{*opened, {0, 0, 10, 10}};
  EXPECT_EQ(kind({}), ErrorKind::usage) << "no windows, no shape";
  EXPECT_EQ(kind({first}, {.window = Window{0, 0, 10, 10}}), ErrorKind::usage);
  EXPECT_EQ(kind({first}, {.target_size = TargetSize{5, 5}}), ErrorKind::usage);
  EXPECT_EQ(kind({first}, {.bands = {3}}), ErrorKind::usage);
  EXPECT_EQ(kind({first, {*opened, {81, 60, 10, 10}}}), ErrorKind::usage) << "outside";
  EXPECT_EQ(kind({first, {*opened, {0, 0, 10, 9}}}), ErrorKind::usage);
  EXPECT_EQ(kind({first, {*opened, {0, 0, 9, 10}}}), ErrorKind::usage);
  EXPECT_EQ(kind({first, {*other_bands, {0, 0, 10, 10}}}), ErrorKind::usage);
  EXPECT_EQ(kind({first, {*other_type, {0, 0, 10, 10}}}), ErrorKind::usage) << "nobody said which type";
}

TEST(ReadPieces, RefusesATargetSizeAndPiecesSmallerThanARow) {
  Opened const opened(image<std::uint8_t>(tiled()));
  auto const piece = [](DeviceView const&, std::uint32_t) { FAIL(); };
  EXPECT_EQ(failure_of([&] {
              read_pieces(*opened, {.target_size = TargetSize{5, 5}}, 1000, piece);
            }).kind(),
            ErrorKind::usage);
  Error const error = failure_of([&] { read_pieces(*opened, {}, 90 * 2 - 1, piece); });
  EXPECT_EQ(error.kind(), ErrorKind::limit);
  EXPECT_EQ(error.where().source, "memory.tif");
}

TEST(PlanDeviceRead, NamesTheDecoderOfAForcedRead) {
  ImageSpec spec = tiled();
  auto const decoder = [&](std::uint16_t compression, Engine engine) {
    spec.compression = compression;
    return plan_device_read(*Opened(image<std::uint8_t>(spec)), {.engine = engine});
  };
  EXPECT_EQ(decoder(kPackBits, Engine::device).decoder, "PackBits kernel");
  EXPECT_EQ(decoder(kNone, Engine::device).decoder, "copy");
  EXPECT_EQ(decoder(kPackBits, Engine::host).decoder, "host threads");
  EXPECT_EQ(decoder(kPackBits, Engine::host).engine, Engine::host);
  EnginePlan const strict =
      plan_device_read(*Opened(image<std::uint8_t>(spec)), {.strict = true, .engine = Engine::device});
  EXPECT_EQ(strict.decoder, "host threads");
  EXPECT_NE(strict.reason.find("strict"), std::string::npos) << strict.reason;
}

TEST(DeviceState, TellsOfLibrariesWhereTheEngineIsBuilt) {
  DeviceState const state = device_state();
  EXPECT_EQ(state.libraries.empty(), !state.built);
  for (DeviceLibrary const& library : state.libraries) {
    EXPECT_FALSE(library.purpose.empty());
    EXPECT_EQ(library.found, library.hint.empty()) << library.name;
  }
}

// ---------------------------------------------------------------------------------------------------------------
// With a GPU

using DeviceRead = test::OnDevice;

TEST_F(DeviceRead, GivesTheHostsPixelsForEveryTestFile) {
  std::size_t files = 0;
  for (auto const& entry : std::filesystem::directory_iterator(testing::data_folder())) {
    if (entry.path().extension() != ".tif") { continue; }
    SCOPED_TRACE(entry.path().filename().string());
    Dataset const dataset = open(entry.path().string());
    ++files;
    Info const& info = dataset.info();
    Window const inner{info.width / 3, info.height / 3, std::max(1u, info.width / 2), std::max(1u, info.height / 2)};
    ReadRequest const requests[] = {{.exact = true},
                                    {.window = inner, .bands = {1}, .dtype = DType::f32, .exact = true},
                                    {.masked = true, .unpack = true, .exact = true},
                                    {.target_size = TargetSize{info.width / 2 + 1, info.height / 3 + 1}, .exact = true},
                                    {.target_size = TargetSize{info.width + 5, 9}, .masked = true, .exact = true}};
    for (ReadRequest const& request : requests) { test::expect_same_read(dataset, request); }
    for (std::uint32_t level = 1; level <= info.overviews.size(); ++level) {
      test::expect_same_read(dataset, {.level = level, .masked = true, .exact = true});
    }
  }
  EXPECT_GE(files, 20u);
}

TEST_F(DeviceRead, TellsWhereItsArrayIs) {
  Opened const opened(image<std::uint8_t>(tiled()));
  DeviceArray const array = read_device(*opened, {.bands = {2}, .engine = Engine::device});
  EXPECT_EQ(array.device(), device_state().device);
  EXPECT_EQ(array.bands(), 1u);
  EXPECT_EQ(array.height(), 70u);
  EXPECT_EQ(array.width(), 90u);
  EXPECT_EQ(values_of<std::uint8_t>(array.to_host()), expected<std::uint8_t>({0, 0, 90, 70}, {2}));
}

TEST_F(DeviceRead, IsTheSameByEitherEngine) {
  Opened const opened(image<float>(tiled()));
  for (Engine const engine : {Engine::automatic, Engine::host, Engine::device}) {
    EXPECT_EQ(values_of<float>(read_device(*opened, {.engine = engine}).to_host()),
              expected<float>({0, 0, 90, 70}, {1, 2}));
  }
}

TEST_F(DeviceRead, TakesRepeatedAndOverlappingWindowsOfTwoFilesAndTileFormats) {
  ImageSpec spec = tiled();
  Opened const first(image<std::uint16_t>(spec));
  Opened const second(image<std::uint16_t>(spec, [](std::uint32_t b, std::uint32_t r, std::uint32_t c) {
    return static_cast<std::uint16_t>(1000 + value_at<std::uint16_t>(b, r, c));
  }));
  spec.compression = kNone;
  spec.tile_width = spec.tile_height = 32;
  Opened const third(image<std::uint16_t>(spec));
  std::vector<WindowOf> windows;
  for (std::uint32_t i = 0; i < 40; ++i) {
    Dataset const& from = i % 3 == 0 ? *first : i % 3 == 1 ? *second : *third;
    windows.push_back({from, {i % 5 * 13, i % 4 * 9, 30, 20}});
  }
  constexpr std::size_t kItem = 2 * 20 * 30 * 2;
  auto const memory = allocate_result(kItem * windows.size(), {});
  DeviceView const item = view_of(*first, {.window = Window{0, 0, 30, 20}}, memory->data());
  for (Engine const engine : {Engine::device, Engine::host}) {
    ReadReport report;
    read_windows(windows, {.engine = engine}, {item, static_cast<std::uint32_t>(windows.size()), kItem}, nullptr,
                 &report);
    std::vector<std::byte> got(kItem * windows.size());
    copy_to_host(memory->data(), got, 0, nullptr);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      HostArray const wanted = read(windows[i].dataset, {.window = windows[i].window});
      EXPECT_EQ(std::memcmp(got.data() + i * kItem, wanted.bytes().data(), kItem), 0) << "window " << i;
    }
    if (engine == Engine::device) {
      EXPECT_LE(report.tiles, 30u + 30u + 9u) << "each tile once, however many windows it is in";
    }
  }
}

TEST_F(DeviceRead, GivesOneTensorOfWindowsOfFilesOfTwoTypes) {
  Opened const bytes(image<std::uint8_t>(tiled()));
  Opened const floats(image<float>(tiled()));
  std::vector<WindowOf> windows;
  for (std::uint32_t i = 0; i < 9; ++i) { windows.push_back({i % 2 == 0 ? *bytes : *floats, {i * 5, i * 4, 30, 20}}); }
  for (Engine const engine : {Engine::automatic, Engine::device, Engine::host}) {
    ReadReport report;
    DeviceBatch const batch =
        read_windows_device(windows, {.bands = {2, 1}, .dtype = DType::i32, .engine = engine}, nullptr, &report);
    EXPECT_EQ(batch.device(), device_state().device);
    EXPECT_EQ(batch.size_bytes(), 9u * 2 * 20 * 30 * 4);
    EXPECT_GT(report.tiles, 0u);
    ASSERT_EQ(batch.count(), 9u);
    for (std::uint32_t i = 0; i < batch.count(); ++i) {
      DeviceArray const item = batch.item(i);
      EXPECT_EQ(item.dtype(), DType::i32);
      EXPECT_EQ(values_of<std::int32_t>(item.to_host()), expected<std::int32_t>(windows[i].window, {2, 1}))
          << "window " << i;
    }
  }
}

TEST_F(DeviceRead, InPiecesIsTheWholeFromTopToBottom) {
  Opened const opened(image<std::uint16_t>(tiled()));
  Window const window{7, 5, 60, 60};
  HostArray const whole = read(*opened, {.window = window});
  constexpr std::size_t kRow = 60 * 2;
  for (std::uint64_t const rows : {1u, 3u, 16u, 20u, 33u, 1000u}) {
    SCOPED_TRACE(rows);
    std::vector<std::byte> got(whole.bytes().size());
    std::uint32_t next = 0;
    ReadReport report;
    read_pieces(
        *opened, {.window = window, .engine = Engine::device}, rows * kRow * 2,
        [&](DeviceView const& view, std::uint32_t first_row) {
          EXPECT_EQ(first_row, next);
          EXPECT_LE(view.height, rows);
          std::vector<std::byte> piece(std::size_t{view.bands} * view.height * kRow);
          copy_to_host(view.data, piece, 1, nullptr);
          for (std::uint32_t band = 0; band < 2; ++band) {
            std::memcpy(got.data() + (band * 60 + first_row) * kRow, piece.data() + band * view.height * kRow,
                        view.height * kRow);
          }
          next += view.height;
        },
        nullptr, &report);
    EXPECT_EQ(next, 60u);
    EXPECT_TRUE(std::ranges::equal(got, whole.bytes()));
    EXPECT_GT(report.tiles, 0u);
  }
}

TEST_F(DeviceRead, InPiecesTellsOfProgressOnceFromTheTopToTheBottom) {
  Opened const opened(image<std::uint16_t>(tiled()));
  std::uint64_t const tiles = make_plan(opened->shared_impl(), {})->block_count();
  for (Engine const engine : {Engine::device, Engine::host}) {
    std::vector<std::uint64_t> told;
    ReadRequest request{.engine = engine};
    request.progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(total, tiles);
      told.push_back(done);
      return true;
    };
    read_pieces(*opened, request, 20 * 90 * 2 * 2, [](DeviceView const&, std::uint32_t) {});
    ASSERT_GT(told.size(), 1u);
    EXPECT_TRUE(std::ranges::is_sorted(told));
    EXPECT_EQ(told.back(), tiles);
  }
}

TEST_F(DeviceRead, TellsOfTheMemoryOfLivingResultsAndOfThePeak) {
  Opened const opened(image<std::uint16_t>(tiled()));
  release_device_memory();
  reset_device_memory_peak();
  std::uint64_t const before = device_memory_use().used_bytes;
  {
    DeviceArray const array = read_device(*opened, {.engine = Engine::device});
    EXPECT_GE(device_memory_use().used_bytes, before + array.size_bytes());
  }
  release_device_memory();
  // Memory is freed in the order of streams that go on by themselves.
  for (int i = 0; i < 1000 && device_memory_use().used_bytes > before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LE(device_memory_use().used_bytes, before);
  EXPECT_GT(device_memory_use().peak_bytes, before);
}

TEST_F(DeviceRead, RefusesAResultLargerThanTheDevice) {
  ImageSpec const spec{.width = 1, .height = 1, .tile_width = 16, .tile_height = 16, .compression = kPackBits};
  Opened const opened(image<std::uint8_t>(spec));
  ReadRequest request{.target_size = TargetSize{4000000, 1000000}, .engine = Engine::device};
  request.memory_limit_bytes = std::uint64_t{1} << 30;
  EXPECT_EQ(failure_of([&] { (void)read_device(*opened, request); }).kind(), ErrorKind::limit);
}

}  // namespace
}  // namespace terrazzo::reading
