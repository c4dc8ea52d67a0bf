// SPDX-License-Identifier: Apache-2.0
#include "output/errors.hpp"

#include "interrupt.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/option_names.hpp"

#include <exception>
#include <iostream>
#include <new>
#include <string_view>

namespace terrazzo::cli {
namespace {

// A URL, or a name of GDAL's virtual file systems.
bool is_remote(std::string_view source) {
  return source.find("://") != std::string_view::npos || source.starts_with("/vsi");
}

std::string_view hint_for(Error const& error) {
  if (error.kind() == ErrorKind::unsupported && is_remote(error.where().source)) {
    return "download the file, or pipe it: \"curl -s URL | terrazzo info -\"; the Python package reads URLs";
  }
  switch (error.kind()) {
    case ErrorKind::io: return "check that the file exists, is complete, and may be read or written";
    case ErrorKind::malformed:
      return error.where().tile ? "`terrazzo info --check FILE` lists the bad tiles; `--fill-bad` fills them"
                                : "the file is damaged, or is not a TIFF";
    case ErrorKind::unsupported:
      return "`terrazzo doctor` lists the libraries of this build; `terrazzo info FILE` may still describe the file";
    case ErrorKind::usage: return "`terrazzo --help` and `terrazzo COMMAND --help` show commands and options";
    case ErrorKind::limit:
      return "if memory is short: read less (--window, --level, --bands), or raise the limit of host memory with "
             "--memory-limit SIZE";
    case ErrorKind::device:
      return "`terrazzo doctor` shows problems of the GPU, its driver and its libraries; without --device, "
             "TERRAZZO_ENGINE=host decodes on the host";
    case ErrorKind::cancelled: return "";
  }
  return "";
}

}  // namespace

Json error_to_json(Error const& error) {
  Where const& where = error.where();
  Json tile;
  if (where.tile) { tile = {{"column", where.tile->column}, {"row", where.tile->row}, {"plane", where.tile->plane}}; }
  return {{"kind", to_string(error.kind())},
          {"message", with_option_names(error.message())},
          {"file", where.source.empty() ? Json() : Json(where.source)},
          {"ifd", or_null(where.ifd)},
          {"tag", or_null(where.tag)},
          {"tile", tile},
          {"offset", or_null(where.offset)}};
}

void print_error(Error const& error, bool json) {
  if (reader_has_gone()) { return; }  // the closed pipe caused the error
  if (json) {
    std::cerr << to_line(Json{{"error", error_to_json(error)}}) << '\n';
    return;
  }
  std::cerr << "terrazzo: error: " << printable_name(with_option_names(error).what()) << '\n';
  if (auto const hint = hint_for(error); !hint.empty()) { std::cerr << "  hint: " << hint << '\n'; }
}

Json bad_tiles_to_json(std::vector<BadTileReport> const& bad_tiles) {
  Json list = Json::array();
  for (auto const& bad : bad_tiles) {
    list.push_back({{"column", bad.tile.column},
                    {"row", bad.tile.row},
                    {"plane", bad.tile.plane},
                    {"kind", to_string(bad.kind)},
                    {"message", bad.message}});
  }
  return list;
}

std::string bad_tile_to_text(BadTileReport const& bad) {
  return Error(bad.kind, bad.message, {.tile = bad.tile}).what();
}

void warn_of_bad_tiles(std::string const& file, std::vector<BadTileReport> const& bad_tiles) {
  if (bad_tiles.empty()) { return; }
  std::cerr << "terrazzo: warning: " << printable_name(file) << ": " << bad_tiles.size()
            << (bad_tiles.size() == 1 ? " bad tile was" : " bad tiles were")
            << " filled; the first: " << printable_name(bad_tile_to_text(bad_tiles.front())) << '\n';
}

int run_guarded(std::function<int()> const& command, bool json) {
  try {
    return command();
  } catch (Error const& error) {
    print_error(error, json);
    return exit_code(error.kind());
  } catch (std::bad_alloc const&) {
    print_error(Error(ErrorKind::limit, "out of memory"), json);
    return exit_code(ErrorKind::limit);
  } catch (std::exception const& error) {
    if (json) {
      std::cerr << to_line(Json{{"error", {{"kind", "unexpected"}, {"message", error.what()}}}}) << '\n';
    } else {
      std::cerr << "terrazzo: error: " << printable_name(error.what())
                << " (unexpected: this is a defect of terrazzo)\n";
    }
    return kExitUnexpected;
  }
}

}  // namespace terrazzo::cli
