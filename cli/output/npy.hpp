// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy format, version 1.0.
#pragma once

#include "terrazzo/dtype.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace terrazzo::cli {

// The bytes before the samples, a multiple of 64. Types NumPy lacks (complex integers, complex halves) get a last axis
// of two: the real and the imaginary part.
[[nodiscard]] std::string npy_header(DType dtype, std::vector<std::uint64_t> shape);

}  // namespace terrazzo::cli
