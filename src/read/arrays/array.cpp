// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/array.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"

namespace terrazzo::detail {

void require_result_dtype(Dataset const& dataset, ReadRequest const& request, DType wanted) {
  DType const found = result_dtype(dataset, request);
  if (found == wanted) { return; }
  throw Error(
      ErrorKind::usage,
      text("the result of the read has samples of ", to_string(found), ", not ", to_string(wanted), ": read them as ",
           to_string(found), ", or set the request's dtype to ", to_string(wanted), " to convert them"),
      {.source = dataset.info().source});
}

void require_index(char const* name, std::uint32_t index, std::uint32_t count) {
  if (index < count) { return; }
  throw Error(ErrorKind::usage, text(name, " ", index, " of an array with ", count, "; indices count from 0"));
}

void require_one_band(std::uint32_t bands) {
  if (bands == 1) { return; }
  throw Error(ErrorKind::usage, text("a row of an array with ", bands, " bands: take the row of a band"));
}

}  // namespace terrazzo::detail
