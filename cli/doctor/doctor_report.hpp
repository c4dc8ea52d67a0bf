// SPDX-License-Identifier: Apache-2.0
//
// The report of `terrazzo doctor` on the facts.
#pragma once

#include "doctor/doctor_facts.hpp"
#include "output/json_output.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace terrazzo::cli {

// A missing part, and the way to install it.
struct MissingPart {
  std::string what;     // "nvcomp: deflate and zstd on the GPU"
  std::string command;  // the command to type; empty if there is none
  std::string advice;   // advice if no command helps; else empty
};

[[nodiscard]] std::vector<MissingPart> missing_parts(DoctorFacts const& facts);

// One sentence: the default engine.
[[nodiscard]] std::string default_engine(DoctorFacts const& facts);

[[nodiscard]] Json to_json(DoctorFacts const& facts);
void print(DoctorFacts const& facts, std::ostream& out);

}  // namespace terrazzo::cli
