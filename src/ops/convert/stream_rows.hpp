// SPDX-License-Identifier: Apache-2.0
//
// Streams rows of a read into a Writer: one block is read while the previous one is written.
#pragma once

#include "terrazzo/blocks.hpp"
#include "terrazzo/convert.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

namespace terrazzo::ops {

// Blocks of the result of `read`, sized for `options`, with its threads and its cancellation.
[[nodiscard]] RowBlocks blocks_for(Dataset const& source, ReadRequest read, WriteOptions const& options);

// Streams all blocks, with missing pixels around them. With `options.mask`, a pixel is valid if any band is valid
// there, or by alpha. The caller closes the writer.
ReadReport stream_rows(RowBlocks const& blocks, WriteOptions const& options, Writer& writer,
                       Margins const& margins = {});

}  // namespace terrazzo::ops
