// SPDX-License-Identifier: Apache-2.0
//
// What a Writer refuses, and what is left then: nothing.
#include "test_image.hpp"

#include "geo/crs/proj_library.hpp"
#include "support/failure.hpp"
#include "terrazzo/write.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>

namespace terrazzo::writing {
namespace {

using terrazzo::testing::kind_of_failure;
using terrazzo::testing::TempFolder;

// Nothing at all in the folder: neither the file nor a temporary one.
bool is_empty(TempFolder const& folder) { return std::filesystem::is_empty(folder.path("")); }

TEST(WriterMisuse, RefusesRowsThatAreNotTheRastersAndMakesNoFile) {
  struct Misuse {
    char const* what;
    std::function<void(Writer&)> work;
  };
  Image good = make_image(DType::u16, 2, 40, 50), narrow = make_image(DType::u16, 2, 40, 49),
        bytes = make_image(DType::u8, 2, 40, 50), bands = make_image(DType::u16, 3, 40, 50),
        tall = make_image(DType::u16, 2, 41, 50);
  add_mask(good);
  std::vector<std::byte> const tile(100);
  Misuse const misuses[] = {
      {"other width", [&](Writer& w) { w.write_rows(narrow.view()); }},
      {"other type", [&](Writer& w) { w.write_rows(bytes.view()); }},
      {"other bands", [&](Writer& w) { w.write_rows(bands.view()); }},
      {"no data",
       [&](Writer& w) {
         HostView view = good.view();
         view.data = nullptr;
         w.write_rows(view);
       }},
      {"too many at once", [&](Writer& w) { w.write_rows(tall.view()); }},
      {"too many in the end",
       [&](Writer& w) {
         w.write_rows(good.view());
         w.write_rows(some_rows(good.view(), 0, 1));
       }},
      {"none", [&](Writer& w) { w.close(); }},
      {"too few",
       [&](Writer& w) {
         w.write_rows(some_rows(good.view(), 0, 39));
         w.close();
       }},
      {"a mask that is not wanted", [&](Writer& w) { w.write_rows(good.view(), good.mask_view()); }},
      {"a tile after rows",
       [&](Writer& w) {
         w.write_rows(some_rows(good.view(), 0, 1));
         w.write_encoded({0, 0, 0}, tile);
       }},
      {"rows after a tile",
       [&](Writer& w) {
         w.write_encoded({0, 0, 0}, tile);
         w.write_rows(good.view());
       }},
      {"a tile twice",
       [&](Writer& w) {
         w.write_encoded({1, 0, 0}, tile);
         w.write_encoded({1, 0, 0}, tile);
       }},
      {"a tile outside",
       [&](Writer& w) {
         w.write_encoded({2, 0, 0}, tile);
       }},
      {"a tile of a plane there is not",
       [&](Writer& w) {
         w.write_encoded({0, 0, 1}, tile);
       }},
      {"too few tiles",
       [&](Writer& w) {
         w.write_encoded({0, 0, 0}, tile);
         w.close();
       }},
      {"rows after abort",
       [&](Writer& w) {
         w.abort();
         w.write_rows(good.view());
       }},
      {"close after abort",
       [&](Writer& w) {
         w.abort();
         w.close();
       }},
  };
  WriteOptions options = with([](auto&) {});
  options.dtype = DType::u16;
  options.bands = 2;
  for (Misuse const& misuse : misuses) {
    TempFolder const folder;
    {
      Writer writer = create(folder.path("out.tif"), 50, 40, options);
      EXPECT_EQ(kind_of_failure([&] { misuse.work(writer); }), ErrorKind::usage) << misuse.what;
    }
    EXPECT_TRUE(is_empty(folder)) << misuse.what;
  }
}

TEST(WriterMisuse, RefusesMasksThatDoNotFit) {
  Image image = make_image(DType::u8, 1, 20, 30), other = make_image(DType::u8, 1, 19, 30);
  add_mask(image);
  add_mask(other);
  WriteOptions options = with([](auto&) {});
  options.mask = true;
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), 30, 20, options);
  EXPECT_EQ(kind_of_failure([&] { writer.write_rows(image.view()); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { writer.write_rows(image.view(), other.mask_view()); }), ErrorKind::usage);
  HostView two = image.mask_view();
  two.bands = 2;
  EXPECT_EQ(kind_of_failure([&] { writer.write_rows(image.view(), two); }), ErrorKind::usage);
  HostView wide = image.mask_view();
  wide.dtype = DType::u16;
  EXPECT_EQ(kind_of_failure([&] { writer.write_rows(image.view(), wide); }), ErrorKind::usage);
  // None of these ended the write.
  writer.write_rows(image.view(), image.mask_view());
  writer.close();
  EXPECT_TRUE(mask_of(bytes) == image.mask);
}

TEST(WriterMisuse, TakesNothingAfterClose) {
  Image image = make_image(DType::u8, 1, 20, 30);
  TempFolder const folder;
  Writer writer = create(folder.path("out.tif"), 30, 20, with([](auto&) {}));
  writer.write_rows(image.view());
  writer.close();
  auto const before = terrazzo::testing::file_bytes(folder.path("out.tif"));
  EXPECT_EQ(kind_of_failure([&] { writer.write_rows(image.view()); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { writer.write_encoded({}, {}); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { writer.close(); }), ErrorKind::usage);
  writer.abort();
  EXPECT_TRUE(terrazzo::testing::file_bytes(folder.path("out.tif")) == before);
}

TEST(WriterMisuse, RefusesCompressedTilesInFilesWithMasks) {
  std::vector<std::byte> const tile(100);
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), 50, 40, with([&](WriteOptions& o) { o.mask = true; }));
  EXPECT_EQ(kind_of_failure([&] { writer.write_encoded({0, 0, 0}, tile); }), ErrorKind::usage);
}

TEST(WriterMisuse, RefusesDamagedTilesInFilesWhoseOverviewsNeedThem) {
  Image image = make_image(DType::u16, 1, 40, 50);
  WriteOptions options = with([](WriteOptions& o) {
    o.dtype = DType::u16;
    o.cog = true;
  });
  EncodedTiles const tiles = encode_tiles(image.view(), {}, 50, 40, options);
  TempFolder const folder;
  {
    Writer writer = create(folder.path("out.tif"), 50, 40, options);
    writer.write_encoded({0, 0, 0}, tiles.bytes_of(tiles.tiles[0]));
    auto const damaged = tiles.bytes_of(tiles.tiles[1]).first(tiles.tiles[1].size_bytes / 2);
    try {
      writer.write_encoded({1, 0, 0}, damaged);
      FAIL() << "half a tile was taken";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::malformed);
      EXPECT_EQ(error.where().tile, (TileId{1, 0, 0}));
      EXPECT_EQ(error.where().source, folder.path("out.tif"));
    }
  }
  EXPECT_TRUE(is_empty(folder));
}

TEST(WriterMisuse, LeavesNothingWhenAbortedOrDropped) {
  Image image = make_image(DType::u8, 1, 100, 100);
  for (int how = 0; how < 4; ++how) {
    TempFolder const folder;
    {
      Writer writer = create(folder.path("out.tif"), 100, 100, with([](auto&) {}));
      writer.write_rows(how % 2 == 0 ? image.view() : some_rows(image.view(), 0, 60));
      if (how < 2) { writer.abort(); }
    }
    EXPECT_TRUE(is_empty(folder)) << how;
  }
}

TEST(WriterMisuse, AbortsTheFileItHadWhenAnotherIsMovedIn) {
  TempFolder const folder;
  Image image = make_image(DType::u8, 1, 10, 10);
  Writer writer = create(folder.path("one.tif"), 10, 10, with([](auto&) {}));
  writer.write_rows(image.view());
  writer = create(folder.path("two.tif"), 10, 10, with([](auto&) {}));
  writer.write_rows(image.view());
  writer.close();
  EXPECT_FALSE(std::filesystem::exists(folder.path("one.tif")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("two.tif")));
}

TEST(WriterMisuse, StopsWhenProgressOrTheFlagSaysSo) {
  Image image = make_image(DType::u8, 1, 200, 200);
  for (int stop_at = 0; stop_at < 30; stop_at += 7) {
    TempFolder const folder;
    folder.write("out.tif", "old");
    std::atomic<bool> cancel = false;
    int calls = 0;
    bool const by_flag = stop_at % 2 == 0;
    WriteOptions const options = with([&](WriteOptions& o) {
      o.cog = true;
      o.threads = 3;
      o.cancel = &cancel;
      o.progress = [&](std::uint64_t, std::uint64_t) {
        bool const now = calls++ >= stop_at;
        if (by_flag && now) { cancel = true; }
        return by_flag || !now;
      };
    });
    Writer writer = create(folder.path("out.tif"), 200, 200, options);
    EXPECT_EQ(kind_of_failure([&] { writer.write_rows(image.view()); }), ErrorKind::cancelled) << stop_at;
    EXPECT_EQ(kind_of_failure([&] { writer.close(); }), ErrorKind::usage);
    auto const old = terrazzo::testing::file_bytes(folder.path("out.tif"));
    EXPECT_EQ(std::string_view(reinterpret_cast<char const*>(old.data()), old.size()), "old");
    EXPECT_EQ(terrazzo::testing::count_temporary(folder.path("")), 0);
  }
}

// A sink that must not be touched.
class Untouched final : public ByteSink {
 public:
  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  void open() override { ADD_FAILURE() << "opened"; }
  void write_at(std::uint64_t, std::span<std::byte const>) override { ADD_FAILURE() << "written"; }
  void publish(std::uint64_t) override { ADD_FAILURE() << "published"; }
  void discard() noexcept override {}

 private:
  std::string name_ = "untouched";
};

TEST(WriterMisuse, RefusesWrongOptionsBeforeTheSinkIsTouched) {
  struct Wrong {
    char const* what;
    std::function<void(WriteOptions&)> change;
  };
  Wrong const wrongs[] = {
      {"no bands", [](auto& o) { o.bands = 0; }},
      {"too many bands", [](auto& o) { o.bands = 65536; }},
      {"a tile of 20",
       [](auto& o) {
         o.tile_size = {20, 16};
       }},
      {"a tile of 0",
       [](auto& o) {
         o.tile_size = {16, 0};
       }},
      {"a huge tile",
       [](auto& o) {
         o.tile_size = {65536, 65536};
       }},
      {"strips in a COG",
       [](auto& o) {
         o.cog = true;
         o.strip_rows = 16;
       }},
      {"strips of nothing", [](auto& o) { o.strip_rows = 0; }},
      {"a level of PackBits",
       [](auto& o) {
         o.compression = Compression::packbits;
         o.level = 1;
       }},
      {"level 13 of deflate",
       [](auto& o) {
         o.compression = Compression::deflate;
         o.level = 13;
       }},
      {"level 0 of zstd", [](auto& o) { o.level = 0; }},
      {"predictor 3 of integers", [](auto& o) { o.predictor = PredictorChoice::floating_point; }},
      {"predictor 2 of complex samples",
       [](auto& o) {
         o.dtype = DType::cf32;
         o.predictor = PredictorChoice::horizontal;
       }},
      {"a predictor for LERC",
       [](auto& o) {
         o.compression = Compression::lerc;
         o.predictor = PredictorChoice::horizontal;
       }},
      {"an error of zstd", [](auto& o) { o.lerc_max_error = 1; }},
      {"a negative error",
       [](auto& o) {
         o.compression = Compression::lerc;
         o.lerc_max_error = -1;
       }},
      {"an error that is no number",
       [](auto& o) {
         o.compression = Compression::lerc;
         o.lerc_max_error = std::nan("");
       }},
      {"quality 0", [](auto& o) { o.quality = 0; }},
      {"quality 101", [](auto& o) { o.quality = 101; }},
      {"JPEG of 16 bits",
       [](auto& o) {
         o.compression = Compression::jpeg;
         o.dtype = DType::u16;
       }},
      {"JPEG of 5 bands",
       [](auto& o) {
         o.compression = Compression::jpeg;
         o.bands = 5;
       }},
      {"WebP of one band", [](auto& o) { o.compression = Compression::webp; }},
      {"LERC of complex samples",
       [](auto& o) {
         o.compression = Compression::lerc;
         o.dtype = DType::cf64;
       }},
      {"JPEG 2000 of floats",
       [](auto& o) {
         o.compression = Compression::jpeg2000;
         o.dtype = DType::f32;
       }},
      {"an overview of factor 1", [](auto& o) { o.overview_factors = {{1}}; }},
      {"overviews that grow",
       [](auto& o) {
         o.overview_factors = {{4, 2}};
       }},
      {"an overview twice",
       [](auto& o) {
         o.overview_factors = {{2, 2}};
       }},
      {"an overview after one of a pixel",
       [](auto& o) {
         o.overview_factors = {{128, 256}};
       }},
      {"band_info of other bands", [](auto& o) { o.band_info.resize(2); }},
      {"a colour table of floats",
       [](auto& o) {
         o.dtype = DType::f32;
         o.band_info.resize(1);
         o.band_info[0].color_table.resize(2);
       }},
      {"a colour table of 257",
       [](auto& o) {
         o.band_info.resize(1);
         o.band_info[0].color_table.resize(257);
       }},
      {"a photometric nobody knows", [](auto& o) { o.photometric = "blue"; }},
      {"rgb of two bands",
       [](auto& o) {
         o.photometric = "rgb";
         o.bands = 2;
       }},
      {"nodata out of range",
       [](auto& o) {
         o.nodata = Nodata{};
         o.nodata->value = -9999;
         o.nodata->text = "-9999";
         o.nodata->representable = false;
       }},
      {"nodata no float can be",
       [](auto& o) {
         o.dtype = DType::f32;
         o.nodata = Nodata{};
         o.nodata->value = 1e300;
         o.nodata->text = "1e300";
         o.nodata->representable = false;
       }},
      {"an extra tag that is the writer's",
       [](auto& o) {
         o.extra_tags = {{257, 3, 1, std::vector<std::byte>(2)}};
       }},
      {"an extra tag twice",
       [](auto& o) {
         o.extra_tags = {{65000, 3, 1, std::vector<std::byte>(2)}, {65000, 3, 1, std::vector<std::byte>(2)}};
       }},
      {"an extra tag of the wrong size",
       [](auto& o) {
         o.extra_tags = {{65000, 3, 2, std::vector<std::byte>(3)}};
       }},
      {"an extra tag of no type",
       [](auto& o) {
         o.extra_tags = {{65000, 99, 1, std::vector<std::byte>(1)}};
       }},
  };
  for (Wrong const& wrong : wrongs) {
    WriteOptions options;  // not with(): that mends a level where there is none
    options.tile_size = {32, 48};
    wrong.change(options);
    EXPECT_EQ(kind_of_failure([&] { (void)create(std::make_shared<Untouched>(), 100, 100, options); }),
              ErrorKind::usage)
        << wrong.what;
  }
  WriteOptions unknown_crs;
  unknown_crs.georeference.crs.emplace();
  unknown_crs.georeference.crs->wkt = "NOT A CRS";
  EXPECT_EQ(kind_of_failure([&] { (void)create(std::make_shared<Untouched>(), 100, 100, unknown_crs); }),
            geo::proj_api() == nullptr ? ErrorKind::unsupported : ErrorKind::usage);
  WriteOptions const good = with([](auto&) {});
  EXPECT_EQ(kind_of_failure([&] { (void)create(std::make_shared<Untouched>(), 0, 10, good); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { (void)create(std::make_shared<Untouched>(), 10, 0, good); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { (void)create(std::make_shared<Untouched>(), 0x80000000U, 10, good); }),
            ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo::writing
