// SPDX-License-Identifier: Apache-2.0
//
// The only exception type of the library.
//
// Every function that can fail throws terrazzo::Error. Callers act on its kind, which is stable; the text is for people
// and may change. where() gives the file, directory (IFD), tag, tile and byte. Errors are values: they can be copied,
// stored and passed between threads.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace terrazzo {

enum class ErrorKind : std::uint8_t {
  io,  // the source or sink failed; a retry or another path may help
  malformed,  // the file violates its format; a retry cannot help
  unsupported,  // this build cannot serve the valid file or request; the text names the missing part
  usage,  // the request is invalid (window outside the raster, bad option)
  limit,  // a budget or safety limit would be exceeded; the text names the limit and the setting that raises it
  device,  // the GPU or its driver failed
  cancelled,  // the caller cancelled the operation
};

// "io", "malformed", ...: the names that the command line prints.
[[nodiscard]] std::string_view to_string(ErrorKind kind) noexcept;

// A tile of one image, or a strip (column 0). `plane` is 0 unless bands are stored in separate planes.
struct TileId {
  std::uint32_t column = 0;
  std::uint32_t row = 0;
  std::uint32_t plane = 0;
  friend bool operator==(TileId const&, TileId const&) = default;
};

// The place of an error in the input. Unknown parts are empty.
struct Where {
  std::string source{};  // file name, or the name of a memory source
  std::optional<std::uint32_t> ifd{};  // index in the chain of directories
  std::optional<std::uint16_t> tag{};  // TIFF tag number
  std::optional<TileId> tile{};
  std::optional<std::uint64_t> offset{};  // byte offset in the source
};

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, Where where = {});

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] std::string const& message() const noexcept { return message_; }
  [[nodiscard]] Where const& where() const noexcept { return where_; }

  // "dem.tif: IFD 2: tag 324: tile (17, 4): LZW code 499 is past the table"
  [[nodiscard]] char const* what() const noexcept override { return what_.c_str(); }

  // A copy whose unknown parts of where() are filled from `outer`. Outer layers catch, call this and rethrow.
  [[nodiscard]] Error located(Where const& outer) const;

 private:
  ErrorKind kind_;
  std::string message_;
  Where where_;
  std::string what_;
};

}  // namespace terrazzo
#pragma GCC visibility pop
