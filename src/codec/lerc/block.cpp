// SPDX-License-Identifier: Apache-2.0
#include "codec/lerc/block.hpp"

#include <algorithm>

namespace terrazzo::codec::lerc {

bool Table::fill(LercSteps const& steps, std::size_t step_count, unsigned bits, std::size_t plain_bytes) noexcept {
  count = 0;
  auto const begin = values.begin();
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < step_count; ++i) {
    std::uint32_t const value = steps[i];
    if (value == before || value == 0) {
      before = value;
      continue;
    }
    before = value;
    auto const end = begin + static_cast<std::ptrdiff_t>(count);
    auto const at = std::lower_bound(begin, end, value);
    if (at != end && *at == value) { continue; }
    std::copy_backward(at, end, end + 1);
    *at = value;
    ++count;
    if (bytes(step_count, bits) >= plain_bytes) { return false; }
  }
  before = 0;
  std::uint32_t place = 0;
  auto const end = begin + static_cast<std::ptrdiff_t>(count);
  for (std::size_t i = 0; i < step_count; ++i) {
    if (steps[i] != before) {
      before = steps[i];
      place = before == 0 ? 0 : static_cast<std::uint32_t>(std::lower_bound(begin, end, before) - begin) + 1;
    }
    places[i] = place;
  }
  LercPortableKernels::pad(step_count, places);
  LercPortableKernels::pad(count, values);
  return true;
}

}  // namespace terrazzo::codec::lerc
