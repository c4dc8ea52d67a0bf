// SPDX-License-Identifier: Apache-2.0
//
// The one exception type of the library.
//
// Every function that can fail throws terrazzo::Error. Its kind is what a caller acts on and is promised to stay;
// its text is for people and may change. `where()` says which file, directory (IFD), tag, tile and byte.
// Errors are values: copy them, keep them, pass them between threads.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace terrazzo {

enum class ErrorKind : std::uint8_t {
  io,           // the source or sink failed: a retry, or another path, may help
  malformed,    // the file breaks its own format: no retry helps
  unsupported,  // a valid file, or a request, that this build cannot serve; the text names what is missing
  usage,        // the caller asked for something that makes no sense (window outside the raster, bad option)
  limit,        // a budget or safety limit would be exceeded; the text names it and the setting that raises it
  device,       // the GPU or its driver failed
  cancelled,    // the caller's own cancellation was honoured
};

// "io", "malformed", ...: the names the command line prints and the Python classes carry.
[[nodiscard]] std::string_view to_string(ErrorKind kind) noexcept;

// A tile, or a strip (column 0), of one image. `plane` is 0 unless samples are stored in separate planes.
struct TileId {
  std::uint32_t column = 0;
  std::uint32_t row = 0;
  std::uint32_t plane = 0;
  friend bool operator==(TileId const&, TileId const&) = default;
};

// Where in the input the trouble is; each part is present when it is known.
struct Where {
  std::string source{};                 // file name, or the name of a memory source
  std::optional<std::uint32_t> ifd{};   // index in the chain of directories
  std::optional<std::uint16_t> tag{};   // TIFF tag number
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

  // The same error with the parts of `outer` that this one does not know yet. Outer layers catch, add and rethrow.
  [[nodiscard]] Error located(Where const& outer) const;

 private:
  ErrorKind kind_;
  std::string message_;
  Where where_;
  std::string what_;
};

}  // namespace terrazzo
