// SPDX-License-Identifier: Apache-2.0
//
// The compressions that --compression can name, and the check of their options. The library has the list and the
// settings of each (codecs.hpp).
#pragma once

#include "options/write_options.hpp"

#include "terrazzo/write.hpp"

#include <string>
#include <vector>

namespace terrazzo::cli {

// "none", "packbits", "lzw", ...: all values of --compression.
[[nodiscard]] std::vector<std::string> const& compression_names();

// "none, packbits, ..., zstd (default), ...", for --help.
[[nodiscard]] std::string compressions_text();

// "deflate 1-12 (6), zstd 1-22 (9), ...": the levels of each compression and its default, for --help. LERC combined
// with another codec has the levels of that codec and is left out.
[[nodiscard]] std::string levels_text();

// Refuses options of codecs other than the chosen one: --quality with zstd would be ignored silently, which is
// probably a mistake. `options` include `choices`. Throws `usage` with the codecs that take the option and a correct
// command. WriteOptions itself is lenient: its fields for other codecs have defaults and are ignored.
void check_codec_choices(WriteChoices const& choices, WriteOptions const& options);

}  // namespace terrazzo::cli
