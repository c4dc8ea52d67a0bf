// SPDX-License-Identifier: Apache-2.0
//
// Options of one codec, given for another: who types --quality for a file that is written with zstd means something
// else than what would happen.
#pragma once

#include "write_options.hpp"

#include "terrazzo/write.hpp"

namespace terrazzo::cli {

// `options` are what `choices` made of them. Throws `usage`, with the codecs that take the option and what to type.
// WriteOptions itself is lenient: its fields for other codecs have defaults and are not looked at.
void check_codec_choices(WriteChoices const& choices, WriteOptions const& options);

}  // namespace terrazzo::cli
