// SPDX-License-Identifier: Apache-2.0
//
// Device writes that the caller or the sink ends early: the error has the reason, all memory is freed, no file is left.
#include "write/device/engine.hpp"

#include "write/device_fixture.hpp"

#include "support/counting_allocator.hpp"
#include "support/temp_folder.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

namespace terrazzo::writing {
namespace {

using DeviceWriterFaults = OnDevice;
using terrazzo::testing::CountingAllocator;
using terrazzo::testing::TempFolder;
using terrazzo::testing::WatchedSink;

TEST_F(DeviceWriterFaults, GivesAllMemoryBackWhenItIsStoppedInFlight) {
  Image image = make_image(DType::f32, 1, 4096, 2048);
  DeviceBytes const device(image.bytes);
  DeviceView const view = on_device(image.view(), image.bytes, device);
  enum class Way : std::uint8_t { abort, destroy, cancel };
  for (Way const way : {Way::abort, Way::destroy, Way::cancel}) {
    auto const allocator = std::make_shared<CountingAllocator>();
    std::atomic<bool> cancel{false};
    std::vector<std::byte> bytes;
    {
      WriteOptions const options = on_the_device(with([&](WriteOptions& o) {
                                                   o.dtype = DType::f32;
                                                   o.tile_size = {64, 64};
                                                   o.level.reset();
                                                   o.device_allocator = allocator;
                                                   o.cancel = &cancel;
                                                   o.progress = [&](std::uint64_t done, std::uint64_t) {
                                                     if (way == Way::cancel && done == 9) { cancel = true; }
                                                     return true;
                                                   };
                                                 }),
                                                 std::uint64_t{16} << 20);
      Writer writer = create(memory_sink(bytes), image.width, image.height, options);
      auto const write_all = [&] {
        writer.write_rows(writing::some_rows(view, 0, 2048));
        if (way == Way::abort) { return writer.abort(); }
        if (way == Way::destroy) { return; }
        writer.write_rows(writing::some_rows(view, 2048, 2048));
        (void)writer.close();
      };
      if (way == Way::cancel) {
        EXPECT_THROW(write_all(), Error);
      } else {
        write_all();
      }
    }
    EXPECT_TRUE(bytes.empty());
    EXPECT_GT(allocator->allocations, 0);
    EXPECT_EQ(allocator->live, 0) << static_cast<int>(way);
  }
}

// The way in which rows are passed, and the memory budget of the engine.
struct Feed {
  char const* name;
  MemoryKind memory;
  std::uint32_t rows_at_once;
  std::uint64_t budget_bytes;
};
constexpr Feed kFeeds[] = {
    {"host rows", MemoryKind::host, 200, std::uint64_t{16} << 20},
    {"device rows", MemoryKind::device, 200, std::uint64_t{16} << 20},
    // Every tile of a COG goes straight to its place, while others are still on the device.
    {"the whole raster on the device", MemoryKind::device, 1024, std::uint64_t{512} << 20},
};

// Writes one raster to sinks that fail.
class FailingSinks : public OnDevice {
 protected:
  // "written", or how it failed.
  static std::string try_to_write(std::shared_ptr<ByteSink> sink, WriteOptions options, Feed const& feed) {
    static Image image = make_image(DType::f32, 1, 1024, 1024);
    DeviceBytes const device(image.bytes);
    DeviceView const view = on_device(image.view(), image.bytes, device);
    auto const allocator = std::make_shared<CountingAllocator>();
    options.dtype = DType::f32;
    options.device_allocator = allocator;
    std::string ending = "written";
    Writer writer = create(std::move(sink), image.width, image.height, on_the_device(options, feed.budget_bytes));
    try {
      std::uint32_t at = 0;
      for (std::uint32_t const rows : steps(image.height, feed.rows_at_once)) {
        if (feed.memory == MemoryKind::host) {
          writer.write_rows(some_rows(image.view(), at, rows));
        } else {
          writer.write_rows(some_rows(view, at, rows));
        }
        at += rows;
      }
      (void)writer.close();
    } catch (Error const& error) {
      ending = std::string(to_string(error.kind())) + ": " + error.message();
    } catch (std::runtime_error const& error) { ending = error.what(); }
    EXPECT_GT(allocator->allocations, 0);
    EXPECT_EQ(allocator->live, 0) << "as soon as it has failed, the writer being alive still";
    return ending;
  }

  // `try_with` writes to a sink that calls the function before each write, with the number of those before it.
  template <class Failure>
  static void fail_at_several_writes(std::function<std::string(WatchedSink::BeforeWrite)> const& try_with,
                                     Failure const& failure, std::string const& ending) {
    int writes = 0;
    ASSERT_EQ(try_with([&](int) { ++writes; }), "written");
    ASSERT_GT(writes, 0);
    for (int const at : std::set{0, writes / 3, writes / 2, writes - 1}) {
      SCOPED_TRACE(::testing::Message() << "write " << at << " of " << writes);
      int last = -1;
      EXPECT_EQ(try_with([&](int earlier) {
                  last = earlier;
                  if (earlier == at) { throw failure; }
                }),
                ending);
      EXPECT_EQ(last, at) << "nothing is written after a failure";
    }
  }
};

TEST_F(FailingSinks, EndTheWriteWithWhatTheyThrowAndLeaveNothing) {
  for (Compression const compression : {Compression::none, Compression::deflate, Compression::zstd}) {
    for (bool const cog : {false, true}) {
      for (Feed const& feed : kFeeds) {
        SCOPED_TRACE(std::string(to_string(compression)) + (cog ? " COG, " : ", ") + feed.name);
        WriteOptions const options = with([&](WriteOptions& o) {
          o.compression = compression;
          o.cog = cog;
          o.tile_size = {64, 64};
          o.level.reset();
        });
        auto const to_file = [&](WatchedSink::BeforeWrite const& before_write) {
          TempFolder const folder;
          std::string const path = folder.path("out.tif");
          std::string const ending =
              try_to_write(std::make_shared<WatchedSink>(file_sink(path), before_write), options, feed);
          bool const is_empty = std::filesystem::is_empty(folder.path(""));
          EXPECT_EQ(is_empty, ending != "written");
          return ending;
        };
        fail_at_several_writes(to_file, Error(ErrorKind::io, "the disk is full"), "io: the disk is full");
        auto const to_callback = [&](WatchedSink::BeforeWrite const& before_write) {
          int writes = 0;
          auto const take = [&](std::uint64_t, std::span<std::byte const>) { before_write(writes++); };
          return try_to_write(seekable_sink("narrow", take), options, feed);
        };
        fail_at_several_writes(to_callback, std::runtime_error("too narrow"), "too narrow");
        if (HasFailure()) { return; }
      }
    }
  }
}

TEST_F(DeviceWriterFaults, IsCancelledByItsFlagAndByItsProgress) {
  Image image = make_image(DType::f32, 1, 512, 512);
  std::atomic<bool> cancel{true};
  WriteOptions options = on_the_device(with([&](WriteOptions& o) { o.cancel = &cancel; }));
  options.dtype = DType::f32;
  std::vector<std::byte> bytes;
  auto const kind_of = [&](WriteOptions const& chosen) {
    try {
      (void)write(memory_sink(bytes), image.view(), chosen);
    } catch (Error const& error) { return error.kind(); }
    return ErrorKind::usage;
  };
  EXPECT_EQ(kind_of(options), ErrorKind::cancelled);
  options.cancel = nullptr;
  options.progress = [](std::uint64_t done, std::uint64_t) { return done < 3; };
  EXPECT_EQ(kind_of(options), ErrorKind::cancelled);
  EXPECT_TRUE(bytes.empty());
}

}  // namespace
}  // namespace terrazzo::writing
