// SPDX-License-Identifier: Apache-2.0
//
// What was written, read again before readers see it: sources for bytes that are not published yet, and comparisons of
// directories with what was asked for. A difference is an `io` Error: nothing is published then.
#pragma once

#include "base/byte_sink.hpp"
#include "base/byte_source.hpp"
#include "tiff/directory.hpp"
#include "tiff/directory_writer.hpp"
#include "tiff/image.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::writing {

// Bytes to come, at a place of the file.
struct Patch {
  std::uint64_t offset_bytes = 0;
  std::vector<std::byte> bytes{};
};

// The file at `path` as it is now, with `patches` made.
[[nodiscard]] ByteSourcePtr patched_file(std::string const& path, std::vector<Patch> patches);

// Throws `io` unless the file at `path` has the bytes of the patch.
void require_bytes(std::string const& path, Patch const& patch);

// What a seekable sink holds before it is published, as a file of this size. The sink outlives it.
[[nodiscard]] ByteSourcePtr written_so_far(ByteSink& sink, std::uint64_t size_bytes);

// Another sink, whose bytes are looked at before it publishes them: `check` throws when they are not what they should
// be. Sinks that cannot seek are not looked at.
[[nodiscard]] std::shared_ptr<ByteSink> checked_sink(std::shared_ptr<ByteSink> sink,
                                                     std::function<void(ByteSourcePtr const&)> check);

[[nodiscard]] bool same_tags(tiff::TagSet const& a, tiff::TagSet const& b);

// A chain without warnings that has so many directories.
[[nodiscard]] tiff::Chain read_back_chain(ByteSourcePtr const& source, std::size_t directories);
void require_tags(tiff::Directory const& directory, tiff::TagSet const& wanted);
// The same entries. Values are the same bytes, wherever they lie; or, when no patch may lie on one (FileClaims), at the
// same place: thousands of directories may share them.
enum class Values : std::uint8_t { compared, in_place };
void require_same(tiff::Directory const& directory, tiff::Directory const& wanted, Values values);

// An image of that size whose blocks all lie between two places, or are sparse.
struct WantedLevel {
  std::uint32_t width_px = 0, height_px = 0;
  bool mask = false;
};
void require_level(tiff::Directory const& directory, WantedLevel const& wanted, std::uint64_t begin_bytes,
                   std::uint64_t end_bytes);

}  // namespace terrazzo::writing
