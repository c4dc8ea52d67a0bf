// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_device.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace terrazzo::cli {
namespace {

// 4 GB in 40 ms; decoding alone takes 32 ms.
DeviceBench sample() {
  DeviceBench bench;
  bench.file = "dem.tif";
  bench.gpu = "Test GPU";
  bench.engine = {true, Engine::device, "nvCOMP zstd", "the device engine was asked for"};
  bench.codec = "zstd (libzstd)";
  bench.predictor = 3;
  bench.bands = 1;
  bench.height = bench.width = 31623;
  bench.dtype = DType::f32;
  bench.tiles = 3844;
  bench.bytes = 4'000'000'000;
  bench.threads = 16;
  bench.first_s = 0.5;
  bench.steady.times = {0.041, 0.04, 0.039};
  StageTimes stages;
  stages.fetch_s = 0.02;
  stages.upload_s = 0.016;
  stages.decode_s = 0.032;
  stages.place_s = 0.004;
  stages.fetched_bytes = 800'000'000;
  stages.decoded_bytes = 4'000'000'000;
  stages.batches = 3;
  stages.device_tiles = 3844;
  bench.stages = stages;
  return bench;
}

std::string text_of(DeviceBench const& bench) {
  std::ostringstream out;
  print(bench, out);
  return out.str();
}

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

TEST(DeviceBench, NamesTheSlowestStageAsTheLimitAndHowFarTheReadIsFromIt) {
  std::string const text = text_of(sample());
  EXPECT_TRUE(has(text, "100.00 GB/s, 40.0 ms")) << text;
  EXPECT_TRUE(has(text, "500.0 ms the first time")) << text;
  EXPECT_TRUE(has(text, "limit: decode, 32.0 ms; the read takes 1.25 times as long")) << text;
  EXPECT_TRUE(has(text, "2.25 times")) << text;  // 72 ms one after the other
}

TEST(DeviceBench, TellsNothingOfHalvesThatKvikioHasNot) {
  DeviceBench bench = sample();
  bench.stages->fetch_s = bench.stages->upload_s = 0;
  Json const json = to_json(bench);
  ASSERT_EQ(json.at("stages").size(), 2U);
  EXPECT_EQ(json["stages"][0]["stage"], "decode");
  EXPECT_FALSE(has(text_of(bench), "disk")) << text_of(bench);
}

TEST(DeviceBench, RatesOfDiskAndUploadAreOfCompressedBytes) {
  Json const json = to_json(sample());
  ASSERT_EQ(json.at("stages").size(), 4U);
  EXPECT_EQ(json["stages"][0]["stage"], "disk");
  EXPECT_DOUBLE_EQ(json["stages"][0]["gb_per_s"].get<double>(), 40);
  EXPECT_DOUBLE_EQ(json["stages"][1]["gb_per_s"].get<double>(), 50);
  EXPECT_DOUBLE_EQ(json["stages"][2]["gb_per_s"].get<double>(), 125);
  EXPECT_DOUBLE_EQ(json["stages"][3]["gb_per_s"].get<double>(), 1000);
  EXPECT_EQ(json.at("limit"), "decode");
  EXPECT_DOUBLE_EQ(json.at("times_limit").get<double>(), 1.25);
  EXPECT_EQ(json.at("engine"), "device");
  EXPECT_EQ(json.at("decoder"), "nvCOMP zstd");
  EXPECT_EQ(json.at("first_seconds"), 0.5);
  EXPECT_FALSE(json.contains("host"));
}

TEST(DeviceBench, AReadThatTheHostDecodedHasNoStages) {
  DeviceBench bench = sample();
  bench.stages = StageTimes{};
  EXPECT_TRUE(has(text_of(bench), "the host decoded every tile"));
  Json const json = to_json(bench);
  EXPECT_TRUE(json.at("stages").empty());
  EXPECT_TRUE(json.at("limit").is_null());
  EXPECT_TRUE(json.at("times_limit").is_null());
}

TEST(DeviceBench, WindowsAreShownBesideTheHost) {
  DeviceBench bench = sample();
  bench.stages.reset();
  bench.windows = 1000;
  bench.width = bench.height = 256;
  bench.host = Timing{{0.4}};
  std::string const text = text_of(bench);
  EXPECT_TRUE(has(text, "1,000 windows of 256 x 256 in one call")) << text;
  EXPECT_TRUE(has(text, "400.0 ms, 10.00 GB/s: the device is 10.00 times as fast")) << text;
  EXPECT_FALSE(has(text, "limit:"));
  Json const json = to_json(bench);
  EXPECT_DOUBLE_EQ(json.at("times_host").get<double>(), 10);
  EXPECT_EQ(json.at("host").at("seconds"), 0.4);
  EXPECT_FALSE(json.contains("stages"));
}

TEST(CheckWindowsFit, RefusesWhatTheGpuCannotHold) {
  EXPECT_NO_THROW(check_windows_fit(10, 100, 5, 1000));
  struct Case {
    std::size_t count;
    std::uint64_t window_bytes;
    std::uint32_t height;
    std::uint64_t free_bytes;
  };
  // Too many bytes; more than 64 bits count; more rows than 32 bits count.
  for (Case const& c : {Case{11, 100, 5, 1000}, Case{10'000'000, ~std::uint64_t{0}, 5, ~std::uint64_t{0}},
                        Case{10'000'000, 1, 1'000'000, ~std::uint64_t{0}}}) {
    try {
      check_windows_fit(c.count, c.window_bytes, c.height, c.free_bytes);
      ADD_FAILURE() << "no error";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::limit);
      EXPECT_TRUE(has(error.message(), "--random-windows"));
    }
  }
}

}  // namespace
}  // namespace terrazzo::cli
