// SPDX-License-Identifier: Apache-2.0
#include "io/set_aside.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

namespace terrazzo::io {

namespace {

// FNV-1a. Distinguishes names that are equal up to the cut.
std::uint64_t hash_of(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (char const c : name) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U; }
  return hash;
}

std::string aside_name(std::string const& sidecar, std::string const& number) {
  std::string const rest = "." + number + ".terrazzo-old";
  std::string name = hidden_name(sidecar, rest);
  // Two files must never share a name here: each one holds user data.
  if (name.size() < 1 + sidecar.size() + rest.size()) {
    name = hidden_name(sidecar, "." + std::to_string(hash_of(sidecar)) + rest);
  }
  return name;
}

enum class Kind { none, file, folder };

Kind kind_of(Place const& place, std::string const& name) noexcept {
  struct stat status {};
  if (fstatat(place.folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) { return Kind::none; }
  return S_ISDIR(status.st_mode) ? Kind::folder : Kind::file;
}

// action(place, sidecar, aside)
template <class Action>
void for_each(std::span<Place const> places, std::string const& number, Action const& action) {
  for (Place const& place : places) {
    for (std::string_view const suffix : kSidecarSuffixes) {
      std::string const sidecar = place.name + std::string(suffix);
      action(place, sidecar, aside_name(sidecar, number));
    }
  }
}

}  // namespace

std::string hidden_name(std::string const& name, std::string_view rest) {
  std::size_t cut = std::min(name.size(), std::size_t{NAME_MAX} - 1 - rest.size());
  while (cut < name.size() && cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xC0u) == 0x80u) { --cut; }
  return "." + name.substr(0, cut) + std::string(rest);
}

bool set_aside(std::span<Place const> places, std::string const& number) {
  bool any = false;
  for_each(places, number, [&](Place const& place, std::string const& sidecar, std::string const& aside) {
    // Readers ignore a folder of that name.
    if (kind_of(place, sidecar) != Kind::file) { return; }
    if (file_calls.renameat(place.folder.get(), sidecar.c_str(), place.folder.get(), aside.c_str()) != 0) {
      int const why = errno;
      put_back(places, number);
      throw Error(
          ErrorKind::io,
          text("nothing is written: this file lies beside the name of the new raster, readers would take it for "
               "a part of it, and it cannot be moved: ",
               std::strerror(why)),
          {.source = Place{place.folder_path, sidecar, {}}.path()});
    }
    any = true;
  });
  return any;
}

void put_back(std::span<Place const> places, std::string const& number) noexcept {
  for_each(places, number, [](Place const& place, std::string const& sidecar, std::string const& aside) {
    if (kind_of(place, aside) != Kind::file) { return; }
    if (kind_of(place, sidecar) == Kind::none) {
      file_calls.renameat(place.folder.get(), aside.c_str(), place.folder.get(), sidecar.c_str());
    } else {
      file_calls.unlinkat(place.folder.get(), aside.c_str(), 0);
    }
  });
}

void drop(std::span<Place const> places, std::string const& number) noexcept {
  for_each(places, number, [](Place const& place, std::string const&, std::string const& aside) {
    file_calls.unlinkat(place.folder.get(), aside.c_str(), 0);
  });
}

}  // namespace terrazzo::io
