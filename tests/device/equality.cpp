// SPDX-License-Identifier: Apache-2.0
//
// equality FILE...: reads every file by both engines, in every way a request can ask for, and compares: pixels, counts,
// errors. Needs a GPU. Prints one line a file that differs and a summary; exits with 1 when any does.
#include "terrazzo/device.hpp"

#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace terrazzo;

struct Outcome {
  std::optional<HostArray> pixels;
  std::string error;  // kind and message
  ReadReport report;
};

Outcome outcome_of(std::function<HostArray(ReadReport&)> const& work) {
  Outcome outcome;
  try {
    outcome.pixels = work(outcome.report);
  } catch (Error const& error) { outcome.error = std::string(to_string(error.kind())) + ": " + error.what(); }
  return outcome;
}

std::string difference(Outcome const& host, Outcome const& device) {
  if (host.error != device.error) { return "host says '" + host.error + "', device '" + device.error + "'"; }
  if (!host.pixels) { return ""; }
  auto const a = host.pixels->bytes(), b = device.pixels->bytes();
  if (a.size() != b.size() || host.pixels->dtype() != device.pixels->dtype()) { return "shapes differ"; }
  if (std::memcmp(a.data(), b.data(), a.size()) != 0) {
    std::size_t at = 0, count = 0;
    for (std::size_t i = a.size(); i-- > 0;) {
      if (a[i] != b[i]) {
        at = i;
        ++count;
      }
    }
    return std::to_string(count) + " of " + std::to_string(a.size()) + " bytes differ, the first at " +
           std::to_string(at);
  }
  if (host.report.bad_tiles.size() != device.report.bad_tiles.size()) {
    return std::to_string(host.report.bad_tiles.size()) + " and " + std::to_string(device.report.bad_tiles.size()) +
           " bad tiles";
  }
  return "";
}

struct Case {
  std::string name;
  ReadRequest request;
};

std::vector<Case> cases_of(Dataset const& dataset) {
  Info const& info = dataset.info();
  std::vector<Case> cases{{"whole", {}}};
  auto const bands = static_cast<std::uint32_t>(info.bands.size());
  std::uint32_t const w = info.width, h = info.height;
  ReadRequest request;
  request.window = Window{w / 3, h / 3, std::max(1u, w / 2), std::max(1u, h / 2)};
  cases.push_back({"window", request});
  request = {};
  for (std::uint32_t b = bands; b > 0; --b) { request.bands.push_back(b); }
  request.bands.push_back(1);
  if (request.bands.size() < 40) { cases.push_back({"bands reversed and one twice", request}); }
  for (DType const dtype : {DType::u8, DType::i16, DType::f16, DType::f32, DType::f64, DType::u64, DType::cf32}) {
    request = {};
    request.dtype = dtype;
    cases.push_back({"as " + std::string(to_string(dtype)), request});
  }
  request = {};
  request.masked = request.unpack = true;
  cases.push_back({"masked and unpacked", request});
  request = {};
  request.target_size = TargetSize{w / 2 + 1, h / 3 + 1};
  cases.push_back({"smaller", request});
  request.target_size = TargetSize{std::min(w * 2 + 1, 3000u), std::min(h + 7, 3000u)};
  cases.push_back({"larger", request});
  request = {};
  request.bad_tile = BadTile::fill;
  cases.push_back({"bad tiles filled", request});
  request = {};
  request.device_budget_bytes = 24u << 20;
  cases.push_back({"small budget", request});
  return cases;
}

}  // namespace

// equality [--trusted] FILES: --trusted lets nvCOMP's ZSTD decode too.
int main(int argc, char** argv) {
  int failures = 0, files = 0, checks = 0;
  OpenOptions options;
  for (int i = 1; i < argc; ++i) {
    std::string const path = argv[i];
    if (path == "--trusted") {
      options.trust = Trust::trusted;
      continue;
    }
    std::optional<Dataset> dataset;
    try {
      dataset.emplace(open(path, options));
    } catch (Error const&) { continue; }
    ++files;
    for (auto const& [name, asked] : cases_of(*dataset)) {
      ReadRequest request = asked;
      if (std::uint64_t{dataset->info().width} * dataset->info().height > (std::uint64_t{1} << 28)) { continue; }
      request.exact = true;
      request.memory_limit_bytes = std::uint64_t{4} << 30;
      request.engine = Engine::host;
      Outcome const host = outcome_of([&](ReadReport& report) { return read(*dataset, request, &report); });
      if (host.error.starts_with("usage") || host.error.starts_with("limit")) { continue; }
      request.engine = Engine::device;
      Outcome const device =
          outcome_of([&](ReadReport& report) { return read_device(*dataset, request, nullptr, &report).to_host(); });
      ++checks;
      if (std::string const what = difference(host, device); !what.empty()) {
        std::printf("FAIL %s, %s: %s\n", path.c_str(), name.c_str(), what.c_str());
        ++failures;
      }
    }
  }
  std::printf("%s device equals host: %d checks of %d files, %d differ\n", failures == 0 ? "PASS" : "FAIL", checks,
              files, failures);
  return failures == 0 ? 0 : 1;
}
