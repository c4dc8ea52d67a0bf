// SPDX-License-Identifier: Apache-2.0
#include "options/standard_input.hpp"

#include "interrupt.hpp"
#include "output/format.hpp"

#include "terrazzo/error.hpp"
#include "terrazzo/settings.hpp"

#include <algorithm>
#include <deque>
#include <iostream>
#include <string>

namespace terrazzo::cli {
namespace {

constexpr char kName[] = "standard input";
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

}  // namespace

bool is_standard_input(std::string_view file) noexcept { return file == "-"; }

std::vector<std::byte> spool(std::istream& in, std::uint64_t limit_bytes) {
  // A vector that grows holds its bytes twice; pieces are freed as they are joined.
  std::deque<std::vector<std::byte>> pieces;
  std::uint64_t size = 0;
  while (in) {
    throw_if_cancelled();
    std::vector<std::byte>& piece = pieces.emplace_back(std::min<std::uint64_t>(kPieceBytes, limit_bytes - size + 1));
    in.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    piece.resize(static_cast<std::size_t>(in.gcount()));
    size += piece.size();
    if (size > limit_bytes) {
      throw Error(ErrorKind::limit,
                  "a file from standard input is kept in memory, and it exceeds the limit of " +
                      format_bytes(limit_bytes) + " (--memory-limit); write it to disk first",
                  {.source = kName});
    }
  }
  if (in.bad()) { throw Error(ErrorKind::io, "cannot be read", {.source = kName}); }
  if (size == 0) { throw Error(ErrorKind::io, "is empty", {.source = kName}); }
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  for (; !pieces.empty(); pieces.pop_front()) {
    bytes.insert(bytes.end(), pieces.front().begin(), pieces.front().end());
  }
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
