// SPDX-License-Identifier: Apache-2.0
//
// Formats numbers and tables for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace terrazzo::cli {

[[nodiscard]] std::string format_bytes(std::uint64_t bytes);       // "1.5 GiB"
[[nodiscard]] std::string format_number(double value);             // shortest text that reads back the same
[[nodiscard]] std::string format_coordinate(double value);         // format_number() of 12 significant digits
[[nodiscard]] std::string format_degrees(double value);            // of 7 decimals, 1 cm on the Earth
[[nodiscard]] std::string format_count(std::uint64_t count);       // "1,048,576"
[[nodiscard]] std::string format_size(std::uint64_t width, std::uint64_t height);  // "512 x 512"
[[nodiscard]] std::string format_seconds(double seconds);          // "12.3 ms"

// Bytes of the character that `text` begins with if it controls terminals: C0, DEL, C1, line separators, and marks that
// change the direction of writing; otherwise 0.
[[nodiscard]] std::size_t control_bytes(std::string_view text) noexcept;

// Replaces these characters in a file's text with blanks and cuts it at `max_bytes`: a file must not control the
// terminal.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 200);
// The same for names and messages, of any length.
[[nodiscard]] std::string printable_name(std::string_view name);

// Columns as wide as their widest cell; the first row is a heading. Columns that are empty below it are omitted.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) { rows_.push_back(std::move(heading)); }
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void print(std::ostream& out, std::string const& indent) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace terrazzo::cli
