// SPDX-License-Identifier: Apache-2.0
//
// A read on the host that is planned and not begun, into memory of its own: one byte a pixel, band after band.
#pragma once

#include "read/host/read_context.hpp"
#include "read/images.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace terrazzo::reading::test {

struct PlannedRead {
  explicit PlannedRead(ImageSpec const& spec, ReadRequest asked = {})
      : opened(image<std::uint8_t>(spec)),
        request(std::move(asked)),
        plan(make_plan(opened->shared_impl(), request)),
        memory(std::size_t{plan->out_width} * plan->out_height * plan->bands.size(), kUntouched),
        view{memory.data(),
             plan->dtype,
             static_cast<std::uint32_t>(plan->bands.size()),
             plan->out_height,
             plan->out_width,
             std::int64_t{plan->out_width} * plan->out_height,
             plan->out_width,
             1},
        read(*plan, request, view, budget) {}

  static constexpr std::uint8_t kUntouched = 0xFD;  // no pixel has it: see value_at()
  Opened opened;
  ReadRequest request;
  std::shared_ptr<ReadPlan::Impl const> plan;
  std::vector<std::uint8_t> memory;
  HostView view;
  MemoryBudget budget{std::uint64_t{1} << 30};
  ReadContext read;
};

}  // namespace terrazzo::reading::test
