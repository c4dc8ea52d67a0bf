// SPDX-License-Identifier: Apache-2.0
//
// Notes for people, on stderr.
#pragma once

#include <string_view>

namespace terrazzo::cli {

// Whether later notes are printed: not with --quiet or --json. The default is no.
void show_notes(bool shown);

// Prints "terrazzo: note: MESSAGE". Thread-safe.
void note(std::string_view message);

}  // namespace terrazzo::cli
