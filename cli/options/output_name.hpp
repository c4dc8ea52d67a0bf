// SPDX-License-Identifier: Apache-2.0
//
// Checks of output names, before a command does any work. A name that promises another format, or an existing file with
// --no-clobber, is a usage error.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace terrazzo::cli {

// --no-clobber
CLI::Option* add_no_clobber(CLI::App& command, bool& no_clobber);

// Refuses extensions of other formats (.png, .nc, ...) for a TIFF file. Unknown extensions are allowed.
void check_tiff_name(std::string const& path);

// Refuses every extension but .png.
void check_png_name(std::string const& path);

// Refuses extensions of other formats for an .npy file or plain samples.
void check_array_name(std::string const& path);

// For --no-clobber: refuses a path that exists. Pipes, devices and standard output are not replaced and pass.
void check_no_clobber(std::string const& path);

}  // namespace terrazzo::cli
