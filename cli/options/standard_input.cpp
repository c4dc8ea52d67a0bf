// SPDX-License-Identifier: Apache-2.0
#include "options/standard_input.hpp"

#include "interrupt.hpp"
#include "output/format.hpp"

#include "terrazzo/error.hpp"
#include "terrazzo/settings.hpp"

#include <algorithm>
#include <iostream>
#include <string>

namespace terrazzo::cli {
namespace {

constexpr char kName[] = "standard input";
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

}  // namespace

bool is_standard_input(std::string_view file) noexcept { return file == "-"; }

std::vector<std::byte> spool(std::istream& in, std::uint64_t limit_bytes) {
  std::vector<std::byte> bytes;
  std::uint64_t size = 0;
  while (in) {
    throw_if_cancelled();
    // Doubling the memory would exceed the limit by as much.
    std::uint64_t const piece =
        std::min<std::uint64_t>(std::max<std::uint64_t>(kPieceBytes, size / 2), limit_bytes - size + 1);
    bytes.resize(size + piece);
    in.read(reinterpret_cast<char*>(bytes.data() + size), static_cast<std::streamsize>(piece));
    size += static_cast<std::uint64_t>(in.gcount());
    if (size > limit_bytes) {
      throw Error(ErrorKind::limit,
                  "a file from standard input is kept in memory, and it exceeds the limit of " +
                      format_bytes(limit_bytes) + " (--memory-limit); write it to disk first",
                  {.source = kName});
    }
  }
  if (in.bad()) { throw Error(ErrorKind::io, "cannot be read", {.source = kName}); }
  if (size == 0) { throw Error(ErrorKind::io, "is empty", {.source = kName}); }
  bytes.resize(size);
  return bytes;
}

std::vector<std::byte> spool_standard_input() {
  Settings in_force = settings();
  std::uint64_t const limit =
      in_force.memory_limit_bytes != 0 ? in_force.memory_limit_bytes : machine().memory_bytes / 2;
  std::vector<std::byte> bytes = spool(std::cin, limit);
  in_force.memory_limit_bytes = std::max<std::uint64_t>(limit - bytes.size(), 1);
  set_settings(in_force);
  return bytes;
}

}  // namespace terrazzo::cli
