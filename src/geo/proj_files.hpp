// SPDX-License-Identifier: Apache-2.0
//
// The files that PROJ may see through our context: regular ones below its own data folders, to be read. PROJ opens
// proj.db by SQLite and not through this interface; its place comes from the environment and never from a raster.
#pragma once

#include <proj.h>

#include <string>
#include <vector>

namespace terrazzo::geo {

class ProjFiles {
 public:
  // `folders` as PROJ spells them: names are compared, not looked up.
  explicit ProjFiles(std::vector<std::string> folders);

  // For proj_context_set_fileapi(), with `this` as the user data. The object must outlive the context.
  [[nodiscard]] static PROJ_FILE_API const& interface() noexcept;

  // Below one of the folders, by its name alone: nothing is opened to find out.
  [[nodiscard]] bool is_allowed(std::string const& path) const;

 private:
  std::vector<std::string> folders_;  // each ends in '/'
};

}  // namespace terrazzo::geo
