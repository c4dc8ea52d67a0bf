// SPDX-License-Identifier: Apache-2.0
//
// Samples as text and JSON.
#pragma once

#include "output/json_output.hpp"

#include "terrazzo/sample.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace terrazzo::cli {

// The type in which samples of type `dtype` are read for printing. It holds all values of `dtype`; float16 and complex
// types of small parts become larger ones.
[[nodiscard]] DType printed_dtype(DType dtype) noexcept;

// A valid sample: the shortest number that reads back the same, "3+4j" for complex. "nodata" if it is missing, and
// empty if the point is outside. REQUIRES: the type is a printed_dtype().
[[nodiscard]] std::string sample_to_text(SampleResult const& samples, std::uint32_t band, std::size_t point);

// A number, [real, imaginary], or null if it is missing or outside.
[[nodiscard]] Json sample_to_json(SampleResult const& samples, std::uint32_t band, std::size_t point);

}  // namespace terrazzo::cli
