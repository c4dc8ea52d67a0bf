// SPDX-License-Identifier: Apache-2.0
//
// The files beside a raster (.aux.xml, .ovr, .msk). When a raster is replaced, those of the old one would be taken for
// those of the new one: they go, and what only a PAM file can say of the new raster is written.
#pragma once

#include "terrazzo/write.hpp"

#include <string>

namespace terrazzo::writing {

class Sidecars {
 public:
  // An empty path: the raster is no file, and has nothing beside it.
  Sidecars(std::string path, std::string pam_xml, Durability durability);

  // Once the raster is in its place. Throws `io` when the PAM file cannot be written or an old sidecar not be removed;
  // the text says that the raster is whole.
  void settle() const;

 private:
  void settle_beside(std::string const& raster) const;

  std::string path_, pam_xml_;
  Durability durability_;
};

}  // namespace terrazzo::writing
