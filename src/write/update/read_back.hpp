// SPDX-License-Identifier: Apache-2.0
//
// Reads written bytes again before readers see them: sources for bytes that are not published yet, and comparisons of
// directories with their expected contents. A difference is an `io` Error, and the file is not published.
#pragma once

#include "terrazzo/sink.hpp"
#include "terrazzo/source.hpp"
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

// Bytes to be written at an offset of the file.
struct Patch {
  std::uint64_t offset_bytes = 0;
  std::vector<std::byte> bytes{};
};

// The current file at `path`, with `patches` applied.
[[nodiscard]] ByteSourcePtr patched_file(std::string const& path, std::vector<Patch> patches);

// Throws `io` unless the file at `path` has the bytes of the patch.
void require_bytes(std::string const& path, Patch const& patch);

// The contents of a seekable sink before it is published, as a file of this size. The sink outlives the source.
[[nodiscard]] ByteSourcePtr written_so_far(ByteSink& sink, std::uint64_t size_bytes);

// Wraps a sink and checks its bytes before it publishes them: `check` throws if they are wrong. Sinks that cannot seek
// are not checked.
[[nodiscard]] std::shared_ptr<ByteSink> checked_sink(std::shared_ptr<ByteSink> sink,
                                                     std::function<void(ByteSourcePtr const&)> check);

[[nodiscard]] bool same_tags(tiff::TagSet const& a, tiff::TagSet const& b);

// Returns a chain that has `directories` directories and no warnings.
[[nodiscard]] tiff::Chain read_back_chain(ByteSourcePtr const& source, std::size_t directories);
void require_tags(tiff::Directory const& directory, tiff::TagSet const& wanted);
// Requires equal entries. Values are equal bytes at any offset; or, if no patch may overlap one (FileClaims), values at
// the same offset: thousands of directories may share them.
enum class Values : std::uint8_t { compared, in_place };
void require_same(tiff::Directory const& directory, tiff::Directory const& wanted, Values values);

// An image of that size whose blocks all lie between two offsets, or are sparse.
struct WantedLevel {
  std::uint32_t width_px = 0, height_px = 0;
  bool mask = false;
};
void require_level(tiff::Directory const& directory, WantedLevel const& wanted, std::uint64_t begin_bytes,
                   std::uint64_t end_bytes);

}  // namespace terrazzo::writing
