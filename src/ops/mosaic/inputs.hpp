// SPDX-License-Identifier: Apache-2.0
//
// The first pass over the inputs of a mosaic: opens each file for its header, checks that it fits to the first one, and
// keeps a small record of it. No file stays open.
#pragma once

#include "ops/mosaic/grid.hpp"
#include "terrazzo/info.hpp"
#include "terrazzo/mosaic.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo::ops {

// The source of the validity of an input's pixels. Beside alpha or a mask, values may be missing too.
enum class Validity : std::uint8_t {
  everywhere,
  by_value,  // nodata or NaN alone, for each band
  by_alpha,
  by_mask,  // a mask image
};

struct Input {
  std::string path{};
  Footprint footprint{};
  DType dtype = DType::u8;
  std::uint32_t bands = 0;  // all of the file
  Validity validity = Validity::everywhere;
  bool has_missing_values = false;  // samples with the file's nodata value, or NaN, are missing
  std::optional<Nodata> nodata{};  // of the first requested band that has a nodata value
  std::uint32_t files = 1;  // the file and its sidecars: at most as many descriptors

  // True if both describe the same pixels.
  [[nodiscard]] bool matches(Input const& other) const noexcept;
};

struct Inputs {
  std::vector<Input> files{};
  Info first{};  // with the fields that need PROJ
  std::vector<std::uint32_t> bands{};  // the requested ones, 1-based
  WriteOptions like_first{};  // for a copy of the first input: conversion_options()
};

// Throws the error of the first input, in the order of the list, that fails.
[[nodiscard]] Inputs read_inputs(std::vector<std::string> const& paths, MosaicRequest const& request);

// Opens a file by the request's function.
[[nodiscard]] Dataset open_input(std::string const& path, MosaicRequest const& request);

[[nodiscard]] Input describe_input(std::string const& path, Info const& info, std::vector<std::uint32_t> const& bands);

}  // namespace terrazzo::ops
