// SPDX-License-Identifier: Apache-2.0
//
// Rows of a read into a Writer: the next block is read while the last one is written.
#pragma once

#include "terrazzo/blocks.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

namespace terrazzo::ops {

// Blocks of what `read` asks for, sized for `options`, with its threads and its cancellation.
[[nodiscard]] RowBlocks blocks_for(Dataset const& source, ReadRequest read, WriteOptions const& options);

// All of them. With `options.mask` the mask has the pixels that any band has, or those that alpha makes valid. Closing
// the writer is the caller's.
ReadReport stream_rows(RowBlocks const& blocks, WriteOptions const& options, Writer& writer);

}  // namespace terrazzo::ops
