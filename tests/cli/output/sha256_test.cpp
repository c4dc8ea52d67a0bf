// SPDX-License-Identifier: Apache-2.0
#include "output/sha256.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace terrazzo::cli {
namespace {

std::string hash(std::string_view text, bool portable, std::size_t step = 1'000'000) {
  Sha256 sha(portable);
  auto bytes = std::as_bytes(std::span(text));
  while (!bytes.empty()) {
    auto const part = bytes.first(std::min(step, bytes.size()));
    sha.update(part);
    bytes = bytes.subspan(part.size());
  }
  return sha.finish();
}

// The examples of FIPS 180-2, appendix B, and the empty text.
TEST(Sha256, GivesThePublishedSums) {
  for (bool portable : {false, true}) {
    EXPECT_EQ(hash("", portable), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hash("abc", portable), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", portable),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hash(std::string(1'000'000, 'a'), portable),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST(Sha256, DoesNotDependOnHowTheBytesArrive) {
  std::string text;
  for (int i = 0; i < 400; ++i) { text += static_cast<char>(i * 7); }
  for (std::size_t length : {55U, 56U, 63U, 64U, 65U, 119U, 120U, 128U, 400U}) {
    std::string_view const part = std::string_view(text).substr(0, length);
    std::string const whole = hash(part, true);
    for (std::size_t step : {1U, 13U, 64U, 100U}) {
      EXPECT_EQ(hash(part, true, step), whole) << length << " by " << step;
      EXPECT_EQ(hash(part, false, step), whole) << length << " by " << step;
    }
  }
}

}  // namespace
}  // namespace terrazzo::cli
