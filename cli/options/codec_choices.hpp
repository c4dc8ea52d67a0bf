// SPDX-License-Identifier: Apache-2.0
//
// Refuses options of codecs other than the chosen one: --quality with zstd would be ignored silently, which is
// probably a mistake.
#pragma once

#include "options/write_options.hpp"

#include "terrazzo/write.hpp"

namespace terrazzo::cli {

// `options` include `choices`. Throws `usage` with the codecs that take the option and a correct command.
// WriteOptions itself is lenient: its fields for other codecs have defaults and are ignored.
void check_codec_choices(WriteChoices const& choices, WriteOptions const& options);

}  // namespace terrazzo::cli
