// SPDX-License-Identifier: Apache-2.0
//
// Points in a text, one per line: "x,y" or "x y"; further columns are ignored. Empty lines, lines that begin with "#"
// and a first line of names ("x,y") are skipped.
#pragma once

#include "terrazzo/coordinates.hpp"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace terrazzo::cli {

class PointLines {
 public:
  // `name` is for messages. REQUIRES: `in` outlives it.
  PointLines(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  // At most `most` points, in their order; empty at the end. Throws `usage` with the file and the line if a line has no
  // point or is longer than 64 KiB, `io` if reading fails.
  [[nodiscard]] std::vector<Point> next(std::size_t most);

 private:
  // False at the end. Throws `usage` for a line that is too long.
  [[nodiscard]] bool read_line();
  [[noreturn]] void refuse(std::string const& reason) const;

  std::istream& in_;
  std::string name_;
  std::vector<char> buffer_{};  // allocated once
  std::string_view line_{};  // in the buffer
  std::uint64_t line_number_ = 0;
  bool may_be_heading_ = true;
};

}  // namespace terrazzo::cli
