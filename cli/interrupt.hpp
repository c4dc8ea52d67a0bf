// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C, SIGTERM, and SIGHUP (the terminal is closed) unless it was ignored when we were started (nohup): the first
// asks the work to stop (it ends with a `cancelled` error), a second Ctrl-C or SIGTERM ends the process at once.
// A file that passes the limit of the process (SIGXFSZ) is an `io` error like a full disk.
// A reader of our output who goes away (`| head`) asks the work to stop too; nothing is said of it.
#pragma once

#include <atomic>

namespace terrazzo::cli {

void install_signal_handlers();

// True after the first Ctrl-C, SIGTERM or SIGHUP, and when the reader has gone; for ReadRequest::cancel.
[[nodiscard]] std::atomic<bool> const* cancel_flag() noexcept;

// Throws `cancelled` when the flag is set.
void throw_if_cancelled();

// A pipe was written to that nobody reads any more.
[[nodiscard]] bool reader_has_gone() noexcept;

// Then the process ends here as SIGPIPE ends others, now that files under way are put away; else it does nothing.
void end_if_reader_has_gone();

}  // namespace terrazzo::cli
