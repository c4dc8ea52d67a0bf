// SPDX-License-Identifier: Apache-2.0
#include "io/file_url.hpp"

#include "base/letter_case.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <charconv>
#include <string_view>

namespace terrazzo::io {

namespace {

constexpr std::string_view kScheme = "file://";

[[noreturn]] void refuse(std::string const& url, std::string const& why) {
  throw Error(ErrorKind::usage, why, {.source = url});
}

// The byte of "%41", with which `escaped` begins.
char unescape(std::string_view escaped, std::string const& url) {
  unsigned value = 0;
  std::string_view const digits = escaped.substr(1, 2);
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || digits.size() != 2 || end != digits.data() + 2) {
    refuse(url, text("\"", escaped.substr(0, 3), "\" in a file URL is no escaped byte: a percent sign is %25"));
  }
  if (value == 0) { refuse(url, "a file name cannot have a zero byte"); }
  return static_cast<char>(value);
}

}  // namespace

std::optional<std::string> path_of_file_url(std::string const& url) {
  if (!starts_with_ignoring_case(url, kScheme)) { return std::nullopt; }
  std::string_view const rest = std::string_view(url).substr(kScheme.size());
  std::size_t const slash = rest.find('/');
  std::string_view const host = rest.substr(0, slash);
  if (slash == std::string_view::npos) { refuse(url, "a file URL has a path: file:///folder/name.tif"); }
  if (!host.empty() && !equals_ignoring_case(host, "localhost")) {
    refuse(url, text("a file URL names a file of this machine, not of \"", host, "\""));
  }
  std::string_view const escaped = rest.substr(slash);
  if (escaped.find_first_of("?#") != std::string_view::npos) {
    refuse(url, "a file URL has no query and no fragment: ? is %3F and # is %23 in a name");
  }
  std::string path;
  path.reserve(escaped.size());
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '%') {
      path += escaped[i];
      continue;
    }
    path += unescape(escaped.substr(i), url);
    i += 2;
  }
  return path;
}

}  // namespace terrazzo::io
