// SPDX-License-Identifier: Apache-2.0
//
// edit() on a stranger's file, in place or by appending: see changed_file.hpp for what must hold. A text that was set
// is read back, and a second edit of the same file holds to the same.
#include "terrazzo/edit.hpp"

#include "changed_file.hpp"

namespace {

using namespace terrazzo;

// By the input's size, so that one input is one edit.
FileEdit edit_of(std::size_t number) {
  switch (number % 5) {
    case 0: return {.nodata = "7"};
    case 1: return {.set = {{"A", "b"}}};
    case 2: return {.set = {{"TIFFTAG_SOFTWARE", std::string(300, 'x')}}};
    case 3: return {.transform = {{100, 2, 0, 200, 0, -2}}, .set = {{"AREA_OR_POINT", "Point"}}};
    default: return {.nodata = "", .remove_crs = true, .remove_transform = true, .unset = {"A"}};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzzing::ChangedFile file(std::as_bytes(std::span(data, size)));
  if (!file.is_raster()) { return 0; }
  FileEdit const changes = edit_of(size);
  using Pixels = fuzzing::ChangedFile::Pixels;
  file.change([&] { static_cast<void>(edit(file.path(), changes)); },
              changes.nodata ? Pixels::may_change : Pixels::stay);
  file.change([&] {
    static_cast<void>(edit(file.path(), {.set = {{"TIFFTAG_ARTIST", "somebody"}}}));
    Info const info = open(file.path(), {.sidecars = false}).info();
    std::string const* const read_back = info.metadata.find("TIFFTAG_ARTIST");
    fuzzing::require(read_back != nullptr && *read_back == "somebody");
  });
  return 0;
}
