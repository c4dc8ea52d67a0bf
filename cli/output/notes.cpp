// SPDX-License-Identifier: Apache-2.0
#include "output/notes.hpp"

#include "output/format.hpp"

#include <atomic>
#include <iostream>
#include <string>

namespace terrazzo::cli {
namespace {

std::atomic<bool>& notes_are_shown() {
  static std::atomic<bool> shown{false};
  return shown;
}

}  // namespace

void show_notes(bool shown) { notes_are_shown() = shown; }

void note(std::string_view message) {
  // One text in one call: threads do not mix their lines.
  if (notes_are_shown()) { std::cerr << "terrazzo: note: " + printable_name(message) + "\n"; }
}

}  // namespace terrazzo::cli
