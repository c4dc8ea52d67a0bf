// SPDX-License-Identifier: Apache-2.0
//
// The files that a user names by files, folders and patterns, for commands that take many.
#pragma once

#include <string>
#include <vector>

namespace terrazzo::ops {

struct InputFile {
  std::string path{};
  std::string name{};  // from the folder that was named, or the file's own name
  bool is_named = false;  // by itself, not by a folder or pattern
};

// In the order of the inputs; the files of one folder or pattern are sorted; a file that is named twice is there once.
// A folder stands for all TIFF files in it and in its subfolders, without hidden ones and without `left_out` (which may
// be empty). Throws `usage` if a pattern matches nothing, `io` if a folder cannot be listed. Files need not exist.
[[nodiscard]] std::vector<InputFile> input_files(std::vector<std::string> const& inputs,
                                                 std::string const& left_out_folder);

// One text per file, whether it exists or not.
[[nodiscard]] std::string file_identity(std::string const& path);

}  // namespace terrazzo::ops
