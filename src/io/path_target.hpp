// SPDX-License-Identifier: Apache-2.0
//
// The target of a path to write to: a name in a folder that is held open, so that a change of the current folder or a
// renamed folder does not redirect it later.
//
// Links, including those of folders on the way, are followed one at a time, each by the rule of Linux's
// fs.protected_symlinks, for any setting of the machine: in a sticky folder that everybody may write to (/tmp), a link
// is followed only if the caller or the owner of the folder made it.
#pragma once

#include "io/file_calls.hpp"

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::io {

struct Place {
  std::string folder_path{};  // if known: for messages, and for unnamed files
  std::string name{};
  Descriptor folder{};  // O_PATH: a folder may be writable but not readable

  [[nodiscard]] std::string path() const;
};

struct Target {
  // "-", /dev/stdout, /dev/fd/7, and links to them: descriptors that are already open. Opening the file behind one by
  // name would replace a file that the parent process wants to append to.
  std::optional<int> descriptor{};
  // Otherwise: the path, then the target of each link. The last is not a link; it need not exist.
  std::vector<Place> places{};
};

// Throws `usage` if the path ends in a slash; `io` if a folder is missing, links form a loop, or another user made
// one of them in a sticky folder.
[[nodiscard]] Target find_target(std::string const& path);

// The name with a suffix, in the same folder. Throws `io` if no descriptor is left.
[[nodiscard]] Place beside(Place const& place, std::string_view suffix);

// True if everybody may write to `folder`, and `entry` in it belongs neither to the caller nor to the folder's owner.
[[nodiscard]] bool is_stranger_in_open_folder(struct stat const& folder, struct stat const& entry) noexcept;

// is_stranger_in_open_folder() for a sticky folder, where the entry cannot be the caller's work under another name.
[[nodiscard]] bool is_planted(struct stat const& folder, struct stat const& entry) noexcept;

}  // namespace terrazzo::io
