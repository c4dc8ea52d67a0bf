// SPDX-License-Identifier: Apache-2.0
#include "options/input_list.hpp"

#include "options/standard_input.hpp"

#include "terrazzo/error.hpp"

#include <fstream>
#include <iostream>

namespace terrazzo::cli {

std::vector<std::string> read_names(std::istream& in, std::string const& name) {
  constexpr std::size_t kLongest = 1 << 16;
  std::vector<std::string> names;
  std::vector<char> buffer(kLongest + 2);  // a list without line ends must not fill the memory
  while (true) {
    in.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    auto const count = static_cast<std::size_t>(in.gcount());
    if (in.fail() && count == 0) { break; }
    bool const has_end = !in.eof() && !in.fail();  // counted, too
    std::string line(buffer.data(), has_end ? count - 1 : count);
    if (line.ends_with('\r')) { line.pop_back(); }
    if (line.empty()) { continue; }
    if (in.fail() || line.size() > kLongest || line.find('\0') != std::string::npos) {
      throw Error(ErrorKind::usage,
                  "line " + std::to_string(names.size() + 1) + " of the list is not the name of a file",
                  {.source = name});
    }
    names.push_back(std::move(line));
  }
  if (in.bad()) { throw Error(ErrorKind::io, "the list cannot be read", {.source = name}); }
  return names;
}

std::vector<std::string> read_names(std::string const& path) {
  if (is_standard_input(path)) { return read_names(std::cin, "standard input"); }
  std::ifstream in(path);
  if (!in) { throw Error(ErrorKind::io, "the list of inputs cannot be opened", {.source = path}); }
  return read_names(in, path);
}

}  // namespace terrazzo::cli
