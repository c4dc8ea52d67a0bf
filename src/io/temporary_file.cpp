// SPDX-License-Identifier: Apache-2.0
#include "io/temporary_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <random>
#include <utility>

namespace terrazzo::io {

namespace {

// Every write looks at so many numbers for what the dead left. More living writers of one path take random ones.
constexpr int kNumbers = 16;
constexpr int kRandomTries = 100;

std::string temporary_name(std::string const& final_name, std::string const& number) {
  std::size_t const rest = number.size() + TemporaryFile::kSuffix.size() + 2;  // two dots
  std::size_t cut = std::min(final_name.size(), std::size_t{NAME_MAX} - rest);
  // Not inside a UTF-8 character: some file systems check.
  while (cut < final_name.size() && cut > 0 && (static_cast<unsigned char>(final_name[cut]) & 0xC0u) == 0x80u) {
    --cut;
  }
  return "." + final_name.substr(0, cut) + "." + number + std::string(TemporaryFile::kSuffix);
}

bool is_file(int folder, std::string const& name, struct stat const& file) {
  struct stat now {};
  return fstatat(folder, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == file.st_dev &&
         now.st_ino == file.st_ino;
}

// Created and locked, or -1 and errno; EEXIST when the name is taken.
Descriptor create_locked(int folder, std::string const& name, mode_t mode) {
  Descriptor file(file_calls.openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file) { return file; }
  // Between the creation and the lock another writer may have taken it for a leftover: it holds the lock, or has
  // removed the file already. A file system without locks is no reason not to write.
  bool const lost = file_calls.flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  struct stat status {};
  if (lost || fstat(file.get(), &status) != 0 || !is_file(folder, name, status)) {
    file.reset();
    errno = EEXIST;
  }
  return file;
}

// Removes what a dead writer left under this name. False when there is something that has to stay.
bool remove_leftover(int folder, std::string const& name) {
  Descriptor const file(file_calls.openat(folder, name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
  if (!file) { return errno == ENOENT; }
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) { return false; }
  if (file_calls.flock(file.get(), LOCK_EX | LOCK_NB) != 0) { return false; }
  // With the lock held nobody else removes or renames it. Before that its writer may have published it and another one
  // taken the name: hence the look.
  if (!is_file(folder, name, status)) { return false; }
  return file_calls.unlinkat(folder, name.c_str(), 0) == 0;
}

}  // namespace

TemporaryFile TemporaryFile::create(int folder, std::string const& final_name, mode_t mode) {
  TemporaryFile made;
  made.folder_ = folder;
  made.owner_ = getpid();
  auto const take = [&](std::string name) {
    made.file_ = create_locked(folder, name, mode);
    if (made.file_) { made.name_ = std::move(name); }
    return made.file_ || errno != EEXIST;
  };
  bool taken = false;
  for (int number = 0; number < kNumbers; ++number) {
    std::string const name = temporary_name(final_name, std::to_string(number));
    bool const free = remove_leftover(folder, name);
    if (!taken && free) { taken = take(name); }
    if (taken && !made.file_) { return made; }
  }
  std::random_device random;
  for (int i = 0; i < kRandomTries && !taken; ++i) {
    taken = take(temporary_name(final_name, std::to_string(random()) + std::to_string(random())));
  }
  return made;
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : folder_(other.folder_),
      owner_(other.owner_),
      name_(std::exchange(other.name_, {})),
      file_(std::move(other.file_)) {}

TemporaryFile& TemporaryFile::operator=(TemporaryFile&& other) noexcept {
  if (this != &other) {
    remove();
    folder_ = other.folder_;
    owner_ = other.owner_;
    name_ = std::exchange(other.name_, {});
    file_ = std::move(other.file_);
  }
  return *this;
}

bool TemporaryFile::rename_to(std::string const& final_name) noexcept {
  if (file_calls.renameat(folder_, name_.c_str(), folder_, final_name.c_str()) != 0) { return false; }
  name_.clear();
  return true;
}

void TemporaryFile::remove() noexcept {
  // First the name, then the lock: nobody finds it unlocked.
  if (!name_.empty() && owner_ == getpid()) { file_calls.unlinkat(folder_, name_.c_str(), 0); }
  name_.clear();
  file_.reset();
}

}  // namespace terrazzo::io
