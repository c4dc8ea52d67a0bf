// SPDX-License-Identifier: Apache-2.0
#include "write/sidecars.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <span>
#include <utility>

namespace terrazzo::writing {
namespace {

constexpr std::string_view kPamSuffix = ".aux.xml";

}  // namespace

Sidecars::Sidecars(std::shared_ptr<io::FileSink> raster, std::string pam_xml, Durability durability)
    : raster_(std::move(raster)), pam_xml_(std::move(pam_xml)), durability_(durability) {
  for (io::Place const& place : raster_->places()) {
    io::Place const pam = io::beside(place, kPamSuffix);
    io::TemporaryFile::clean({&pam, 1});
    // Check now rather than after the last pixel.
    struct stat status {};
    if (!pam_xml_.empty() && fstatat(pam.folder.get(), pam.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(status.st_mode)) {
      throw Error(
          ErrorKind::io,
          "nothing is written: the raster needs a file of this name beside it (for category names, colours with "
          "alpha, a long CRS), and it is a folder",
          {.source = pam.path()});
    }
  }
}

std::vector<std::shared_ptr<io::FileSink>> Sidecars::write_pam() const {
  std::vector<std::shared_ptr<io::FileSink>> files;
  if (pam_xml_.empty()) { return files; }
  // A link stays and its target is replaced: readers may use either name.
  for (io::Place const& place : raster_->places()) {
    auto const& file = files.emplace_back(std::make_shared<io::FileSink>(io::beside(place, kPamSuffix), durability_));
    file->open();
    file->write_at(0, std::as_bytes(std::span(pam_xml_)));
    file->finish(pam_xml_.size());
  }
  return files;
}

void Sidecars::publish(ByteSink& sink, std::uint64_t size_bytes) const {
  if (raster_ == nullptr) {
    sink.publish(size_bytes);
    return;
  }
  raster_->finish(size_bytes);
  auto const pam = write_pam();
  raster_->set_sidecars_aside();
  raster_->appear();
  try {
    for (auto const& file : pam) {
      file->appear();
      file->settle();
    }
  } catch (Error const& error) {
    throw Error(
        ErrorKind::io,
        text("the raster is complete, but its .aux.xml (category names, colours with alpha, a long CRS) is lost: ",
             error.message()),
        error.where());
  }
  raster_->settle();
}

}  // namespace terrazzo::writing
