// SPDX-License-Identifier: Apache-2.0
#include "io/path_target.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <utility>

namespace terrazzo::io {

namespace {

constexpr int kMaxLinks = 40;  // as in the kernel

// By name only: the kernel would reopen the file behind these links.
std::optional<int> standing_descriptor(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") { return STDOUT_FILENO; }
  if (path == "/dev/stderr") { return STDERR_FILENO; }
  for (std::string_view const prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) { continue; }
    std::string_view const digits = path.substr(prefix.size());
    int number = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc{} && end == digits.data() + digits.size() && number >= 0) { return number; }
  }
  return std::nullopt;
}

// "a/b.tif" is "a" and "b.tif"; "b.tif" is "." and "b.tif"; "/b.tif" is "/" and "b.tif".
std::pair<std::string, std::string> split_path(std::string const& path) {
  std::size_t const slash = path.find_last_of('/');
  if (slash == std::string::npos) { return {".", path}; }
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

[[noreturn]] void fail(std::string const& source, std::string_view what, int error) {
  throw Error(ErrorKind::io, text("cannot write: ", what, std::strerror(error)), {.source = source});
}

// The text of the link `name` in `folder`; nullopt if it is not a link or does not exist. Throws `io` for a link that
// the rule of this header refuses. `path`, of the link, and `source` are for messages.
std::optional<std::string> read_link(Descriptor const& folder, std::string const& name, std::string const& path,
                                     std::string const& source) {
  // Owner and text come from one descriptor: the name could become another link in between.
  Descriptor const link(file_calls.openat(folder.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC, 0));
  struct stat entry {
  }, folder_status{};
  if (!link && errno == ENOENT) { return std::nullopt; }
  if (!link || fstat(link.get(), &entry) != 0) { fail(source, "", errno); }
  if (!S_ISLNK(entry.st_mode)) { return std::nullopt; }
  if (fstat(folder.get(), &folder_status) != 0) { fail(source, "", errno); }
  if (is_planted(folder_status, entry)) {
    throw Error(
        ErrorKind::io,
        text("cannot write: ", path, " is a link that another user made in a folder that everybody may write to"),
        {.source = source});
  }
  std::array<char, PATH_MAX> target;
  ssize_t const size = readlinkat(link.get(), "", target.data(), target.size());
  if (size < 0) { fail(source, "", errno); }
  return std::string(target.data(), static_cast<std::size_t>(size));
}

// Opens the folder `path`, relative to `base`, one component at a time, so that the rule for links applies to each.
Descriptor open_folder(int base, std::string const& path, std::string const& source) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  auto const open_or_fail = [&](int folder, char const* name) {
    Descriptor opened(file_calls.openat(folder, name, kFlags, 0));
    if (!opened) { fail(source, text("folder ", path, ": "), errno); }
    return opened;
  };
  std::string rest = path;
  Descriptor folder = rest.starts_with('/') ? open_or_fail(AT_FDCWD, "/") : open_or_fail(base, ".");
  for (int links = 0;;) {
    rest.erase(0, rest.find_first_not_of('/'));
    if (rest.empty()) { return folder; }
    std::string const name = rest.substr(0, rest.find('/'));
    rest.erase(0, name.size());
    std::optional<std::string> const link = read_link(folder, name, name, source);
    if (!link) {
      folder = open_or_fail(folder.get(), name.c_str());
      continue;
    }
    if (++links > kMaxLinks) { fail(source, text("folder ", path, ": "), ELOOP); }
    if (link->starts_with('/')) { folder = open_or_fail(AT_FDCWD, "/"); }
    rest = *link + rest;
  }
}

}  // namespace

std::string Place::path() const {
  if (folder_path == ".") { return name; }
  return folder_path + (folder_path.ends_with('/') ? "" : "/") + name;
}

bool is_stranger_in_open_folder(struct stat const& folder, struct stat const& entry) noexcept {
  return (folder.st_mode & S_IWOTH) != 0 && entry.st_uid != geteuid() && entry.st_uid != folder.st_uid;
}

bool is_planted(struct stat const& folder, struct stat const& entry) noexcept {
  return (folder.st_mode & S_ISVTX) != 0 && is_stranger_in_open_folder(folder, entry);
}

Target find_target(std::string const& path) {
  Target target;
  std::string next = path;
  for (int i = 0; i <= kMaxLinks; ++i) {
    bool const is_relative = !next.starts_with('/') && !target.places.empty();  // to the folder of the link
    if (!is_relative) {
      target.descriptor = standing_descriptor(next);
      if (target.descriptor) { return target; }
    }
    auto [folder_path, name] = split_path(next);
    if (name.empty()) { throw Error(ErrorKind::usage, "cannot write: this is a directory", {.source = path}); }
    Place place;
    place.folder = open_folder(is_relative ? target.places.back().folder.get() : AT_FDCWD, folder_path, path);
    place.folder_path = is_relative ? target.places.back().folder_path + "/" + folder_path : std::move(folder_path);
    place.name = std::move(name);
    std::optional<std::string> link = read_link(place.folder, place.name, place.path(), path);
    target.places.push_back(std::move(place));
    if (!link) { return target; }
    next = *std::move(link);
  }
  fail(path, "", ELOOP);
}

Place beside(Place const& place, std::string_view suffix) {
  Place made{place.folder_path, place.name + std::string(suffix),
             Descriptor(fcntl(place.folder.get(), F_DUPFD_CLOEXEC, 0))};
  if (!made.folder) { fail(made.path(), "", errno); }
  return made;
}

}  // namespace terrazzo::io
