// SPDX-License-Identifier: Apache-2.0
#include "base/letter_case.hpp"
#include "base/text.hpp"
#include "terrazzo/convert.hpp"
#include "terrazzo/error.hpp"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

namespace terrazzo {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

bool is_hidden(fs::path const& path) {
  std::string const name = path.filename().string();
  return name.starts_with(".") && name != "." && name != "..";
}

bool has_raster_name(fs::path const& path) {
  std::string const suffix = lower_case(path.extension().string());
  return suffix == ".tif" || suffix == ".tiff" || suffix == ".gtiff" || suffix == ".gtif" || suffix == ".btf";
}

// One name per file, whether it exists or not.
std::string identity(fs::path const& path) {
  std::error_code error;
  fs::path const whole = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path).lexically_normal().string() : whole.string();
}

std::vector<std::string> matches_of(std::string const& pattern) {
  glob_t found{};
  int const result = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> names;
  if (result == 0) { names.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc); }
  globfree(&found);
  if (names.empty()) { refuse(text("nothing matches \"", pattern, "\"")); }
  return names;
}

class JobList {
 public:
  explicit JobList(std::string const& out_folder) : out_folder_(out_folder), out_identity_(identity(out_folder)) {}

  void add(std::string const& input) {
    std::error_code error;
    if (fs::is_directory(input, error)) {
      add_folder(input);
    } else if (!fs::exists(input, error) && input.find_first_of("*?[") != std::string::npos) {
      for (std::string const& name : matches_of(input)) { add(name); }
    } else {
      add_file(input, fs::path(input).filename());
    }
  }

  [[nodiscard]] std::vector<ConvertJob> finish() {
    if (jobs_.empty()) { refuse("there is no TIFF file (.tif, .tiff) to convert"); }
    for (ConvertJob const& job : jobs_) {
      if (sources_.contains(identity(job.out))) {
        refuse(text("\"", job.out, "\" would replace a source: choose another folder for the outputs"));
      }
    }
    return std::move(jobs_);
  }

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
      if (is_hidden(it->path()) || (is_folder && identity(it->path()) == out_identity_)) {
        if (is_folder) { it.disable_recursion_pending(); }
      } else if (!is_folder && has_raster_name(it->path())) {
        found.push_back(it->path());
      }
    }
    std::ranges::sort(found);
    for (fs::path const& path : found) { add_file(path.string(), path.lexically_relative(folder)); }
  }

  void add_file(std::string const& source, fs::path const& name) {
    if (!sources_.insert(identity(source)).second) { return; }
    std::string const out = (fs::path(out_folder_) / name).string();
    auto const [other, fresh] = outs_.emplace(identity(out), source);
    if (!fresh) { refuse(text("\"", other->second, "\" and \"", source, "\" would both become \"", out, "\"")); }
    jobs_.push_back({source, out});
  }

  std::string out_folder_, out_identity_;
  std::vector<ConvertJob> jobs_;
  std::set<std::string> sources_;
  std::map<std::string, std::string> outs_;  // keyed by identity; the source of each
};

}  // namespace

std::vector<ConvertJob> conversion_jobs(std::vector<std::string> const& inputs, std::string const& out_folder) {
  JobList list(out_folder);
  for (std::string const& input : inputs) { list.add(input); }
  return list.finish();
}

}  // namespace terrazzo
