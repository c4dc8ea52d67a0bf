// SPDX-License-Identifier: Apache-2.0
#include "output/outcome_table.hpp"

#include "output/format.hpp"

#include <ostream>

namespace terrazzo::cli {

void print_outcome_table(std::ostream& out, std::vector<OutcomeRow> const& rows) {
  Table table({"state", "files", "written", ""});
  for (OutcomeRow const& row : rows) {
    if (row.files == 0) { continue; }
    table.add({std::string(row.state), format_count(row.files),
               row.bytes_written == 0 ? "" : format_bytes(row.bytes_written), row.note});
  }
  out << '\n';
  table.print(out, "");
  out << std::flush;
}

}  // namespace terrazzo::cli
