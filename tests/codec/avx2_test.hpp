// SPDX-License-Identifier: Apache-2.0
//
// Tests of what is there only with AVX2.
#pragma once

#include "tile/host/cpu.hpp"

#include <gtest/gtest.h>

namespace terrazzo::codec::testing {

class Avx2Test : public ::testing::Test {
 protected:
  void SetUp() override {
#if TERRAZZO_HAVE_X86
    if (!tile::has_avx2()) { GTEST_SKIP() << "no AVX2 here"; }
#else
    GTEST_SKIP() << "not for this architecture";
#endif
  }
};

}  // namespace terrazzo::codec::testing
