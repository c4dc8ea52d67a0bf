// SPDX-License-Identifier: Apache-2.0
//
// Compiles the source a second time, without its x86 branch and under other names.
#define TERRAZZO_HAVE_X86 0
#include "tile/host/jpeg_rows_portable.hpp"

#define make_rgb_row make_rgb_row_portably
#define has_fast_jpeg_rows has_fast_jpeg_rows_portably
#include "tile/host/jpeg_rows.cpp"
