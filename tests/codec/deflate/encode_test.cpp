// SPDX-License-Identifier: Apache-2.0
#include "codec/encode_support.hpp"
#include "codec/noise_samples.hpp"
#include "codec/registry/libraries.hpp"

#include <random>

#if TERRAZZO_HAVE_LIBDEFLATE

namespace terrazzo::codec::testing {
namespace {

EncodeFormat format_of(int level) { return {.block = {.compression = tiff::Compression::deflate}, .level = level}; }

TEST(EncodeDeflate, RoundTripsBlocksOfEveryKind) { expect_round_trips(format_of(6)); }

TEST(EncodeDeflate, RoundTripsAtEveryLevel) {
  Encoder const* const encoder = find_encoder(tiff::Compression::deflate);
  Workspace workspace;
  for (int level = encoder->lowest_level; level <= encoder->highest_level; ++level) {
    SCOPED_TRACE(level);
    for (Bytes const& samples : samples_of_every_kind(100 * 90)) {
      expect_round_trip(format_of(level), {100, 90}, samples, workspace);
    }
  }
}

TEST(EncodeDeflate, GivesTheSameBytesWhateverTheWorkspaceDidBefore) {
  Encoder const* const encoder = find_encoder(tiff::Compression::deflate);
  std::vector<EncodeFormat> const others = {format_of(encoder->lowest_level), format_of(encoder->highest_level)};
  for (int level = encoder->lowest_level; level <= encoder->highest_level; level += 2) {
    SCOPED_TRACE(level);
    expect_independent_of_history(format_of(level), others, {100, 90});
  }
  expect_independent_of_history(format_of(encoder->default_level), others, {512, 301});
}

TEST(EncodeDeflate, RefusesLevelsThatItDoesNotHave) {
  Encoder const* const encoder = find_encoder(tiff::Compression::deflate);
  EXPECT_EQ(encoder->refuse(format_of(encoder->lowest_level)), "");
  EXPECT_EQ(encoder->refuse(format_of(encoder->highest_level)), "");
  EXPECT_NE(encoder->refuse(format_of(encoder->lowest_level - 1)), "");
  EXPECT_NE(encoder->refuse(format_of(encoder->highest_level + 1)), "");
}

TEST(EncodeDeflate, IsReadByLibtiff) {
  for (Bytes const& samples : samples_of_every_kind(64 * 48)) { expect_libtiff_reads(format_of(6), {64, 48}, samples); }
}

EncodeFormat predicted(int level) {
  return {.block = {.compression = tiff::Compression::deflate}, .is_predicted = true, .level = level};
}

// Residuals of a photograph: short codes, hardly a repeat. Repeats by chance cost more than the literals.
Bytes residuals() {
  std::mt19937 random(3);
  std::geometric_distribution<int> distance(0.14);
  return bytes_of(512 * 512, [&](std::size_t) { return random() % 2 == 0 ? distance(random) : -distance(random); });
}

TEST(EncodeDeflate, TakesAFasterLevelThatIsAsSmall) {
  Bytes const samples = residuals();
  Bytes const fastest = encode(format_of(1), {512, 512}, samples);
  for (int const level : {5, 6, 8}) {
    EXPECT_TRUE(encode(predicted(level), {512, 512}, samples) == fastest) << level;
    EXPECT_FALSE(encode(format_of(level), {512, 512}, samples) == fastest) << "other samples keep the level";
  }
  EXPECT_FALSE(encode(predicted(9), {512, 512}, samples) == fastest) << "the highest levels are kept";
  Workspace workspace;
  expect_round_trip(predicted(6), {512, 512}, samples, workspace);
}

TEST(EncodeDeflate, KeepsTheLevelWhereFarPartsRepeat) {
  Bytes samples = residuals();
  for (std::size_t i = 20'011; i < samples.size(); ++i) { samples[i] = samples[i - 20'011]; }
  EXPECT_TRUE(encode(predicted(6), {512, 512}, samples) == encode(format_of(6), {512, 512}, samples));
}

// Words of a language.
TEST(EncodeDeflate, KeepsTheLevelWhereSearchPays) {
  std::mt19937 random(4);
  std::vector<Bytes> words(3000);
  for (Bytes& word : words) {
    word = bytes_of(2 + random() % 9, [&](std::size_t) { return 'a' + random() % 26; });
  }
  Bytes samples;
  while (samples.size() < 512 * 512) {
    Bytes const& word = words[random() % (1 + random() % words.size())];
    samples.insert(samples.end(), word.begin(), word.end());
  }
  samples.resize(512 * 512);
  EXPECT_LT(static_cast<double>(encode(predicted(6), {512, 512}, samples).size()),
            1.01 * static_cast<double>(encode(format_of(6), {512, 512}, samples).size()));
}

TEST(EncodeDeflate, FailsRatherThanCrashesAtALevelThatWasNotRefused) {
  Workspace workspace;
  EncodedBlock out;
  Encoder const* const encoder = find_encoder(tiff::Compression::deflate);
  EXPECT_EQ(encoder->encode(format_of(99), {4, 4}, Bytes(16), out, workspace).status, TileStatus::failed);
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
