// SPDX-License-Identifier: Apache-2.0
//
// Where a path leads that somebody wants to write to: a name in a folder that is held open, so that neither the current
// folder of the process nor a folder that is moved changes it later.
//
// Links at the end of a path are followed one at a time, each by the rule of Linux's fs.protected_symlinks, whatever
// the setting of the machine: in a sticky folder that everybody may write to (/tmp), a link counts only if the caller
// or the owner of the folder made it. Folders on the way are found by the kernel.
#pragma once

#include "io/file_calls.hpp"

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::io {

struct Place {
  std::string folder_path{};  // as far as it is known: for messages, and for unnamed files
  std::string name{};
  Descriptor folder{};  // O_PATH: a folder may be writable and not readable

  [[nodiscard]] std::string path() const;
};

struct Target {
  // "-", /dev/stdout, /dev/fd/7, and links to them: what is open already. Opened by name, the file behind it would be
  // replaced, which the process that gave it to us means to be appended to.
  std::optional<int> descriptor{};
  // Else: the path, then what each link leads to. The last is no link; it need not exist.
  std::vector<Place> places{};
};

// Throws `usage` when the path ends in a slash; `io` when a folder is missing, the links run in a circle, or one of
// them is somebody else's in a sticky folder.
[[nodiscard]] Target find_target(std::string const& path);

// The name with something behind it, in the same folder. Throws `io` when there is no descriptor left.
[[nodiscard]] Place beside(Place const& place, std::string_view suffix);

// Whether somebody made `entry`, in a sticky folder that everybody may write to, who is neither the caller nor the
// owner of that folder.
[[nodiscard]] bool is_planted(struct stat const& folder, struct stat const& entry) noexcept;

}  // namespace terrazzo::io
