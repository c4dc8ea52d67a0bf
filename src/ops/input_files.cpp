// SPDX-License-Identifier: Apache-2.0
#include "ops/input_files.hpp"

#include "base/letter_case.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace terrazzo::ops {
namespace {

namespace fs = std::filesystem;

bool is_hidden(fs::path const& path) {
  std::string const name = path.filename().string();
  return name.starts_with(".") && name != "." && name != "..";
}

bool has_raster_name(fs::path const& path) {
  std::string const suffix = lower_case(path.extension().string());
  return suffix == ".tif" || suffix == ".tiff" || suffix == ".gtiff" || suffix == ".gtif" || suffix == ".btf";
}

std::vector<std::string> matches_of(std::string const& pattern) {
  glob_t found{};
  int const result = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> names;
  if (result == 0) { names.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc); }
  globfree(&found);
  if (names.empty()) { throw Error(ErrorKind::usage, text("nothing matches \"", pattern, "\"")); }
  return names;
}

class FileList {
 public:
  explicit FileList(std::string const& left_out) : left_out_(left_out.empty() ? "" : file_identity(left_out)) {}

  void add(std::string const& input, bool is_named) {
    std::error_code error;
    if (fs::is_directory(input, error)) {
      add_folder(input);
    } else if (!fs::exists(input, error) && input.find_first_of("*?[") != std::string::npos) {
      for (std::string const& name : matches_of(input)) { add(name, false); }
    } else {
      add_file(input, fs::path(input).filename(), is_named);
    }
  }

  [[nodiscard]] std::vector<InputFile> finish() && { return std::move(files_); }

 private:
  void add_folder(fs::path const& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
    if (error) {
      throw Error(ErrorKind::io, text("cannot list the folder: ", error.message()), {.source = folder.string()});
    }
    for (; it != fs::recursive_directory_iterator(); it.increment(error)) {
      if (error) {
        throw Error(ErrorKind::io, text("cannot list the folder: ", error.message()), {.source = folder.string()});
      }
      bool const is_folder = it->is_directory(error);
      if (is_hidden(it->path()) || (is_folder && file_identity(it->path().string()) == left_out_)) {
        if (is_folder) { it.disable_recursion_pending(); }
      } else if (!is_folder && has_raster_name(it->path())) {
        found.push_back(it->path());
      }
    }
    std::ranges::sort(found);
    for (fs::path const& path : found) { add_file(path.string(), path.lexically_relative(folder), false); }
  }

  void add_file(std::string const& path, fs::path const& name, bool is_named) {
    if (!seen_.insert(file_identity(path)).second) { return; }
    files_.push_back({path, name.string(), is_named});
  }

  std::string left_out_;
  std::vector<InputFile> files_;
  std::set<std::string> seen_;
};

}  // namespace

std::string file_identity(std::string const& path) {
  std::error_code error;
  fs::path const whole = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path).lexically_normal().string() : whole.string();
}

std::vector<InputFile> input_files(std::vector<std::string> const& inputs, std::string const& left_out_folder) {
  FileList list(left_out_folder);
  for (std::string const& input : inputs) { list.add(input, true); }
  return std::move(list).finish();
}

}  // namespace terrazzo::ops
