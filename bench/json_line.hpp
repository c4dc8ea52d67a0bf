// SPDX-License-Identifier: Apache-2.0
//
// One flat JSON object a line, printed when it is complete: for benchmark programs whose output scripts read.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace terrazzo::bench {

class JsonLine {
 public:
  explicit JsonLine(std::string_view measure) { put("measure", measure); }

  JsonLine& put(std::string_view name, std::string_view text) {
    start(name);
    line_ += '"';
    for (char const c : text) {
      if (c == '"' || c == '\\') { line_ += '\\'; }
      line_ += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    line_ += '"';
    return *this;
  }
  JsonLine& put(std::string_view name, char const* text) { return put(name, std::string_view(text)); }
  JsonLine& put(std::string_view name, bool value) { return put_bare(name, value ? "true" : "false"); }
  JsonLine& put(std::string_view name, std::uint64_t value) { return put_bare(name, std::to_string(value)); }
  JsonLine& put(std::string_view name, double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return put_bare(name, text);
  }

  // Flushes, so that a run that is stopped has printed its results so far.
  void print() const {
    std::printf("%s}\n", line_.c_str());
    std::fflush(stdout);
  }

 private:
  JsonLine& put_bare(std::string_view name, std::string_view value) {
    start(name);
    line_ += value;
    return *this;
  }
  void start(std::string_view name) {
    line_ += line_.empty() ? "{\"" : ", \"";
    line_ += name;
    line_ += "\": ";
  }

  std::string line_;
};

}  // namespace terrazzo::bench
