// SPDX-License-Identifier: Apache-2.0
//
// A write that fails anywhere: the failure is told, the old file stays whole, nothing else is left.
#include "support/child_process.hpp"
#include "support/fault_injection.hpp"
#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"
#include "test_image.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>

namespace terrazzo::writing {
namespace {

using terrazzo::testing::count_temporary;
using terrazzo::testing::FailingCalls;
using terrazzo::testing::Fault;
using terrazzo::testing::file_bytes;
using terrazzo::testing::TempFolder;

Image& image() {
  static Image one = [] {
    Image made = make_image(DType::u16, 1, 150, 140);
    add_mask(made);
    return made;
  }();
  return one;
}

WriteOptions file_options(bool cog, SpoolWay way = SpoolWay::automatic, std::uint64_t spool_bytes = 1 << 20) {
  WriteOptions options;
  options.dtype = DType::u16;
  options.mask = true;
  options.tile_size = {32, 32};
  options.compression = Compression::none;
  options.cog = cog;
  options.spool_way = way;
  options.spool_bytes = spool_bytes;
  options.durability = Durability::fsync;
  options.threads = 2;
  return options;
}

void write_all(std::shared_ptr<ByteSink> sink, WriteOptions const& options) {
  Writer writer = create(std::move(sink), image().width, image().height, options);
  HostView const mask = image().mask_view();
  write_rows(writer, image().view(), &mask, steps(image().height, 40));
  writer.close();
}

std::vector<std::byte> expected(WriteOptions options) {
  options.spool_way = SpoolWay::memory;
  std::vector<std::byte> bytes;
  write_all(memory_sink(bytes), options);
  return bytes;
}

struct Stop : std::exception {
  [[nodiscard]] char const* what() const noexcept override { return "the sink has had enough"; }
};

TEST(WriterFaults, PassesOnWhatASinkThrowsAtAnyWrite) {
  for (bool const cog : {false, true}) {
    for (bool const seekable : {false, true}) {
      for (std::uint64_t const spool_bytes : {0U, 1U << 20}) {
        int failures = 0;
        for (int n = 0;; ++n) {
          int left = n;
          bool threw = false, written_after = false;
          auto const take = [&] {
            written_after = written_after || threw;
            if (left-- == 0) {
              threw = true;
              throw Stop();
            }
          };
          auto const sink = seekable
                                ? seekable_sink("callback", [&](std::uint64_t, std::span<std::byte const>) { take(); })
                                : append_sink("callback", [&](std::span<std::byte const>) { take(); });
          try {
            write_all(sink, file_options(cog, SpoolWay::automatic, spool_bytes));
            EXPECT_FALSE(threw);
            break;
          } catch (Stop const&) { ++failures; }
          EXPECT_FALSE(written_after) << "something was written after the sink had failed";
        }
        EXPECT_GT(failures, 0);
      }
    }
  }
}

TEST(WriterFaults, RefusesAWriterThatHasFailed) {
  auto const sink = seekable_sink("callback", [](std::uint64_t, std::span<std::byte const>) { throw Stop(); });
  WriteOptions options = file_options(false);
  options.bands = 1;
  Writer writer = create(sink, image().width, image().height, options);
  try {
    writer.write_rows(image().view(), image().mask_view());
    writer.close();  // small files arrive at the end
    FAIL();
  } catch (Stop const&) {}
  try {
    writer.close();
    FAIL();
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::usage); }
}

// Calls without which the work gets done all the same; the first write may be the one that tries out whether bytes can
// be inserted.
bool may_succeed(std::string_view call, int n) {
  return call == "copy_file_range" || call == "fallocate" || call == "flock" || call == "close" || call == "fchmod" ||
         call == "openat" || call == "pread" || (call == "pwrite" && n == 0);
}

TEST(WriterFaults, LeavesTheOldFileOrTheNewOneWhateverCallFails) {
  for (std::string_view const call : {"openat", "flock", "pwrite", "pread", "copy_file_range", "fallocate", "ftruncate",
                                      "fchmod", "fsync", "close", "renameat"}) {
    int struck = 0;
    for (SpoolWay const way : {SpoolWay::automatic, SpoolWay::in_place, SpoolWay::unnamed_file}) {
      for (bool const cog : {false, true}) {
        WriteOptions const options = file_options(cog, way, 10'000);
        std::vector<std::byte> const whole = expected(file_options(cog));
        for (int error : {EIO, ENOSPC}) {
          for (int n = 0; n < 500; ++n) {
            TempFolder const folder;
            std::string const path = folder.path("out.tif");
            folder.write("out.tif", "the old file");
            std::filesystem::permissions(path, std::filesystem::perms{0755});  // to be kept
            std::vector<std::byte> const old = file_bytes(path);
            bool hit = false, failed = false, unsupported = false;
            {
              FailingCalls const calls(Fault{.call = call, .at = n, .error = error});
              try {
                write_all(file_sink(path, Durability::fsync), options);
              } catch (Error const& problem) {
                failed = true;
                unsupported = problem.kind() == ErrorKind::unsupported;
                EXPECT_TRUE(problem.kind() == ErrorKind::io || (unsupported && way == SpoolWay::in_place))
                    << problem.what();
              }
              hit = calls.struck();
            }
            std::vector<std::byte> const now = file_bytes(path);
            EXPECT_TRUE(now == old || now == whole) << call << ' ' << n << ": " << now.size() << " bytes";
            if (!failed) { EXPECT_TRUE(now == whole) << call << ' ' << n; }
            EXPECT_EQ(count_temporary(folder.path("")), 0) << call << ' ' << n;
            if (unsupported || !hit) { break; }
            ++struck;
            if (!may_succeed(call, n)) { EXPECT_TRUE(failed) << call << ' ' << n; }
          }
        }
      }
    }
    // Every kind of call happens in some of these files, except where a file system lacks it.
    if (call != "copy_file_range" && call != "fallocate" && call != "ftruncate") { EXPECT_GT(struck, 0) << call; }
  }
}

// tests/write/sidecars_test.cpp has the states in between.
TEST(WriterFaults, NeverLeavesOldSidecarsBesideNewPixelsWhenItIsKilled) {
  WriteOptions options = file_options(false);
  options.threads = 1;
  bool replaced = false;
  for (int at = 0;; ++at) {
    TempFolder const folder;
    std::string const path = folder.write("out.tif", "old");
    for (char const* suffix : {".ovr", ".msk", ".aux.xml"}) { folder.write("out.tif" + std::string(suffix), "old"); }
    int const code = terrazzo::testing::in_child([&] {
      FailingCalls const calls(Fault{.at = at, .kills = true});
      Writer writer = create(path, image().width, image().height, options);
      writer.write_rows(image().view(), image().mask_view());
      writer.close();
      return 0;
    });
    if (file_bytes(path).size() > 3) {
      replaced = true;
      for (char const* suffix : {".ovr", ".msk", ".aux.xml"}) {
        EXPECT_FALSE(std::filesystem::exists(path + suffix)) << suffix << ", call " << at;
      }
    }
    if (code == 0) { break; }
    ASSERT_EQ(code, terrazzo::testing::kKilled);
  }
  EXPECT_TRUE(replaced);
}

TEST(WriterFaults, WritesOnAfterShortWrites) {
  for (bool const cog : {false, true}) {
    TempFolder const folder;
    {
      FailingCalls const calls(Fault{.call = "pwrite", .short_bytes = 1000});
      write_all(file_sink(folder.path("out.tif")), file_options(cog));
    }
    EXPECT_TRUE(file_bytes(folder.path("out.tif")) == expected(file_options(cog)));
  }
}

TEST(WriterFaults, TellsWhenMemoryForWaitingTilesIsNotEnough) {
  TempFolder const folder;
  try {
    write_all(file_sink(folder.path("out.tif")), file_options(true, SpoolWay::memory, 5000));
    FAIL();
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::limit); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path("")));
}

}  // namespace
}  // namespace terrazzo::writing
