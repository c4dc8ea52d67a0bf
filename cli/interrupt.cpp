// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include "output/exit_code.hpp"

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

// Never ends the process at once: a closed terminal sends it twice, by the shell and by the kernel, and service
// managers send it after SIGTERM.
extern "C" void on_hangup(int) { cancelled = true; }

extern "C" void on_broken_pipe(int) {
  gone = true;
  cancelled = true;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  // No SA_RESTART: a wait for a pipe ends and checks the flag. Reads of files continue, and end between tiles.
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A closed terminal ends the process, unless SIGHUP was ignored at its start (nohup).
  struct sigaction inherited = {};
  if (sigaction(SIGHUP, nullptr, &inherited) == 0 && inherited.sa_handler != SIG_IGN) {
    action.sa_handler = on_hangup;
    sigaction(SIGHUP, &action, nullptr);
  }
  // The default action would end the process and leave temporary files; instead the write fails with EPIPE.
  action.sa_handler = on_broken_pipe;
  sigaction(SIGPIPE, &action, nullptr);
  // For a limit on the size of files (ulimit -f) too: the write fails with EFBIG.
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
