// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C: the first asks the work to stop (it ends with a `cancelled` error), the second ends the process at once.
#pragma once

#include <atomic>

namespace terrazzo::cli {

// Also leaves SIGPIPE to its default: a reader who has gone away ends us without a word.
void install_signal_handlers();

// True after the first Ctrl-C or SIGTERM; for ReadRequest::cancel.
[[nodiscard]] std::atomic<bool> const* cancel_flag() noexcept;

// Throws `cancelled` after the first Ctrl-C.
void throw_if_cancelled();

}  // namespace terrazzo::cli
