// SPDX-License-Identifier: Apache-2.0
//
// Text of the command line into values. The parsers throw a `usage` error that names the option and shows what is
// wanted.
#pragma once

#include "terrazzo/read.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace terrazzo::cli {

// A whole number of `least` to `most`.
[[nodiscard]] std::uint64_t parse_whole(std::string_view option, std::string_view text, std::uint64_t least,
                                        std::uint64_t most);

// ASCII only: options and names of files are not cultural.
[[nodiscard]] std::string lower_case(std::string_view text);

// One of `names`: its index.
[[nodiscard]] std::size_t parse_choice(std::string_view option, std::string_view text,
                                       std::span<std::string const> names);

// "512M", "4G", "1.5G", "65536": bytes; units are powers of 1024. 0 is one too: the default.
[[nodiscard]] std::uint64_t parse_size(std::string_view option, std::string_view text);

// "COLUMN,ROW,WIDTH,HEIGHT"
[[nodiscard]] Window parse_window(std::string_view option, std::string_view text);

// "1,3,2" or "1-4,7"
[[nodiscard]] std::vector<std::uint32_t> parse_bands(std::string_view option, std::string_view text);

// "WIDTH,HEIGHT" or "WIDTHxHEIGHT"
[[nodiscard]] TargetSize parse_target_size(std::string_view option, std::string_view text);

// "X,Y"; with `one_is_both`, "X" stands for "X,X".
[[nodiscard]] std::pair<double, double> parse_pair(std::string_view option, std::string_view text, bool one_is_both);

[[nodiscard]] DType parse_dtype(std::string_view option, std::string_view text);

}  // namespace terrazzo::cli
