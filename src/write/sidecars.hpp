// SPDX-License-Identifier: Apache-2.0
//
// The files beside a raster (.aux.xml, .ovr, .msk). When a raster is replaced, those of the old one would be taken for
// those of the new one: they go with it, and what only a PAM file can say of the new raster is written.
//
// In this order, so that new pixels never lie beside old sidecars, wherever it ends: both files are whole under their
// temporary names; the old sidecars are set aside; the raster gets its name; the PAM file gets its name; the old
// sidecars are dropped. Until the raster has its name, a failure gives everything back.
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
  // Nothing lies beside the raster: it is no file, or not one that a path names.
  Sidecars() = default;
  // Of the file that this sink, which is open, writes. Throws `io` when a PAM file is needed and a folder has its name.
  Sidecars(std::shared_ptr<io::FileSink> raster, std::string pam_xml, Durability durability);

  // Publishes the raster. Throws `io` when an old sidecar cannot be moved or the PAM file not be written: the old
  // raster is as it was then. When only the PAM file cannot get its name, the text says that the raster is whole.
  void publish(ByteSink& sink, std::uint64_t size_bytes) const;

 private:
  [[nodiscard]] std::vector<std::shared_ptr<io::FileSink>> write_pam() const;

  std::shared_ptr<io::FileSink> raster_{};
  std::string pam_xml_{};
  Durability durability_ = Durability::none;
};

}  // namespace terrazzo::writing
