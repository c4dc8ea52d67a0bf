// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C, SIGTERM, and SIGHUP (the terminal is closed) unless it was ignored when we were started (nohup): the first
// stops the work (it ends with a `cancelled` error), a second Ctrl-C or SIGTERM ends the process at once.
// A file over the process's size limit (SIGXFSZ) is an `io` error like a full disk.
// A closed pipe at our output (`| head`) stops the work too, without a message.
#pragma once

#include <atomic>

namespace terrazzo::cli {

void install_signal_handlers();

// True after the first Ctrl-C, SIGTERM or SIGHUP, and after the reader closed the pipe; for ReadRequest::cancel.
[[nodiscard]] std::atomic<bool> const* cancel_flag() noexcept;

// Throws `cancelled` if the flag is set.
void throw_if_cancelled();

// True after a write to a closed pipe.
[[nodiscard]] bool reader_has_gone() noexcept;

// In that case ends the process as SIGPIPE does, after temporary files were removed; else does nothing.
void end_if_reader_has_gone();

}  // namespace terrazzo::cli
