// SPDX-License-Identifier: Apache-2.0
#include "write/sidecars.hpp"

#include "base/byte_sink.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

namespace terrazzo::writing {
namespace {

void remove_stale(std::string const& path) {
  std::error_code trouble, unknown;
  // A folder of that name is nothing that readers look at.
  if (std::filesystem::is_directory(path, unknown)) { return; }
  std::filesystem::remove(path, trouble);
  if (!trouble || !std::filesystem::exists(std::filesystem::symlink_status(path, unknown))) { return; }
  throw Error(
      ErrorKind::io,
      text("the raster itself is written and whole; this file is of the one before it, readers will believe it, "
           "and it cannot be removed: ",
           trouble.message()),
      {.source = path});
}

}  // namespace

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
  for (char const* const suffix : {".ovr", ".msk", ".msk.ovr"}) { remove_stale(raster + suffix); }
  if (pam_xml_.empty()) {
    remove_stale(raster + ".aux.xml");
    return;
  }
  try {
    std::shared_ptr<ByteSink> const sink = file_sink(raster + ".aux.xml", durability_);
    sink->open();
    sink->write_at(0, std::as_bytes(std::span(pam_xml_)));
    sink->publish(pam_xml_.size());
  } catch (Error const& error) {
    throw Error(ErrorKind::io,
                text("the raster itself is written and whole; what only a file beside it can hold (category names, "
                     "colours with alpha, a long CRS) is lost: ",
                     error.message()),
                {.source = raster + ".aux.xml"});
  }
}

}  // namespace terrazzo::writing
