// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

namespace terrazzo::cli {
namespace {

// Signals and their flags are of the process, so every case has one of its own.

// True when the write failed and was noticed, and the work was asked to stop.
bool notices_a_broken_pipe() {
  int ends[2];
  if (pipe(ends) != 0) { return false; }
  close(ends[0]);
  bool const before = reader_has_gone() || cancel_flag()->load();
  bool const failed = write(ends[1], "x", 1) < 0;
  return !before && failed && reader_has_gone() && cancel_flag()->load();
}

TEST(InterruptDeathTest, ReaderWhoGoesAwayAsksToStopAndEndsTheProcessAtItsEnd) {
  EXPECT_EXIT(
      {
        install_signal_handlers();
        if (!notices_a_broken_pipe()) { _exit(1); }
        end_if_reader_has_gone();
      },
      ::testing::KilledBySignal(SIGPIPE), "");
}

TEST(InterruptDeathTest, FirstInterruptAsksToStopAndTheSecondEndsTheProcess) {
  EXPECT_EXIT(
      {
        install_signal_handlers();
        raise(SIGINT);
        bool thrown = false;
        try {
          throw_if_cancelled();
        } catch (Error const& error) { thrown = error.kind() == ErrorKind::cancelled; }
        end_if_reader_has_gone();
        if (!thrown || reader_has_gone()) { _exit(1); }
        raise(SIGINT);
      },
      ::testing::ExitedWithCode(130), "");
}

TEST(InterruptDeathTest, TerminalThatIsClosedAsksToStop) {
  EXPECT_EXIT(
      {
        signal(SIGHUP, SIG_DFL);
        install_signal_handlers();
        raise(SIGHUP);
        raise(SIGHUP);  // by the shell, and by the kernel
        _exit(cancel_flag()->load() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(InterruptDeathTest, TerminalIsOfNoConcernToThoseStartedByNohup) {
  EXPECT_EXIT(
      {
        signal(SIGHUP, SIG_IGN);
        install_signal_handlers();
        raise(SIGHUP);
        _exit(cancel_flag()->load() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace terrazzo::cli
