// SPDX-License-Identifier: Apache-2.0
//
// Runs a DeviceReduction on a scene of tests/tile/reduce_scene.hpp and compares every byte, guards included, with what
// the same makers of samples make on the host. tests/write compares those with the host writer.
#pragma once

#include "gpu/decode/decoder_batch.hpp"
#include "tile/reduce_scene.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace terrazzo::gpu::test {

class ReduceOnDevice : public OnDevice {};

void expect_samples_of_the_host(tile::test::ReduceScene scene);

// `count` scenes of every type that `takes` lets through.
void expect_samples_of_the_host(Resampling method, int count, std::function<bool(DType)> const& takes);

// Whether it is an average of the fast way: tile/reduce_halves.hpp.
[[nodiscard]] bool is_of_halves(tile::test::ReduceScene scene);

}  // namespace terrazzo::gpu::test
