// SPDX-License-Identifier: Apache-2.0
#include "write/sidecars.hpp"

#include "base/byte_sink.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

namespace terrazzo::writing {

Sidecars::Sidecars(std::string path, std::string pam_xml, Durability durability)
    : path_(std::move(path)), pam_xml_(std::move(pam_xml)), durability_(durability) {}

void Sidecars::settle() const {
  if (path_.empty()) { return; }
  settle_beside(path_);
  // A link stays and the file behind it is replaced: readers come by either name.
  std::error_code trouble;
  if (std::filesystem::is_symlink(path_, trouble)) {
    std::filesystem::path const target = std::filesystem::canonical(path_, trouble);
    if (!trouble) { settle_beside(target.string()); }
  }
}

void Sidecars::settle_beside(std::string const& raster) const {
  std::error_code ignored;  // one that is not there, or may not be removed, is not our failure
  for (char const* const suffix : {".ovr", ".msk", ".msk.ovr"}) { std::filesystem::remove(raster + suffix, ignored); }
  if (pam_xml_.empty()) {
    std::filesystem::remove(raster + ".aux.xml", ignored);
    return;
  }
  std::shared_ptr<ByteSink> const sink = file_sink(raster + ".aux.xml", durability_);
  sink->open();
  sink->write_at(0, std::as_bytes(std::span(pam_xml_)));
  sink->publish(pam_xml_.size());
}

}  // namespace terrazzo::writing
