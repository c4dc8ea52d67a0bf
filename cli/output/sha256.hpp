// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4), with the CPU's instructions if it has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::cli {

class Sha256 {
 public:
  // `portable` avoids the special instructions: tests compare the two.
  explicit Sha256(bool portable = false);

  void update(std::span<std::byte const> bytes);
  // In lower-case hexadecimal. Ends the hash: no update() after it.
  [[nodiscard]] std::string finish();

 private:
  static constexpr std::size_t kBlockBytes = 64;
  using State = std::array<std::uint32_t, 8>;

  void (*compress_)(State&, std::byte const* data, std::size_t blocks);
  State state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlockBytes> pending_{};
  std::size_t pending_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace terrazzo::cli
