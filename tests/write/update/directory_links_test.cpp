// SPDX-License-Identifier: Apache-2.0
#include "write/update/directory_links.hpp"

#include "support/tiff_builder.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <tuple>

namespace terrazzo::writing {
namespace {

using testing::TiffBuilder;

class DirectoryLinks : public ::testing::TestWithParam<std::tuple<bool, std::endian>> {
 protected:
  // Two directories; the first has a tag of a type nobody knows, which counts all the same.
  [[nodiscard]] static std::vector<std::byte> file() {
    auto const [big, order] = GetParam();
    TiffBuilder builder(order, big);
    builder.longs(256, {7}).raw(300, 99, 1, {std::byte{1}}).ascii(305, "a long text");
    return builder.next_ifd().longs(256, {8}).bytes();
  }
  static tiff::Chain chain_of(std::vector<std::byte> const& bytes) {
    return tiff::read_chain(std::make_shared<io::MemorySource>(bytes, "memory"));
  }
};

TEST_P(DirectoryLinks, FindThePointersOfTheFile) {
  std::vector<std::byte> bytes = file();
  tiff::Chain const chain = chain_of(bytes);
  auto const pointer = encode_pointer(chain.header, chain.directories[1].offset_bytes());
  auto const expect_at = [&](std::uint64_t offset, std::vector<std::byte> const& expected) {
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset)));
  };
  expect_at(next_pointer_offset_bytes(chain.directories[0]), pointer);
  expect_at(next_pointer_offset_bytes(chain.directories[1]), encode_pointer(chain.header, 0));
  expect_at(first_pointer_offset_bytes(chain.header),
            encode_pointer(chain.header, chain.directories[0].offset_bytes()));
}

TEST_P(DirectoryLinks, RelinkADirectoryThatIsCopied) {
  std::vector<std::byte> bytes = file();
  tiff::Chain const chain = chain_of(bytes);
  bytes.resize((bytes.size() + 15) / 16 * 16);
  std::uint64_t const at = bytes.size();
  std::vector<std::byte> const copy = relinked(chain.directories[0], 0);
  bytes.insert(bytes.end(), copy.begin(), copy.end());
  auto const pointer = encode_pointer(chain.header, at);
  std::copy(pointer.begin(), pointer.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(first_pointer_offset_bytes(chain.header)));
  tiff::Chain const after = chain_of(bytes);
  ASSERT_EQ(after.directories.size(), 1U);
  EXPECT_EQ(after.directories[0].offset_bytes(), at);
  EXPECT_EQ(after.directories[0].unsigned_value(256), 7U);
  EXPECT_EQ(after.directories[0].text_value(305), "a long text");
}

INSTANTIATE_TEST_SUITE_P(ClassicAndBig, DirectoryLinks,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(std::endian::little, std::endian::big)));

TEST(EncodePointer, RefusesWhatAClassicFileCannotSay) {
  EXPECT_EQ(encode_pointer({.big = true}, std::uint64_t{1} << 33).size(), 8U);
  try {
    static_cast<void>(encode_pointer({.big = false}, std::uint64_t{1} << 33));
    FAIL() << "no error";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::limit); }
}

}  // namespace
}  // namespace terrazzo::writing
