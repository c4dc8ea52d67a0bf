// SPDX-License-Identifier: Apache-2.0
#include "io/temporary_file.hpp"

#include "io/set_aside.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <utility>

namespace terrazzo::io {

namespace {

// Every write checks this many numbers for leftovers of dead writers. More concurrent writers of one path use random
// numbers.
constexpr int kNumbers = 16;
constexpr int kRandomTries = 100;

std::string temporary_name(std::string const& final_name, std::string const& number) {
  return hidden_name(final_name, "." + number + std::string(TemporaryFile::kSuffix));
}

bool is_file(int folder, std::string const& name, struct stat const& file) {
  struct stat now {};
  return fstatat(folder, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == file.st_dev &&
         now.st_ino == file.st_ino;
}

// Creates and locks the file, or returns -1 and errno; EEXIST if the name is taken.
Descriptor create_locked(int folder, std::string const& name, mode_t mode) {
  Descriptor file(file_calls.openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file) { return file; }
  // Between creation and lock another writer may have taken the file for a leftover: then it holds the lock, or has
  // already removed the file. File systems without locks are accepted.
  bool const lost = file_calls.flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  struct stat status {};
  if (lost || fstat(file.get(), &status) != 0 || !is_file(folder, name, status)) {
    file.reset();
    errno = EEXIST;
  }
  return file;
}

bool is_later(timespec const& a, timespec const& b) noexcept {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

// Removes the leftovers of a dead writer of this number. Returns false if something has to stay.
bool remove_leftover(std::span<Place const> places, std::string const& number) {
  auto const& [_, final_name, folder_of_it] = places.back();
  int const folder = folder_of_it.get();
  std::string const name = temporary_name(final_name, number);
  Descriptor const file(file_calls.openat(folder, name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
  if (!file) { return errno == ENOENT; }
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) { return false; }
  if (file_calls.flock(file.get(), LOCK_EX | LOCK_NB) != 0) { return false; }
  // While the lock is held, no other writer removes or renames the file. Before that, its writer may have published it
  // and another one may have taken the name: check the name again.
  if (!is_file(folder, name, status)) { return false; }
  // The writer died before its rename. A raster that was changed since then has its own sidecars, or none.
  struct stat now {};
  bool const is_old = fstatat(folder, final_name.c_str(), &now, 0) != 0 || !is_later(now.st_mtim, status.st_mtim);
  if (is_old) { put_back(places, number); }
  return file_calls.unlinkat(folder, name.c_str(), 0) == 0;
}

}  // namespace

TemporaryFile TemporaryFile::create(std::span<Place const> places, mode_t mode) {
  TemporaryFile made;
  made.folder_ = places.back().folder.get();
  made.owner_ = getpid();
  auto const take = [&](std::string number) {
    std::string name = temporary_name(places.back().name, number);
    made.file_ = create_locked(made.folder_, name, mode);
    if (made.file_) {
      drop(places, number);  // leftovers of a writer that died after its rename
      made.name_ = std::move(name);
      made.number_ = std::move(number);
    }
    return made.file_ || errno != EEXIST;
  };
  bool taken = false;
  for (int i = 0; i < kNumbers; ++i) {
    std::string number = std::to_string(i);
    bool const free = remove_leftover(places, number);
    if (!taken && free) { taken = take(std::move(number)); }
    if (taken && !made.file_) { return made; }
  }
  std::random_device random;
  for (int i = 0; i < kRandomTries && !taken; ++i) {
    taken = take(std::to_string(random()) + std::to_string(random()));
  }
  return made;
}

void TemporaryFile::clean(std::span<Place const> places) noexcept {
  for (int i = 0; i < kNumbers; ++i) { static_cast<void>(remove_leftover(places, std::to_string(i))); }
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : folder_(other.folder_),
      owner_(other.owner_),
      number_(std::move(other.number_)),
      name_(std::exchange(other.name_, {})),
      file_(std::move(other.file_)) {}

TemporaryFile& TemporaryFile::operator=(TemporaryFile&& other) noexcept {
  if (this != &other) {
    remove();
    folder_ = other.folder_;
    owner_ = other.owner_;
    number_ = std::move(other.number_);
    name_ = std::exchange(other.name_, {});
    file_ = std::move(other.file_);
  }
  return *this;
}

bool TemporaryFile::has_its_name() const noexcept {
  struct stat status {};
  return !name_.empty() && fstat(file_.get(), &status) == 0 && is_file(folder_, name_, status);
}

bool TemporaryFile::rename_to(std::string const& final_name) noexcept {
  if (!has_its_name()) {
    errno = ESTALE;
    return false;
  }
  if (file_calls.renameat(folder_, name_.c_str(), folder_, final_name.c_str()) != 0) { return false; }
  name_.clear();
  return true;
}

void TemporaryFile::remove() noexcept {
  // Remove the name before the lock: no other writer finds the file unlocked.
  if (owner_ == getpid() && has_its_name()) { file_calls.unlinkat(folder_, name_.c_str(), 0); }
  name_.clear();
  file_.reset();
}

}  // namespace terrazzo::io
