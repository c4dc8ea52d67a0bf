// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include "exit_code.hpp"

#include "terrazzo/error.hpp"

#include <signal.h>
#include <unistd.h>

namespace terrazzo::cli {
namespace {

std::atomic<bool> cancelled{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set inside a signal handler");

extern "C" void on_interrupt(int) {
  if (cancelled.exchange(true)) { _exit(kExitInterrupted); }
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;  // reads of files go on; the flag ends the work between tiles
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_DFL);
}

std::atomic<bool> const* cancel_flag() noexcept { return &cancelled; }

void throw_if_cancelled() {
  if (cancelled) { throw Error(ErrorKind::cancelled, "interrupted"); }
}

}  // namespace terrazzo::cli
