// SPDX-License-Identifier: Apache-2.0
//
// Runs code that would change the whole process: another user, limits, a sudden end.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <stdexcept>

namespace terrazzo::testing {

constexpr int kThrew = 99;  // exit code of a body that threw

// Forks; the child runs `body` and exits with its result, without destructors of the parent's objects.
template <class Body>
[[nodiscard]] pid_t start_child(Body const& body) {
  pid_t const child = fork();
  if (child < 0) { throw std::runtime_error("no child process"); }
  if (child == 0) {
    int code = kThrew;
    try {
      code = body();
    } catch (...) { code = kThrew; }
    _exit(code);
  }
  return child;
}

// The exit code, or the negative number of the signal that ended the process.
[[nodiscard]] inline int wait_for(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) { throw std::runtime_error("lost a child process"); }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

template <class Body>
[[nodiscard]] int in_child(Body const& body) {
  return wait_for(start_child(body));
}

}  // namespace terrazzo::testing
