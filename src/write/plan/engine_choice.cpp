// SPDX-License-Identifier: Apache-2.0
#include "write/plan/engine_choice.hpp"

#include "base/settings.hpp"
#include "write/device/engine.hpp"

namespace terrazzo::writing {

Engine choose_engine(FilePlan const& plan, MemoryKind rows_lie_in) {
  // The kernels pack masks into bits.
  if (plan.options.mask && plan.mask_format.block.bits_per_sample != 1) { return Engine::host; }
  Engine const asked = resolve_engine(plan.options.engine);
  if (asked != Engine::automatic) { return asked; }
  return rows_lie_in == MemoryKind::device ? Engine::device : Engine::host;
}

void check_engine(FilePlan const& plan) {
  auto const here = choose_device(plan.options.device);
  if (resolve_engine(plan.options.engine) == Engine::device) { require_device_engine(); }
}

}  // namespace terrazzo::writing
