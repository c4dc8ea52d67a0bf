// SPDX-License-Identifier: Apache-2.0
#include "read/open/sidecar.hpp"

#include "geo/transform.hpp"
#include "io/file_source.hpp"
#include "terrazzo/error.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <memory>

namespace terrazzo::reading {

namespace {

// A PAM file with a long attribute table has a few MiB; more is not metadata.
constexpr std::uint64_t kMaxTextBytes = 64u << 20;

bool is_file(std::string const& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::optional<std::string> read_text(std::string const& path, std::vector<std::string>& files, MemoryBudget& budget) {
  if (!is_file(path)) { return std::nullopt; }
  try {
    io::FileSource const file(path);
    if (file.size_bytes() > kMaxTextBytes) { return std::nullopt; }
    budget.charge(file.size_bytes(), path);
    std::string content(static_cast<std::size_t>(file.size_bytes()), '\0');
    file.read(0, std::as_writable_bytes(std::span(content)));
    files.push_back(path);
    return content;
  } catch (Error const& error) {
    if (error.kind() == ErrorKind::limit) { throw; }
    return std::nullopt;  // the raster is readable without its sidecar
  }
}

}  // namespace

geo::Sidecars read_text_sidecars(std::string const& path, std::vector<std::string>& files, MemoryBudget& budget) {
  geo::Sidecars sidecars;
  sidecars.pam_xml = read_text(path + ".aux.xml", files, budget);
  for (std::string const& name : geo::world_file_names(path)) {
    sidecars.world_file = read_text(name, files, budget);
    if (sidecars.world_file) { break; }
  }
  sidecars.esri_xml = read_text(std::filesystem::path(path).replace_extension(".xml").string(), files, budget);
  return sidecars;
}

ByteSourcePtr open_sidecar(std::string const& path) {
  return is_file(path) ? std::make_shared<io::FileSource const>(path) : nullptr;
}

}  // namespace terrazzo::reading
