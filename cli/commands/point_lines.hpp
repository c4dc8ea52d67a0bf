// SPDX-License-Identifier: Apache-2.0
//
// Points in a text, one per line: "x,y", "x y" or "[x, y]" (rio sample); further columns are ignored. Empty lines and
// lines that begin with "#" are skipped. A first line of names is skipped, too; names of coordinates in it
// ("id,lon,lat") choose the columns.
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
  // The columns of the coordinates. Blanks in a name ("hut name,x,y") require that a heading fixes the separator.
  struct Columns {
    std::size_t x = 0, y = 1;
    char separator = 0;  // 0: comma, semicolon or blanks
  };

  // False at the end. Throws `usage` for a line that is too long.
  [[nodiscard]] bool read_line();
  // True if the line has names; they choose the columns.
  [[nodiscard]] bool take_heading(std::string_view line);
  [[nodiscard]] std::string wanted() const;
  [[noreturn]] void refuse(std::string const& reason) const;

  std::istream& in_;
  std::string name_;
  std::vector<char> buffer_{};  // allocated once
  std::string_view line_{};  // in the buffer
  std::uint64_t line_number_ = 0;
  bool may_be_heading_ = true;
  Columns columns_{};
};

}  // namespace terrazzo::cli
