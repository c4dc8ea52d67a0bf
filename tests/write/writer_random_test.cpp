// SPDX-License-Identifier: Apache-2.0
//
// Files of random shape and options: eager and streamed writes, and tiles that were compressed apart, give the same
// bytes, and the pixels come back.
#include "random_file.hpp"
#include "test_image.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::writing {
namespace {

TEST(WriterAtRandom, WritesWhatIsReadBack) {
  int written_files = 0;
  std::vector<std::uint32_t> const none;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    Image image = make_image(dice.pick(kTypes), 1 + dice.roll(5), dice.size(), dice.size());
    if (dice.roll(3) == 0) { add_mask(image); }
    WriteOptions const options = random_options(dice, image);
    SCOPED_TRACE(std::to_string(seed) + ": " + describe(options, image));
    std::vector<std::byte> file;
    try {
      file = written(image, options);
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
      continue;
    }
    ++written_files;
    ASSERT_TRUE(pixels_of(file) == image.bytes);
    if (options.mask) { ASSERT_TRUE(mask_of(file) == image.mask); }
    WriteOptions other = options;
    other.threads = 1 + dice.roll(4);
    other.streaming_buffer_bytes = dice.pick({std::uint64_t{1}, std::uint64_t{50'000}, std::uint64_t{1} << 28});
    ASSERT_TRUE(written(image, other, ragged(image.height, seed)) == file);
    // A plain file has its tiles in the order in which they came.
    bool const ordered = options.cog || options.statistics || options.overview_factors.value_or(none).size() > 0;
    if (!options.mask && ordered) { ASSERT_TRUE(from_tiles(image, other, seed) == file); }
  }
  EXPECT_GT(written_files, 200);
}

}  // namespace
}  // namespace terrazzo::writing
