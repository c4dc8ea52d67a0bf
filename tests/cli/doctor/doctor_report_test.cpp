// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace terrazzo::cli {
namespace {

// A machine with a GPU and one of two libraries.
DoctorFacts sample() {
  DoctorFacts facts;
  facts.version = "1.2.3";
  facts.device.built = facts.device.usable = true;
  facts.device.name = "Test GPU";
  facts.device.driver_version = 13020;
  facts.device.runtime_version = 13000;
  facts.device.compute_major = 9;
  facts.device.multiprocessors = 132;
  facts.device.total_bytes = std::uint64_t{8} << 30;
  facts.device.free_bytes = std::uint64_t{4} << 30;
  facts.device.default_budget_bytes = std::uint64_t{1} << 30;
  facts.device.libraries = {
      {"nvcomp", "deflate and zstd", true, "/lib/libnvcomp.so.6", "6.0.0", ""},
      {"nvjpeg", "JPEG", false, "", "", "libnvjpeg.so.13 was not found; install the package nvidia-nvjpeg or not"}};
  facts.cores = facts.threads = 16;
  facts.memory_bytes = std::uint64_t{64} << 30;
  facts.memory_limit_bytes = std::uint64_t{32} << 30;
  facts.tile_cache_bytes = std::uint64_t{3} << 30;
  facts.codecs = {{5, "lzw", "", true, false},
                  {8, "deflate", "libdeflate", true, false},
                  {32946, "deflate", "libdeflate", true, false},
                  {50000, "zstd", "libzstd", true, false}};
  facts.proj = true;
  return facts;
}

std::string text_of(DoctorFacts const& facts) {
  std::ostringstream out;
  print(facts, out);
  return out.str();
}

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

TEST(Doctor, SaysWhatTheGpuIsAndWhatWasFoundWhere) {
  std::string const text = text_of(sample());
  for (char const* part : {"terrazzo 1.2.3", "Test GPU, compute capability 9.0, 132 multiprocessors", "for CUDA 13.2",
                           "CUDA runtime 13.0", "8.00 GiB, 4.00 GiB of it free",
                           "1.00 GiB for scratch of a read or write", "writing the same, Deflate and ZSTD",
                           "/lib/libnvcomp.so.6", "6.0.0", "none: defaults all over", "decoded on the Test GPU"}) {
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
  EXPECT_FALSE(has(text, "deflate, deflate")) << text;
}

TEST(Doctor, NamesTheCommandThatGetsWhatIsMissing) {
  auto const missing = missing_parts(sample());
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].command, "pip install nvidia-nvjpeg");
  EXPECT_TRUE(has(text_of(sample()), "type: pip install nvidia-nvjpeg\n"));
}

TEST(Doctor, NothingIsMissingOnAFullMachine) {
  DoctorFacts facts = sample();
  facts.device.libraries.pop_back();
  EXPECT_TRUE(missing_parts(facts).empty());
  EXPECT_TRUE(has(text_of(facts), "missing     nothing"));
}

TEST(Doctor, WhatWasSwitchedOffIsNotMissing) {
  DoctorFacts facts = sample();
  facts.device.libraries[1].hint = "disabled by TERRAZZO_DISABLE";
  EXPECT_TRUE(missing_parts(facts).empty());
  EXPECT_TRUE(has(text_of(facts), "disabled by TERRAZZO_DISABLE"));
}

TEST(Doctor, ALibraryThatWasRefusedIsShownWithTheReasonAndIsNotMissing) {
  DoctorFacts facts = sample();
  facts.device.libraries[1].refused = "/srv/lib/libnvjpeg.so.13 was refused: everyone may write to /srv/lib";
  facts.device.libraries[1].hint = facts.device.libraries[1].refused;
  EXPECT_TRUE(missing_parts(facts).empty());
  EXPECT_TRUE(has(text_of(facts), "everyone may write to /srv/lib"));
  EXPECT_EQ(to_json(facts).at("device").at("libraries").at(1).at("refused"), facts.device.libraries[1].refused);
}

TEST(Doctor, WithoutADriverTheHostDecodesAndSaysWhy) {
  DoctorFacts facts = sample();
  facts.device.usable = false;
  facts.device.driver_version = 0;
  facts.device.name.clear();
  facts.device.reason = "no NVIDIA driver is installed";
  EXPECT_EQ(default_engine(facts), "the host decodes, on 16 threads; no GPU: no NVIDIA driver is installed");
  EXPECT_TRUE(has(missing_parts(facts).front().what, "NVIDIA driver"));
  Json const device = to_json(facts).at("device");
  EXPECT_EQ(device.at("usable"), false);
  EXPECT_EQ(device.at("reason"), "no NVIDIA driver is installed");
  EXPECT_TRUE(device.at("driver").is_null());
  EXPECT_TRUE(device.at("total_bytes").is_null());
}

TEST(Doctor, AGpuThatTheBuildHasNoKernelsForNeedsAnotherBuild) {
  DoctorFacts facts = sample();
  facts.device.usable = false;
  facts.device.compute_major = 7;
  facts.device.compute_minor = 5;
  facts.device.reason = "this build has no kernels for compute capability 7.5";
  MissingPart const first = missing_parts(facts).front();
  EXPECT_EQ(first.what, "kernels for compute capability 7.5: reading and writing on the GPU");
  EXPECT_EQ(first.advice, "build with -DTERRAZZO_CUDA_ARCHITECTURES=75");
}

TEST(Doctor, ABuildWithoutCudaSaysHowToGetOne) {
  DoctorFacts facts = sample();
  facts.device = {};
  facts.device.reason = "made without CUDA";
  EXPECT_TRUE(has(text_of(facts), "engine      none: this build was made without CUDA"));
  EXPECT_TRUE(has(missing_parts(facts).front().advice, "TERRAZZO_CUDA=ON"));
}

TEST(Doctor, MissingHostLibrariesAreListedOnce) {
  DoctorFacts facts = sample();
  facts.codecs[1].available = facts.codecs[2].available = false;
  facts.codecs.push_back({4, "ccitt-g4", "libtiff", false, true, true});
  facts.codecs.push_back({50002, "jpeg-xl", "libjxl", false, false, true});
  facts.proj = false;
  auto const missing = missing_parts(facts);
  ASSERT_EQ(missing.size(), 5U);
  EXPECT_EQ(missing[1].what, "libdeflate: deflate on the host");
  EXPECT_EQ(missing[1].advice, "apt-get install libdeflate-dev, then build again");
  EXPECT_EQ(missing[2].command, "apt-get install libtiff-tools");
  EXPECT_EQ(missing[3].command, "apt-get install libjxl-tools");
  EXPECT_TRUE(has(missing[4].what, "PROJ"));
}

TEST(Doctor, AForcedEngineIsTheDefault) {
  DoctorFacts facts = sample();
  facts.environment = {{"TERRAZZO_ENGINE", "device", "who decodes"}};
  EXPECT_EQ(default_engine(facts), "the Test GPU decodes, as TERRAZZO_ENGINE asks");
  facts.device.usable = false;
  facts.device.reason = "the driver sees no GPU";
  EXPECT_EQ(default_engine(facts),
            "reads fail: TERRAZZO_ENGINE asks for the device engine, but the driver sees no GPU");
  facts.environment[0].value = "host";
  EXPECT_EQ(default_engine(facts), "the host decodes, on 16 threads, as TERRAZZO_ENGINE asks");
}

TEST(Doctor, JsonHasEverythingThatTheTextHas) {
  DoctorFacts facts = sample();
  facts.device_budget_bytes = 7;
  facts.environment = {{"TERRAZZO_DEVICE_BUDGET", "7", "scratch"}, {"TERRAZZO_X", "1", ""}};
  Json const json = to_json(facts);
  EXPECT_EQ(json.at("version"), "1.2.3");
  EXPECT_EQ(json.at("device").at("compute_capability"), "9.0");
  EXPECT_EQ(json.at("device").at("budget_bytes"), 7);
  EXPECT_EQ(json.at("device").at("libraries").at(0).at("version"), "6.0.0");
  EXPECT_TRUE(json.at("device").at("libraries").at(0).at("package").is_null());
  EXPECT_EQ(json.at("device").at("libraries").at(1).at("package"), "nvidia-nvjpeg");
  EXPECT_EQ(json.at("host").at("threads"), 16);
  EXPECT_EQ(json.at("host").at("codecs").size(), 4U);
  EXPECT_TRUE(json.at("host").at("codecs").at(0).at("library").is_null());
  EXPECT_EQ(json.at("settings").at(0).at("value"), "7");
  EXPECT_TRUE(json.at("settings").at(1).at("meaning").is_null());
  EXPECT_EQ(json.at("missing").at(0).at("command"), "pip install nvidia-nvjpeg");
}

}  // namespace
}  // namespace terrazzo::cli
