// SPDX-License-Identifier: Apache-2.0
//
// The vendor adapters on a real device: vendor_device_test [filter]. Parts whose names contain the filter run, each in
// a process of its own, so that a crash or a broken CUDA context in one hides no other. Exit status: the number of
// parts that failed.
#include "device_test.hpp"
#include "gpu/vendor/library.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <string>
#include <string_view>

namespace {

using namespace terrazzo::gpu;

int run_in_child(device_test::Part const& part) {
  std::fflush(stdout);
  pid_t const child = fork();
  if (child == 0) {
    alarm(part.seconds);
    int code = 1;
    try {
      (void)device_test::seconds_taken();
      code = part.run() ? 0 : 1;
    } catch (std::exception const& error) { std::printf("FAIL %s: %s\n", part.name, error.what()); }
    std::fflush(stdout);
    _exit(code);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) { return 1; }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    std::printf("FAIL %s: not done after %u s\n", part.name, part.seconds);
  } else if (WIFSIGNALED(status)) {
    std::printf("FAIL %s: killed by signal %d\n", part.name, WTERMSIG(status));
  }
  return status == 0 ? 0 : 1;
}

bool print_libraries() {
  for (VendorLibrary const& library : vendor_libraries()) {
    std::printf("%-9s %s\n", library.name.c_str(),
                library.found ? (library.version + " " + library.path).c_str() : library.hint.c_str());
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a part that runs out of time has still said what it measured
  std::string_view const filter = argc > 1 ? argv[1] : "";
  std::vector<device_test::Part> parts;
  for (auto const& more :
       {device_test::nvcomp_parts(), device_test::nvjpeg_parts(), device_test::encode_raw_parts(),
        device_test::nvjpeg_encode_parts(), device_test::nvjpeg2k_parts(), device_test::nvjpeg2k_encode_parts()}) {
    parts.insert(parts.end(), more.begin(), more.end());
  }
  run_in_child({"libraries", &print_libraries});  // in a child: this process must stay free of CUDA to fork
  int failed = 0;
  int ran = 0;
  std::string names;
  auto const start = std::chrono::steady_clock::now();
  for (device_test::Part const& part : parts) {
    std::string_view const name = part.name;
    if (name.find(filter) == std::string_view::npos || (part.on_request && name != filter)) { continue; }
    std::printf("== %s\n", part.name);
    ++ran;
    if (run_in_child(part) != 0) {
      ++failed;
      names.append(" ").append(name);
    }
  }
  std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - start;
  std::printf("%d parts, %d failed%s%s, %.1f s\n", ran, failed, failed == 0 ? "" : ":", names.c_str(), taken.count());
  return ran == 0 ? 1 : failed;
}
