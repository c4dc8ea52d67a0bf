// SPDX-License-Identifier: Apache-2.0
#include "commands/conversion_json.hpp"

#include "output/errors.hpp"

namespace terrazzo::cli {

Json conversion_to_json(ConvertReport const& report, double seconds) {
  return {{"bytes", report.write.bytes_written},
          {"tiles", report.write.tiles},
          {"sparse_tiles", report.write.sparse_tiles},
          {"device_tiles", report.write.device_tiles},
          {"bytes_read", report.read.bytes_read},
          {"seconds", seconds},
          {"bad_tiles", bad_tiles_to_json(report.read.bad_tiles)}};
}

}  // namespace terrazzo::cli
