// SPDX-License-Identifier: Apache-2.0
#include "io/place.hpp"

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

constexpr int kMaxLinks = 40;  // as the kernel

// By name alone: the kernel would open the file behind these links anew.
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

// What the link at this place says; nothing when it is no link, or nothing is there. `source`: for messages.
std::optional<std::string> read_link(Place const& place, std::string const& source) {
  // Owner and text come from one descriptor: a name could become another link in between.
  Descriptor const link(file_calls.openat(place.folder.get(), place.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC, 0));
  struct stat entry {
  }, folder{};
  if (!link && errno == ENOENT) { return std::nullopt; }
  if (!link || fstat(link.get(), &entry) != 0) { fail(source, "", errno); }
  if (!S_ISLNK(entry.st_mode)) { return std::nullopt; }
  if (fstat(place.folder.get(), &folder) != 0) { fail(source, "", errno); }
  if (is_planted(folder, entry)) {
    throw Error(ErrorKind::io,
                text("cannot write: ", place.path(),
                     " is a link that another user made in a folder that everybody may write to"),
                {.source = source});
  }
  std::array<char, PATH_MAX> target;
  ssize_t const size = readlinkat(link.get(), "", target.data(), target.size());
  if (size < 0) { fail(source, "", errno); }
  return std::string(target.data(), static_cast<std::size_t>(size));
}

}  // namespace

std::string Place::path() const {
  if (folder_path == ".") { return name; }
  return folder_path + (folder_path.ends_with('/') ? "" : "/") + name;
}

bool is_planted(struct stat const& folder, struct stat const& entry) noexcept {
  return (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0 && entry.st_uid != geteuid() &&
         entry.st_uid != folder.st_uid;
}

Target find_target(std::string const& path) {
  Target target;
  std::string next = path;
  for (int i = 0; i <= kMaxLinks; ++i) {
    bool const is_relative = !next.starts_with('/') && !target.places.empty();  // to the link that said so
    if (!is_relative) {
      target.descriptor = standing_descriptor(next);
      if (target.descriptor) { return target; }
    }
    auto [folder_path, name] = split_path(next);
    if (name.empty()) { throw Error(ErrorKind::usage, "cannot write: this is a directory", {.source = path}); }
    Place place;
    place.folder = Descriptor(file_calls.openat(is_relative ? target.places.back().folder.get() : AT_FDCWD,
                                                folder_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
    if (!place.folder) { fail(path, text("folder ", folder_path, ": "), errno); }
    place.folder_path = is_relative ? target.places.back().folder_path + "/" + folder_path : std::move(folder_path);
    place.name = std::move(name);
    std::optional<std::string> link = read_link(place, path);
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
