// SPDX-License-Identifier: Apache-2.0
#include "commands/point_lines.hpp"

#include "options/parse.hpp"
#include "output/format.hpp"

#include "terrazzo/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ios>
#include <optional>
#include <string_view>
#include <utility>

namespace terrazzo::cli {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{64} << 10;  // a file without line ends must not fill the memory
// Blanks around a field. A tab is none where it separates the fields.
std::string_view blanks_for(char separator) { return separator == '\t' ? " \r" : " \t\r"; }

void drop_blanks(std::string_view& line, std::string_view blanks) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
}

// The next field of the line, without quotes and blanks around it. `separator`: 0 for comma, semicolon or blanks.
std::string_view take_field(std::string_view& line, char separator) {
  std::string_view const blanks = blanks_for(separator);
  std::string_view const separators = separator == 0 ? std::string_view(" \t\r,;") : std::string_view(&separator, 1);
  drop_blanks(line, blanks);
  std::size_t const quote = line.starts_with('"') ? line.find('"', 1) : std::string_view::npos;
  bool const quoted = quote != std::string_view::npos;
  std::size_t const end = quoted ? quote + 1 : std::min(line.find_first_of(separators), line.size());
  std::string_view field = quoted ? line.substr(1, quote - 1) : line.substr(0, end);
  line.remove_prefix(end);
  drop_blanks(line, blanks);
  if (separator == 0 ? line.starts_with(',') || line.starts_with(';') : line.starts_with(separator)) {
    line.remove_prefix(1);
  }
  field.remove_suffix(field.size() - (field.find_last_not_of(blanks) + 1));
  return field;
}

char separator_of(std::string_view heading) {
  for (char const one : {',', ';', '\t'}) {
    if (heading.find(one) != std::string_view::npos) { return one; }
  }
  return 0;
}

// Names of x and y in a heading, in lower case.
struct CoordinateNames {
  std::string_view x, y;
};
constexpr CoordinateNames kCoordinateNames[] = {
    {"x", "y"}, {"lon", "lat"},    {"long", "lat"},         {"lng", "lat"}, {"longitude", "latitude"},
    {"e", "n"}, {"east", "north"}, {"easting", "northing"},
};

std::optional<double> finite_number(std::string_view field) {
  if (field.starts_with('+')) { field.remove_prefix(1); }
  double value = 0;
  auto const [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  bool const whole = error == std::errc() && end == field.data() + field.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool is_name(std::string_view field) {
  return !field.empty() && ((field[0] >= 'a' && field[0] <= 'z') || (field[0] >= 'A' && field[0] <= 'Z'));
}

}  // namespace

void PointLines::refuse(std::string const& reason) const {
  throw Error(ErrorKind::usage, name_ + ":" + std::to_string(line_number_) + ": " + reason);
}

std::string PointLines::wanted() const {
  if (columns_.x == 0 && columns_.y == 1) { return "expected X,Y, two finite numbers"; }
  return "expected finite numbers for x in column " + std::to_string(columns_.x + 1) + " and y in column " +
         std::to_string(columns_.y + 1) + ", as the first line says";
}

bool PointLines::read_line() {
  buffer_.resize(kMaxLineBytes + 1);
  in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  auto const count = static_cast<std::size_t>(in_.gcount());
  if (in_.fail() && count == 0) { return false; }
  ++line_number_;
  if (in_.fail()) { refuse("the line is longer than 64 KiB"); }
  line_ = {buffer_.data(), in_.eof() ? count : count - 1};  // the line end is counted, too
  return true;
}

bool PointLines::take_heading(std::string_view line) {
  char const separator = separator_of(line);
  std::vector<std::string> names;
  for (std::string_view rest = line; !rest.empty();) { names.push_back(lower_case(take_field(rest, separator))); }
  std::optional<Columns> leftmost;
  for (auto const& [x, y] : kCoordinateNames) {
    auto const x_at = static_cast<std::size_t>(std::ranges::find(names, x) - names.begin());
    auto const y_at = static_cast<std::size_t>(std::ranges::find(names, y) - names.begin());
    if (x_at == names.size() || y_at == names.size()) { continue; }
    if (!leftmost || std::min(x_at, y_at) < std::min(leftmost->x, leftmost->y)) { leftmost = {x_at, y_at, separator}; }
  }
  if (leftmost) { columns_ = *leftmost; }
  if (columns_.x + columns_.y == 1) { columns_.separator = 0; }  // no column before them has a name with blanks
  bool const names_first =
      names.size() > 1 && is_name(names[0]) && is_name(names[1]) && names[0] != "nan" && names[0] != "inf";
  return leftmost.has_value() || names_first;
}

std::vector<Point> PointLines::next(std::size_t most) {
  std::vector<Point> points;
  while (points.size() < most && read_line()) {
    std::string_view rest = line_;
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (line_number_ == 1 && rest.starts_with(kByteOrderMark)) { rest.remove_prefix(kByteOrderMark.size()); }
    drop_blanks(rest, blanks_for(columns_.separator));
    if (rest.empty() || rest.starts_with('#')) { continue; }
    if (std::exchange(may_be_heading_, false) && take_heading(rest)) { continue; }
    if (std::size_t const end = rest.rfind(']'); rest.starts_with('[') && end != std::string_view::npos) {
      rest = rest.substr(1, end - 1);
    }
    std::optional<double> x, y;
    for (std::size_t column = 0; column <= std::max(columns_.x, columns_.y); ++column) {
      auto const number = finite_number(take_field(rest, columns_.separator));
      if (column == columns_.x) { x = number; }
      if (column == columns_.y) { y = number; }
    }
    if (!x || !y) { refuse(wanted() + "; \"" + printable(std::string(line_), 60) + "\" has none"); }
    points.push_back({*x, *y});
  }
  if (in_.bad()) { throw Error(ErrorKind::io, "cannot read the points", {.source = name_}); }
  return points;
}

}  // namespace terrazzo::cli
