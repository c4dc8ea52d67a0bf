// SPDX-License-Identifier: Apache-2.0
//
// The files that PROJ may read through our context: regular ones below its own data folders. PROJ opens proj.db with
// SQLite and not through this interface; the path of proj.db comes from the environment and never from a raster.
#pragma once

#include <proj.h>

#include <string>
#include <vector>

namespace terrazzo::geo {

class ProjFiles {
 public:
  // `folders` in PROJ's spelling: names are compared as text.
  explicit ProjFiles(std::vector<std::string> folders);

  // For proj_context_set_fileapi(), with `this` as the user data. The object must outlive the context.
  [[nodiscard]] static PROJ_FILE_API const& interface() noexcept;

  // True if the path is below one of the folders, by its name only: nothing is opened.
  [[nodiscard]] bool is_allowed(std::string const& path) const;

 private:
  std::vector<std::string> folders_;  // each ends in '/'
};

}  // namespace terrazzo::geo
