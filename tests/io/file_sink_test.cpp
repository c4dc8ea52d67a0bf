// SPDX-License-Identifier: Apache-2.0
#include "io/file_sink.hpp"

#include "support/child_process.hpp"
#include "support/fault_injection.hpp"
#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace terrazzo::io {
namespace {

using testing::byte_pattern;
using testing::count_temporary;
using testing::FailingCalls;
using testing::Fault;
using testing::file_bytes;
using testing::in_child;
using testing::TempFolder;

void write_file(std::string const& path, std::span<std::byte const> bytes, Durability durability = Durability::none) {
  FileSink sink(path, durability);
  sink.open();
  sink.write_at(0, bytes);
  sink.publish(bytes.size());
}

mode_t mode_of(std::string const& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777u;
}

Error failure_of(std::function<void()> const& action) {
  try {
    action();
  } catch (Error const& error) { return error; }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::device, "");
}

Error open_failure(std::string const& path) {
  return failure_of([&] { FileSink(path, Durability::none).open(); });
}

class FileSinkTest : public ::testing::Test {
 protected:
  TempFolder folder_;
  std::string const path_ = folder_.path("dem.tif");
  std::string const folder_path_ = folder_.path("");
  std::vector<std::byte> const old_ = byte_pattern(5000, 7);
  std::vector<std::byte> const new_ = byte_pattern(3'000'000, 1);
};

TEST_F(FileSinkTest, KeepsTheOldFileUntilTheNewOneIsPublished) {
  folder_.write("dem.tif", old_);
  FileSink sink(path_, Durability::fsync);
  EXPECT_EQ(count_temporary(folder_path_), 0);
  sink.open();
  EXPECT_TRUE(std::filesystem::exists(folder_.path(".dem.tif.0.terrazzo-tmp")));
  sink.write_at(0, new_);
  EXPECT_TRUE(file_bytes(path_) == old_);
  sink.publish(new_.size());
  EXPECT_TRUE(file_bytes(path_) == new_);
  EXPECT_EQ(count_temporary(folder_path_), 0);
  EXPECT_EQ(sink.name(), path_);
}

TEST_F(FileSinkTest, LeavesNoTraceWhenDiscardedOrDropped) {
  folder_.write("dem.tif", old_);
  FileSink sink(path_, Durability::none);
  sink.open();
  sink.write_at(0, new_);
  sink.discard();
  EXPECT_EQ(count_temporary(folder_path_), 0);
  sink.discard();
  {
    FileSink dropped(path_, Durability::none);
    dropped.open();
    dropped.write_at(17, new_);
  }
  EXPECT_EQ(count_temporary(folder_path_), 0);
  EXPECT_TRUE(file_bytes(path_) == old_);
}

TEST_F(FileSinkTest, SetsTheSizeWhenPublished) {
  for (std::size_t const size : {std::size_t{0}, std::size_t{1}, std::size_t{1234}, std::size_t{20'000}}) {
    FileSink sink(path_, Durability::none);
    sink.open();
    sink.write_at(0, old_);
    sink.publish(size);
    std::vector<std::byte> expected = old_;
    expected.resize(size);
    EXPECT_TRUE(file_bytes(path_) == expected) << size;
  }
}

TEST_F(FileSinkTest, GivesNewFilesTheirModeByTheUmask) {
  for (mode_t const mask : {mode_t{022}, mode_t{027}, mode_t{0}}) {
    std::filesystem::remove(path_);
    mode_t const before = umask(mask);
    write_file(path_, old_);
    umask(before);
    EXPECT_EQ(mode_of(path_), 0666u & ~mask);
  }
}

TEST_F(FileSinkTest, KeepsTheModeOfAFileItReplaces) {
  mode_t const before = umask(077);
  for (mode_t const mode : {mode_t{0600}, mode_t{0664}, mode_t{0755}}) {
    folder_.write("dem.tif", old_);
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    FileSink sink(path_, Durability::none);
    sink.open();
    EXPECT_EQ(mode_of(folder_.path(".dem.tif.0.terrazzo-tmp")), mode);
    sink.publish(0);
    EXPECT_EQ(mode_of(path_), mode);
  }
  umask(before);
}

// A file of somebody else, or of another group, was given its permissions under other circumstances.
TEST_F(FileSinkTest, KeepsNoPrivilegesAndNoRightsGivenByAnotherOwner) {
  struct Case {
    mode_t old;
    uid_t owner;
    gid_t group;
    mode_t then;
  };
  constexpr uid_t kStranger = 65534;
  uid_t const me = geteuid();
  gid_t const mine = getegid();
  std::vector<Case> cases{{06775, me, mine, 0775}, {01777, me, mine, 0777}};
  if (me == 0) {
    for (Case const& more : {Case{04777, kStranger, kStranger, 0644}, Case{06755, kStranger, mine, 0644},
                             Case{0666, me, kStranger, 0644}, Case{0600, kStranger, kStranger, 0600}}) {
      cases.push_back(more);
    }
  }
  mode_t const before = umask(022);
  for (auto const& [old, owner, group, then] : cases) {
    std::filesystem::remove(path_);
    folder_.write("dem.tif", old_);
    ASSERT_EQ(chown(path_.c_str(), owner, group), 0);
    ASSERT_EQ(chmod(path_.c_str(), old), 0);
    FileSink sink(path_, Durability::none);
    sink.open();
    EXPECT_EQ(mode_of(folder_.path(".dem.tif.0.terrazzo-tmp")), then);
    sink.publish(0);
    EXPECT_EQ(mode_of(path_), then);
  }
  umask(before);
}

TEST_F(FileSinkTest, TellsWhenItsTemporaryFileWasExchanged) {
  folder_.write("dem.tif", old_);
  FileSink sink(path_, Durability::none);
  sink.open();
  sink.write_at(0, new_);
  std::filesystem::remove(folder_.path(".dem.tif.0.terrazzo-tmp"));
  folder_.write(".dem.tif.0.terrazzo-tmp", "theirs");
  Error const error = failure_of([&] { sink.publish(new_.size()); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_NE(error.message().find("removed or replaced"), std::string::npos) << error.message();
  EXPECT_TRUE(file_bytes(path_) == old_);
}

TEST_F(FileSinkTest, RefusesPipesAndLinksOfStrangersInStickyFolders) {
  if (geteuid() != 0) { GTEST_SKIP() << "only root gives files away"; }
  ASSERT_EQ(chmod(folder_path_.c_str(), 01777), 0);
  folder_.write("precious.tif", old_);
  std::filesystem::create_symlink("precious.tif", path_);
  ASSERT_EQ(lchown(path_.c_str(), 65534, 65534), 0);
  ASSERT_EQ(mkfifo(folder_.path("pipe").c_str(), 0666), 0);
  ASSERT_EQ(chown(folder_.path("pipe").c_str(), 65534, 65534), 0);
  for (std::string const& path : {path_, folder_.path("pipe")}) {
    Error const error = open_failure(path);
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(error.message().find("another user"), std::string::npos) << error.message();
  }
  EXPECT_TRUE(file_bytes(folder_.path("precious.tif")) == old_);
}

TEST_F(FileSinkTest, ReplacesTheVeryNameThatItIsGiven) {
  folder_.write("far.tif", old_);
  std::filesystem::create_symlink("far.tif", path_);
  std::vector<Place> places = find_target(path_).places;
  ASSERT_EQ(places.size(), 2U);
  FileSink sink(std::move(places.front()), Durability::none);
  sink.open();
  sink.write_at(0, new_);
  sink.publish(new_.size());
  EXPECT_FALSE(std::filesystem::is_symlink(path_));
  EXPECT_TRUE(file_bytes(path_) == new_);
  EXPECT_TRUE(file_bytes(folder_.path("far.tif")) == old_);
}

TEST_F(FileSinkTest, WritesWhatALinkLeadsTo) {
  std::filesystem::create_directory(folder_.path("far"));
  folder_.write("far/old.tif", old_);
  std::filesystem::create_symlink("far/old.tif", folder_.path("one.tif"));
  std::filesystem::create_symlink(folder_.path("one.tif"), folder_.path("two.tif"));
  std::filesystem::create_symlink("far/none.tif", folder_.path("three.tif"));
  write_file(folder_.path("two.tif"), new_);
  write_file(folder_.path("three.tif"), new_);
  EXPECT_TRUE(file_bytes(folder_.path("far/old.tif")) == new_);
  EXPECT_TRUE(file_bytes(folder_.path("far/none.tif")) == new_);
  for (char const* const link : {"one.tif", "two.tif", "three.tif"}) {
    EXPECT_TRUE(std::filesystem::is_symlink(folder_.path(link))) << link;
  }
  std::filesystem::create_symlink("circle.tif", folder_.path("circle.tif"));
  EXPECT_EQ(open_failure(folder_.path("circle.tif")).kind(), ErrorKind::io);
}

TEST_F(FileSinkTest, RefusesWhatCannotBeAFile) {
  EXPECT_EQ(open_failure(folder_path_).kind(), ErrorKind::usage);
  EXPECT_EQ(open_failure(folder_.path(".")).kind(), ErrorKind::usage);
  EXPECT_EQ(open_failure(folder_.path("none/")).kind(), ErrorKind::usage);
  EXPECT_EQ(open_failure("").kind(), ErrorKind::usage);
  Error const no_folder = open_failure(folder_.path("none/dem.tif"));
  EXPECT_EQ(no_folder.kind(), ErrorKind::io);
  EXPECT_EQ(no_folder.where().source, folder_.path("none/dem.tif"));
  EXPECT_NE(no_folder.message().find("No such file"), std::string::npos) << no_folder.message();
  folder_.write("dem.tif", old_);
  EXPECT_EQ(open_failure(folder_.path("dem.tif/dem.tif")).kind(), ErrorKind::io);
  EXPECT_EQ(open_failure(folder_.path(std::string(300, 'x'))).kind(), ErrorKind::io);
  EXPECT_EQ(count_temporary(folder_path_), 0);
}

TEST_F(FileSinkTest, TakesTheLongestNameThereCanBe) {
  // 3 bytes a character, so that a cut must not fall inside of one.
  std::string name;
  while (name.size() + 3 <= 255) { name += "\xE2\x82\xAC"; }
  write_file(folder_.path(name), new_);
  EXPECT_TRUE(file_bytes(folder_.path(name)) == new_);
}

// Root may do everything, so somebody else tries.
TEST_F(FileSinkTest, RefusesWhatMayNotBeWritten) {
  folder_.write("dem.tif", old_);
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  std::filesystem::create_directory(folder_.path("closed"));
  ASSERT_EQ(chmod(folder_.path("closed").c_str(), 0555), 0);
  ASSERT_EQ(chmod(folder_path_.c_str(), 0777), 0);
  auto const refuses = [](std::string const& path) {
    return in_child([&] {
      if (geteuid() == 0 && setuid(65534) != 0) { return 2; }
      try {
        FileSink(path, Durability::none).open();
        return 1;
      } catch (Error const& error) {
        return error.kind() == ErrorKind::io && error.message().find("Permission denied") != std::string::npos ? 0 : 3;
      }
    });
  };
  EXPECT_EQ(refuses(path_), 0);
  EXPECT_EQ(refuses(folder_.path("closed/dem.tif")), 0);
  EXPECT_EQ(count_temporary(folder_path_), 0);
}

TEST_F(FileSinkTest, IsGoodForOneFile) {
  FileSink sink(path_, Durability::none);
  sink.open();
  sink.publish(0);
  EXPECT_EQ(failure_of([&] { sink.open(); }).kind(), ErrorKind::usage);
}

TEST_F(FileSinkTest, DoesNotDependOnTheCurrentFolder) {
  int const code = in_child([&] {
    if (chdir(folder_path_.c_str()) != 0) { return 1; }
    FileSink sink("relative.tif", Durability::fsync);
    sink.open();
    sink.write_at(0, new_);
    if (chdir("/") != 0) { return 2; }
    sink.publish(new_.size());
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(file_bytes(folder_.path("relative.tif")) == new_);
}

// Random writes of all sizes, some over older ones, read back between them and moved up.
TEST_F(FileSinkTest, KeepsTheOrderOfWrites) {
  std::mt19937 random(5);
  auto const below = [&random](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  for (int round = 0; round < 6; ++round) {
    FileSink sink(path_, Durability::none);
    sink.open();
    std::vector<std::byte> model;
    std::size_t end_of_last = 0;
    for (int i = 0; i < 60; ++i) {
      std::size_t const size = below(4) == 0 ? below(6'000'000) : below(5000);
      std::size_t const offset = below(3) == 0 ? below(model.size() + 10'000) : end_of_last;
      std::vector<std::byte> const bytes = byte_pattern(size, static_cast<unsigned>(random()));
      sink.write_at(offset, bytes);
      end_of_last = offset + size;
      if (size > 0) { model.resize(std::max(model.size(), end_of_last)); }
      std::copy(bytes.begin(), bytes.end(),
                model.begin() + static_cast<std::ptrdiff_t>(offset > model.size() ? 0 : offset));
      if (below(10) == 0 && !model.empty()) {
        std::size_t const from = below(model.size());
        std::vector<std::byte> got(below(model.size() - from + 1));
        sink.read_at(from, got);
        ASSERT_TRUE(std::equal(got.begin(), got.end(), model.begin() + static_cast<std::ptrdiff_t>(from)));
      }
      if (below(20) == 0 && sink.insert_unit_bytes() != 0) {
        std::size_t const more = sink.insert_unit_bytes() * (1 + below(4));
        ASSERT_TRUE(sink.insert_front(more));
        std::vector<std::byte> const front = byte_pattern(more, 9);
        sink.write_at(0, front);
        if (!model.empty()) {
          model.insert(model.begin(), front.begin(), front.end());
        } else {
          model = front;
        }
        end_of_last = more;
      }
    }
    sink.publish(model.size());
    ASSERT_TRUE(file_bytes(path_) == model) << round;
  }
}

TEST_F(FileSinkTest, CopiesFromAnotherFile) {
  std::string const source = folder_.write("source", new_);
  Descriptor const from(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
  FileSink sink(path_, Durability::none);
  sink.open();
  sink.write_at(0, old_);  // waits in the sink, and must not lie over what is copied
  std::uint64_t const copied = sink.copy_from(from.get(), 100, 1000, 500'000);
  if (copied == 0) { GTEST_SKIP() << "the kernel does not copy here"; }
  sink.publish(1000 + copied);
  std::vector<std::byte> expected(old_.begin(), old_.begin() + 1000);
  expected.insert(expected.end(), new_.begin() + 100, new_.begin() + 100 + static_cast<std::ptrdiff_t>(copied));
  EXPECT_TRUE(file_bytes(path_) == expected);
}

// Sparse: it takes no space.
TEST_F(FileSinkTest, TakesOffsetsPast4GiB) {
  std::uint64_t const far = (std::uint64_t{5} << 30) + 7;
  std::string const source = folder_.write("source", old_);
  Descriptor const from(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
  FileSink sink(path_, Durability::none);
  sink.open();
  sink.write_at(far, std::span(new_).first(100));
  std::uint64_t const copied = sink.copy_from(from.get(), 0, far + 100, old_.size());
  std::vector<std::byte> got(100 + copied);
  sink.read_at(far, got);
  std::vector<std::byte> expected(new_.begin(), new_.begin() + 100);
  expected.insert(expected.end(), old_.begin(), old_.begin() + static_cast<std::ptrdiff_t>(copied));
  EXPECT_EQ(got, expected);
  sink.publish(far + 1'000'000);
  EXPECT_EQ(std::filesystem::file_size(path_), far + 1'000'000);
}

TEST_F(FileSinkTest, AppendsToPipes) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::vector<std::byte> got;
  std::thread reader([&] { got = file_bytes(path_); });
  FileSink sink(path_, Durability::fsync);
  sink.open();
  EXPECT_FALSE(sink.is_seekable());
  EXPECT_EQ(sink.insert_unit_bytes(), 0u);
  EXPECT_TRUE(sink.spool_folder().empty());
  sink.write_at(0, old_);
  EXPECT_EQ(failure_of([&] { sink.write_at(0, old_); }).kind(), ErrorKind::usage);
  EXPECT_EQ(failure_of([&] { sink.write_at(old_.size() + 1, old_); }).kind(), ErrorKind::usage);
  sink.write_at(old_.size(), new_);
  sink.publish(old_.size() + new_.size() + 5000);
  reader.join();
  std::vector<std::byte> expected = old_;
  expected.insert(expected.end(), new_.begin(), new_.end());
  expected.resize(expected.size() + 5000);
  EXPECT_TRUE(got == expected);
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
  EXPECT_EQ(count_temporary(folder_path_), 0);
}

// Files that grow past the first 64 MiB get room ahead of what is written, where the file system is known to gain by
// it.
TEST_F(FileSinkTest, LargeFilesAreWholeWhetherOrNotThereIsRoomAhead) {
  std::vector<std::byte> const part = byte_pattern(1 << 20);
  for (int const first_failing : {1000, 1, 0}) {
    FailingCalls const failing(Fault{.call = "fallocate", .at = first_failing, .error = ENOSPC, .times = 1000});
    FileSink sink(path_, Durability::none);
    sink.open();
    std::uint64_t at = 3;
    for (int i = 0; i < 140; ++i) {
      if (i % 10 == 0) { sink.hold(); }
      sink.write_at(at, std::span(part).first(100));
      sink.write_at(at + 100, part);
      at += 100 + part.size();
      if (i % 10 == 9) { sink.let_go(); }
    }
    sink.publish(at);
    std::vector<std::byte> const got = file_bytes(path_);
    ASSERT_EQ(got.size(), at);
    EXPECT_EQ(got[2], std::byte{}) << "a gap reads as zeros";
    for (std::size_t i = 0; i < 140; ++i) {
      auto const from = got.begin() + static_cast<std::ptrdiff_t>(3 + i * (100 + part.size()));
      ASSERT_TRUE(std::equal(part.begin(), part.begin() + 100, from) &&
                  std::ranges::equal(part, std::span(from + 100, part.size())))
          << "part " << i;
    }
    struct stat status {};
    ASSERT_EQ(stat(path_.c_str(), &status), 0);
    EXPECT_LE(static_cast<std::uint64_t>(status.st_blocks) * 512, at + (1 << 20)) << "room that is left is given back";
  }
}

TEST_F(FileSinkTest, AppendsToWhatIsOpenAlready) {
  for (std::string const name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    std::filesystem::remove(path_);
    int const code = in_child([&] {
      int const out = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
      if (out < 0 || dup2(out, STDOUT_FILENO) < 0 || ::write(STDOUT_FILENO, "ab", 2) != 2) { return 1; }
      FileSink sink(name, Durability::fsync);
      sink.open();
      if (sink.is_seekable()) { return 2; }
      sink.write_at(0, new_);
      sink.publish(new_.size());
      return ::write(STDOUT_FILENO, "c", 1) == 1 ? 0 : 3;  // it is still open
    });
    EXPECT_EQ(code, 0) << name;
    std::vector<std::byte> expected{std::byte{'a'}, std::byte{'b'}};
    expected.insert(expected.end(), new_.begin(), new_.end());
    expected.push_back(std::byte{'c'});
    EXPECT_TRUE(file_bytes(path_) == expected) << name;
  }
}

TEST_F(FileSinkTest, WritesToDevices) {
  write_file("/dev/null", new_, Durability::fsync);
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
}

TEST_F(FileSinkTest, WaitsForAPipeThatDoesNotBlock) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  std::size_t got = 0;
  std::thread reader([&] {
    std::vector<std::byte> buffer(10'000);
    for (ssize_t n = 0; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
      got += static_cast<std::size_t>(n);
    }
  });
  write_file("/dev/fd/" + std::to_string(ends[1]), new_);
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(got, new_.size());
}

}  // namespace
}  // namespace terrazzo::io
