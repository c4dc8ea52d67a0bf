// SPDX-License-Identifier: Apache-2.0
//
// Exit codes of the process; scripts rely on these numbers (docs/cli.md).
#pragma once

#include "terrazzo/error.hpp"

namespace terrazzo::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitUnexpected = 1;    // a defect of terrazzo
inline constexpr int kExitInterrupted = 130; // the second Ctrl-C

[[nodiscard]] constexpr int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage: return 2;
    case ErrorKind::io: return 3;
    case ErrorKind::malformed: return 4;
    case ErrorKind::unsupported: return 5;
    case ErrorKind::limit: return 6;
    case ErrorKind::device: return 7;
    case ErrorKind::cancelled: return 8;
  }
  return kExitUnexpected;
}

}  // namespace terrazzo::cli
