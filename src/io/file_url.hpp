// SPDX-License-Identifier: Apache-2.0
//
// file:// URLs (RFC 8089) of local files.
#pragma once

#include <optional>
#include <string>

namespace terrazzo::io {

// "file:///data/a%20b.tif" and "file://localhost/data/a%20b.tif" become "/data/a b.tif". nullopt: not a file:// URL.
// Throws `usage` for another host, a query or fragment, an invalid escape, and a zero byte.
[[nodiscard]] std::optional<std::string> path_of_file_url(std::string const& url);

}  // namespace terrazzo::io
