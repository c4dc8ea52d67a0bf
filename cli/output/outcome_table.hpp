// SPDX-License-Identifier: Apache-2.0
//
// The table at the end of a command that works on many files: how many are done, skipped and failed.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::cli {

struct OutcomeRow {
  std::string_view state{};  // "done"
  std::uint64_t files = 0;
  std::uint64_t bytes_written = 0;
  std::string note{};
};

// Prints an empty line and the rows, without those of no file.
void print_outcome_table(std::ostream& out, std::vector<OutcomeRow> const& rows);

}  // namespace terrazzo::cli
