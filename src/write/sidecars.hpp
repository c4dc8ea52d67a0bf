// SPDX-License-Identifier: Apache-2.0
//
// The files beside a raster (.aux.xml, .ovr, .msk). When a raster is replaced, readers would apply the old raster's
// sidecars to the new one. So the old sidecars are removed with it, and a PAM file is written with the information that
// only a PAM file can hold.
//
// The order of steps ensures that new pixels never lie beside old sidecars, even after a crash: both files are complete
// under their temporary names; the old sidecars are set aside; the raster gets its name; the PAM file gets its name;
// the old sidecars are deleted. Until the raster has its name, a failure restores everything.
#pragma once

#include "io/file_sink.hpp"
#include "terrazzo/write.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace terrazzo::writing {

class Sidecars {
 public:
  // For a raster that is not a file, or has no path: there are no sidecars.
  Sidecars() = default;
  // The sidecars of the file that this open sink writes. Throws `io` if a PAM file is needed and a folder has its name.
  Sidecars(std::shared_ptr<io::FileSink> raster, std::string pam_xml, Durability durability);

  // Publishes the raster. Throws `io` if an old sidecar cannot be moved or the PAM file cannot be written: the old
  // raster is unchanged then. If only renaming the PAM file fails, the error text says that the raster is complete.
  void publish(ByteSink& sink, std::uint64_t size_bytes) const;

 private:
  [[nodiscard]] std::vector<std::shared_ptr<io::FileSink>> write_pam() const;

  std::shared_ptr<io::FileSink> raster_{};
  std::string pam_xml_{};
  Durability durability_ = Durability::none;
};

}  // namespace terrazzo::writing
