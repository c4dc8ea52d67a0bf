// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "ops/input_files.hpp"
#include "terrazzo/convert.hpp"
#include "terrazzo/error.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace terrazzo {
namespace {

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

}  // namespace

std::vector<ConvertJob> conversion_jobs(std::vector<std::string> const& inputs, std::string const& out_folder) {
  std::vector<ConvertJob> jobs;
  std::set<std::string> sources;
  std::map<std::string, std::string> outs;  // keyed by identity; the source of each
  for (ops::InputFile const& file : ops::input_files(inputs, out_folder)) {
    std::string out = (std::filesystem::path(out_folder) / file.name).string();
    auto const [other, fresh] = outs.emplace(ops::file_identity(out), file.path);
    if (!fresh) { refuse(text("\"", other->second, "\" and \"", file.path, "\" would both become \"", out, "\"")); }
    sources.insert(ops::file_identity(file.path));
    jobs.push_back({file.path, std::move(out)});
  }
  if (jobs.empty()) { refuse("there is no TIFF file (.tif, .tiff) to convert"); }
  for (ConvertJob const& job : jobs) {
    if (sources.contains(ops::file_identity(job.out))) {
      refuse(text("\"", job.out, "\" would replace a source: choose another folder for the outputs"));
    }
  }
  return jobs;
}

}  // namespace terrazzo
