// SPDX-License-Identifier: Apache-2.0
#include "commands/point_lines.hpp"

#include "output/format.hpp"

#include "terrazzo/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ios>
#include <optional>
#include <string_view>

namespace terrazzo::cli {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{64} << 10;  // a file without line ends must not fill the memory
constexpr std::string_view kSpace = " \t\r";
constexpr std::string_view kSeparators = " \t\r,;";

// The next field of the line, without quotes.
std::string_view take_field(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
  std::size_t const end = std::min(line.find_first_of(kSeparators), line.size());
  std::string_view field = line.substr(0, end);
  line.remove_prefix(end);
  line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
  if (line.starts_with(',') || line.starts_with(';')) { line.remove_prefix(1); }
  if (field.size() >= 2 && field.starts_with('"') && field.ends_with('"')) {
    field = field.substr(1, field.size() - 2);
  }
  return field;
}

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

std::vector<Point> PointLines::next(std::size_t most) {
  std::vector<Point> points;
  while (points.size() < most && read_line()) {
    std::string_view rest = line_;
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (line_number_ == 1 && rest.starts_with(kByteOrderMark)) { rest.remove_prefix(kByteOrderMark.size()); }
    rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
    if (rest.empty() || rest.starts_with('#')) { continue; }
    std::string_view const x_text = take_field(rest), y_text = take_field(rest);
    auto const x = finite_number(x_text), y = finite_number(y_text);
    bool const is_heading = may_be_heading_ && is_name(x_text) && is_name(y_text) && x_text != "nan" && x_text != "inf";
    may_be_heading_ = false;
    if (is_heading) { continue; }
    if (!x || !y) { refuse("expected X,Y, two finite numbers; \"" + printable(std::string(line_), 60) + "\" is none"); }
    points.push_back({*x, *y});
  }
  if (in_.bad()) { throw Error(ErrorKind::io, "cannot read the points", {.source = name_}); }
  return points;
}

}  // namespace terrazzo::cli
