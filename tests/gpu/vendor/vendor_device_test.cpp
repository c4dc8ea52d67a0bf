// SPDX-License-Identifier: Apache-2.0
//
// The vendor adapters on a real device: vendor_device_test [filter]. Each part runs in a process of its own, so that a
// crash or a broken CUDA context in one hides no other. Exit status: the number of parts that failed.
#include "device_test.hpp"
#include "gpu/vendor/library.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <string_view>

namespace {

using namespace terrazzo::gpu;

constexpr unsigned kPartSeconds = 150;

int run_in_child(device_test::Part const& part) {
  std::fflush(stdout);
  pid_t const child = fork();
  if (child == 0) {
    alarm(kPartSeconds);
    int code = 1;
    try {
      code = part.run() ? 0 : 1;
    } catch (std::exception const& error) { std::printf("FAIL %s: %s\n", part.name, error.what()); }
    std::fflush(stdout);
    _exit(code);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) { return 1; }
  if (WIFSIGNALED(status)) { std::printf("FAIL %s: killed by signal %d\n", part.name, WTERMSIG(status)); }
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
       {device_test::nvcomp_parts(), device_test::nvcomp_encode_parts(), device_test::nvjpeg_parts(),
        device_test::nvjpeg_encode_parts(), device_test::nvjpeg2k_parts(), device_test::nvjpeg2k_encode_parts()}) {
    parts.insert(parts.end(), more.begin(), more.end());
  }
  run_in_child({"libraries", &print_libraries});  // in a child: this process must stay free of CUDA to fork
  int failed = 0;
  int ran = 0;
  for (device_test::Part const& part : parts) {
    if (std::string_view(part.name).find(filter) == std::string_view::npos) { continue; }
    std::printf("== %s\n", part.name);
    ++ran;
    failed += run_in_child(part);
  }
  std::printf("%d parts, %d failed\n", ran, failed);
  return ran == 0 ? 1 : failed;
}
