// SPDX-License-Identifier: Apache-2.0
//
// What `terrazzo doctor` says about the facts.
#pragma once

#include "doctor_facts.hpp"
#include "json_output.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace terrazzo::cli {

// Something that is not there, and how to get it.
struct MissingPart {
  std::string what;     // "nvcomp: deflate and zstd on the GPU"
  std::string command;  // to type; empty when there is none
  std::string advice;   // what no command can do; empty when there is one
};

[[nodiscard]] std::vector<MissingPart> missing_parts(DoctorFacts const& facts);

// One sentence: who decodes when nobody asks for anything.
[[nodiscard]] std::string default_engine(DoctorFacts const& facts);

[[nodiscard]] Json to_json(DoctorFacts const& facts);
void print(DoctorFacts const& facts, std::ostream& out);

}  // namespace terrazzo::cli
