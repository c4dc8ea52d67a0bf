// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include "exit_code.hpp"

#include "terrazzo/error.hpp"

#include <signal.h>
#include <unistd.h>

namespace terrazzo::cli {
namespace {

std::atomic<bool> cancelled{false}, gone{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set inside a signal handler");

extern "C" void on_interrupt(int) {
  if (cancelled.exchange(true)) { _exit(kExitInterrupted); }
}

// Never ends us at once: a closed terminal says it twice, by the shell and by the kernel, and service managers say it
// after SIGTERM.
extern "C" void on_hangup(int) { cancelled = true; }

extern "C" void on_broken_pipe(int) {
  gone = true;
  cancelled = true;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  // No SA_RESTART: who waits for a pipe looks at the flag. Reads of files go on, and end between tiles.
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A terminal that is closed ends us, unless we were started not to care (nohup).
  struct sigaction inherited = {};
  if (sigaction(SIGHUP, nullptr, &inherited) == 0 && inherited.sa_handler != SIG_IGN) {
    action.sa_handler = on_hangup;
    sigaction(SIGHUP, &action, nullptr);
  }
  // Left to its default it would end us with temporary files lying about; the write itself fails with EPIPE.
  action.sa_handler = on_broken_pipe;
  sigaction(SIGPIPE, &action, nullptr);
  // The same of a limit on the size of files (ulimit -f): the write fails with EFBIG.
  signal(SIGXFSZ, SIG_IGN);
}

std::atomic<bool> const* cancel_flag() noexcept { return &cancelled; }

void throw_if_cancelled() {
  if (cancelled) { throw Error(ErrorKind::cancelled, "interrupted"); }
}

bool reader_has_gone() noexcept { return gone; }

void end_if_reader_has_gone() {
  if (!gone) { return; }
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
}

}  // namespace terrazzo::cli
