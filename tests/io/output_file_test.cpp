// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/output_file.hpp"

#include "support/child_process.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace terrazzo {
namespace {

namespace fs = std::filesystem;

std::span<std::byte const> bytes_of(std::string const& text) { return std::as_bytes(std::span(text)); }

class OutputFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("terrazzo-") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(char const* name) const { return (folder_ / name).string(); }
  [[nodiscard]] static std::string content(std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] std::size_t files_in_folder() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, AppearsWhenPublished) {
  OutputFile out(path("a"));
  out.write(bytes_of("hello "));
  out.write(bytes_of("world"));
  out.write_at(0, bytes_of("J"));
  EXPECT_FALSE(fs::exists(path("a")));
  out.publish();
  EXPECT_EQ(content(path("a")), "Jello world");
  EXPECT_EQ(files_in_folder(), 1U);
}

TEST_F(OutputFileTest, LeavesTheOldFileAloneWhenAbandoned) {
  std::ofstream(path("a")) << "old";
  {
    OutputFile out(path("a"));
    out.write(bytes_of("new"));
  }
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_EQ(files_in_folder(), 1U);
}

TEST_F(OutputFileTest, ReplacesTheOldFile) {
  std::ofstream(path("a")) << "old and longer";
  OutputFile out(path("a"));
  out.write(bytes_of("new"));
  out.publish();
  EXPECT_EQ(content(path("a")), "new");
}

TEST_F(OutputFileTest, KeepsThePermissionsOfTheOldFile) {
  std::ofstream(path("a")) << "old";
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::owner_write);
  OutputFile out(path("a"));
  out.publish();
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(OutputFileTest, FollowsLinksAndLeavesThemAlone) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink(path("c"), path("b"));  // to what is not there yet
  OutputFile out(path("a"));
  out.write(bytes_of("new"));
  out.publish();
  EXPECT_EQ(fs::read_symlink(path("a")), "b");
  EXPECT_EQ(fs::read_symlink(path("b")), path("c"));
  EXPECT_EQ(content(path("c")), "new");
}

TEST_F(OutputFileTest, OpenDescriptorsAreWrittenWhereTheyStand) {
  int const descriptor = ::open(path("a").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::write(descriptor, "first ", 6), 6);
  fs::create_symlink("/proc/self/fd/" + std::to_string(descriptor), path("link"));
  for (std::string const& name : {"/dev/fd/" + std::to_string(descriptor), path("link")}) {
    OutputFile out(name);
    EXPECT_FALSE(out.seekable());
    out.write(bytes_of("next "));
    out.publish();
    EXPECT_FALSE(is_standard_output(name));
  }
  close(descriptor);
  EXPECT_EQ(content(path("a")), "first next next ");
  EXPECT_TRUE(fs::is_symlink(path("link")));
}

TEST_F(OutputFileTest, KnowsStandardOutputByAnyName) {
  fs::create_symlink("/dev/stdout", path("link"));
  for (std::string const& name :
       {std::string("-"), std::string("/dev/stdout"), std::string("/dev/fd/1"), path("link")}) {
    EXPECT_TRUE(is_standard_output(name)) << name;
  }
  for (std::string const& name : {std::string("/dev/stderr"), std::string("/dev/fd/1x"), path("a")}) {
    EXPECT_FALSE(is_standard_output(name)) << name;
  }
}

TEST_F(OutputFileTest, CirclesOfLinksAreErrors) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  EXPECT_THROW(OutputFile(path("a")), Error);
  EXPECT_TRUE(fs::is_symlink(path("a")));
}

TEST_F(OutputFileTest, SpecialFilesAreWrittenAsTheyAre) {
  OutputFile out("/dev/null");
  EXPECT_FALSE(out.seekable());
  out.write(bytes_of("gone"));
  out.publish();
  OutputFile full("/dev/full");
  full.write(bytes_of("x"));  // may wait in the file
  EXPECT_THROW(full.publish(), Error);
}

TEST_F(OutputFileTest, RefusesFolders) {
  for (auto const& [bad, kind] : {std::pair(folder_.string(), ErrorKind::usage),  // as create() does
                                  std::pair(path("no/such/folder"), ErrorKind::io)}) {
    try {
      OutputFile out(bad);
      ADD_FAILURE() << bad;
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_EQ(error.where().source, bad);
    }
  }
}

TEST_F(OutputFileTest, LeftoversOfKilledWritersGoWithTheNextWrite) {
  int const code = testing::in_child([&] {
    OutputFile out(path("a"));
    out.write(bytes_of("half"));
    _exit(0);  // no destructor runs
    return 1;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(files_in_folder(), 1U);
  OutputFile(path("a")).publish();
  EXPECT_EQ(files_in_folder(), 1U);
}

TEST_F(OutputFileTest, CancelEndsTheWaitForAPipe) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::atomic<bool> const cancel = true;
  try {
    OutputFile out(path("pipe"), &cancel);
    ADD_FAILURE() << "opened";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::cancelled); }
}

}  // namespace
}  // namespace terrazzo
