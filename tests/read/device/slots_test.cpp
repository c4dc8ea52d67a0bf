// SPDX-License-Identifier: Apache-2.0
#include "read/device/slots.hpp"

#include "read/device/device_fixture.hpp"
#include "support/counting_allocator.hpp"

#include <gtest/gtest.h>

#include <set>

namespace terrazzo::reading {
namespace {

using terrazzo::testing::CountingAllocator;

TEST(Slots, WithoutAGpuAreADeviceError) {
  if (device_state().usable) { GTEST_SKIP() << "there is a GPU"; }
  gpu::DeviceContext context(0);
  auto const allocator = std::make_shared<CountingAllocator>();
  EXPECT_EQ(failure_of([&] { SlotLease const lease(context, 2, allocator); }).kind(), ErrorKind::device);
  EXPECT_NO_THROW(release_slots(context));
}

class SlotsOnDevice : public test::OnDevice {
 protected:
  void SetUp() override {
    test::OnDevice::SetUp();
    if (!IsSkipped()) { release_slots(gpu::current_context()); }
  }
  void TearDown() override {
    if (!IsSkipped()) { release_slots(gpu::current_context()); }
  }
};

TEST_F(SlotsOnDevice, KeepTheirMemoryForTheNextLease) {
  auto const allocator = std::make_shared<CountingAllocator>();
  std::set<std::byte*> places;
  {
    SlotLease lease(gpu::current_context(), 3, allocator);
    ASSERT_EQ(lease.size(), 3u);
    for (std::size_t s = 0; s < 3; ++s) {
      lease[s].reserve_memory(allocator, 1000);
      places.insert(lease[s].memory.data());
    }
  }
  EXPECT_EQ(allocator->live, 3);
  {
    SlotLease lease(gpu::current_context(), 2, allocator);
    for (std::size_t s = 0; s < 2; ++s) {
      lease[s].reserve_memory(allocator, 900);
      EXPECT_TRUE(places.contains(lease[s].memory.data()));
    }
    EXPECT_EQ(allocator->allocations, 3) << "less than what is there";
    lease[0].reserve_memory(allocator, 2000);
    EXPECT_EQ(allocator->live, 3) << "the old one went first";
    lease[1].drop_memory_over(1000);
    EXPECT_EQ(lease[1].memory.size_bytes(), 1000u);
    lease[1].drop_memory_over(999);
    EXPECT_EQ(lease[1].memory.size_bytes(), 0u) << "what is over the budget is not kept";
  }
  release_slots(gpu::current_context());
  EXPECT_EQ(allocator->live, 0);
}

TEST_F(SlotsOnDevice, GiveNobodyTheMemoryOfAnother) {
  auto const mine = std::make_shared<CountingAllocator>(), yours = std::make_shared<CountingAllocator>();
  {
    SlotLease lease(gpu::current_context(), 2, mine);
    lease[0].reserve_memory(mine, 1000);
    lease[1].reserve_constants(mine, 1000);
  }
  {
    SlotLease lease(gpu::current_context(), 2, yours);
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(lease[s].memory.allocator(), nullptr);
      EXPECT_EQ(lease[s].constants.allocator(), nullptr);
    }
  }
  EXPECT_EQ(mine->live, 2) << "it waits for its owner";
  {
    SlotLease lease(gpu::current_context(), 2, mine);
    lease[0].reserve_memory(mine, 1000);
    EXPECT_EQ(mine->allocations, 2) << "the slot with the memory comes first";
  }
  release_slots(gpu::current_context());
  EXPECT_EQ(mine->live + yours->live, 0);
}

TEST_F(SlotsOnDevice, GiveBackWhatIsOverTheBudgetBeforeTheyTakeMore) {
  auto const mine = std::make_shared<CountingAllocator>(), yours = std::make_shared<CountingAllocator>();
  std::size_t const large[] = {1000, 1000, 1000};
  auto const lease_three = [&](std::shared_ptr<DeviceAllocator> const& allocator) {
    SlotLease lease(gpu::current_context(), 3, allocator);
    lease.reserve_memory(large, 3000);
  };
  lease_three(mine);
  lease_three(yours);
  EXPECT_EQ(idle_slot_bytes(gpu::current_context(), *mine), 3000u);
  {
    SlotLease lease(gpu::current_context(), 1, mine);
    std::size_t const small[] = {500};
    lease.reserve_memory(small, 3000);
    EXPECT_EQ(lease[0].memory.size_bytes(), 1000u) << "all of it fits the budget: nothing changes";
    EXPECT_EQ(mine->live_bytes, 3000u);
  }
  mine->peak_bytes = 0;
  {
    SlotLease lease(gpu::current_context(), 2, mine);
    std::size_t const small[] = {700, 200};
    lease.reserve_memory(small, 1200);
    EXPECT_EQ(mine->live_bytes, 900u) << "the first two were too large, the third lay idle";
    EXPECT_LE(mine->peak_bytes, 1200u);
    EXPECT_EQ(idle_slot_bytes(gpu::current_context(), *mine), 0u);
  }
  EXPECT_EQ(yours->live_bytes, 3000u) << "another allocator's is not ours to give back";
  release_slots(gpu::current_context());
  EXPECT_EQ(mine->live + yours->live, 0);
}

TEST_F(SlotsOnDevice, BelongToOneContext) {
  auto const allocator = std::make_shared<CountingAllocator>();
  gpu::DeviceContext& first = gpu::current_context();
  gpu::DeviceContext second(first.device());
  {
    SlotLease lease(first, 1, allocator);
    lease[0].reserve_memory(allocator, 1000);
  }
  EXPECT_EQ(idle_slot_bytes(first, *allocator), 1000u);
  EXPECT_EQ(idle_slot_bytes(second, *allocator), 0u);
  {
    SlotLease lease(second, 1, allocator);
    EXPECT_EQ(lease[0].memory.size_bytes(), 0u);
  }
  release_slots(second);
  EXPECT_EQ(idle_slot_bytes(first, *allocator), 1000u);
}

TEST_F(SlotsOnDevice, AreNotSharedByLeasesOfTheSameTime) {
  auto const allocator = std::make_shared<CountingAllocator>();
  gpu::DeviceContext& context = gpu::current_context();
  SlotLease first(context, 2, allocator), second(context, 2, allocator);
  std::set<cudaStream_t> streams;
  for (std::size_t s = 0; s < 2; ++s) {
    streams.insert(first[s].stream.get());
    streams.insert(second[s].stream.get());
  }
  EXPECT_EQ(streams.size(), 4u);
}

TEST_F(SlotsOnDevice, GrowPinnedMemoryOnlyWhenTheyMust) {
  auto const allocator = std::make_shared<CountingAllocator>();
  SlotLease lease(gpu::current_context(), 1, allocator);
  DeviceSlot& slot = lease[0];
  slot.reserve_control(100);
  std::byte* const control = slot.control.get();
  slot.reserve_control(50);
  EXPECT_EQ(slot.control.get(), control);
  slot.reserve_control(1 << 20);
  EXPECT_EQ(slot.control_bytes, std::size_t{1} << 20);
  slot.reserve_input(10);
  slot.reserve_input(2000);
  EXPECT_EQ(slot.input_bytes, 2000u);
  slot.input.get()[1999] = std::byte{1};
}

}  // namespace
}  // namespace terrazzo::reading
