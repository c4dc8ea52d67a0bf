// SPDX-License-Identifier: Apache-2.0
//
// Tags as a reader sees them after they were written, for the tests of this folder.
#pragma once

#include "geo/describe.hpp"
#include "io/memory_source.hpp"
#include "support/failure.hpp"
#include "tiff/directory.hpp"
#include "tiff/directory_writer.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::geo {

inline tiff::Directory written(tiff::TagSet const& tags) {
  std::vector<std::byte> file = tiff::encode_header(false, 8);
  auto const directory = tiff::encode_directory(tags, false, 8, 0);
  file.insert(file.end(), directory.begin(), directory.end());
  return tiff::read_chain(std::make_shared<io::MemorySource>(std::move(file), "written.tif")).directories.at(0);
}

inline Info described(tiff::TagSet const& tags, std::size_t bands = 1, std::string const& pam = {}) {
  Info info;
  info.width = info.height = 100;
  info.bands.resize(bands);
  auto const dir = written(tags);
  info.layout.bits_per_sample = static_cast<std::uint32_t>(dir.unsigned_value(tiff::tag::BitsPerSample).value_or(8));
  Sidecars sidecars;
  if (!pam.empty()) { sidecars.pam_xml = pam; }
  MemoryBudget budget(std::uint64_t{1} << 30);
  static_cast<void>(describe(dir, sidecars, info, budget));
  return info;
}

using testing::kind_of_failure;

}  // namespace terrazzo::geo
