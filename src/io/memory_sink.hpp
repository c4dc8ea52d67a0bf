// SPDX-License-Identifier: Apache-2.0
//
// A file in the caller's vector. publish() replaces the vector's contents, which stay untouched until then.
#pragma once

#include "terrazzo/sink.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::io {

class MemorySink final : public ByteSink {
 public:
  // `target` must live until publish().
  explicit MemorySink(std::vector<std::byte>& target) noexcept : target_(&target) {}

  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  void open() override;
  void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) override;
  void read_at(std::uint64_t offset_bytes, std::span<std::byte> into) override;
  // The file is in memory anyway, so spooling in place takes less memory.
  [[nodiscard]] bool insert_front(std::uint64_t bytes) override;
  [[nodiscard]] std::uint64_t insert_unit_bytes() noexcept override { return 1; }
  void publish(std::uint64_t size_bytes) override;
  void discard() noexcept override;

 private:
  void grow(std::uint64_t size_bytes);

  std::vector<std::byte>* target_;
  std::vector<std::byte> bytes_{};
  std::string name_ = "memory";
  bool opened_ = false;
};

}  // namespace terrazzo::io
