// SPDX-License-Identifier: Apache-2.0
#include "write/overviews/cascade.hpp"

#include "write/test_image.hpp"

#include "write/host/engine.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <optional>

namespace terrazzo::writing {
namespace {

constexpr Resampling kMethods[] = {Resampling::nearest, Resampling::average,      Resampling::bilinear,
                                   Resampling::cubic,   Resampling::cubic_spline, Resampling::lanczos,
                                   Resampling::mode,    Resampling::minimum,      Resampling::maximum,
                                   Resampling::median,  Resampling::rms};

FilePlan plan_of(Image const& image, std::vector<std::uint32_t> factors, Resampling method, PlanarLayout planar) {
  WriteOptions options;
  options.dtype = image.dtype;
  options.bands = image.bands;
  options.mask = !image.mask.empty();
  options.tile_size = {16, 16};
  options.overview_factors = std::move(factors);
  options.overview_resampling = method;
  options.planar = planar;
  return plan_file(image.width, image.height, options);
}

HostRows whole(Image& image) { return {0, image.view(), image.mask.empty() ? HostView{} : image.mask_view()}; }

// Every level, each made at once from the whole of its source.
std::vector<Image> expected_levels(Image const& image, FilePlan const& plan) {
  std::vector<Image> levels{image};
  for (std::size_t i = 1; i < plan.levels.size(); ++i) {
    Image& source = levels[plan.source_of[i - 1]];
    Image result{image.dtype, image.bands, plan.levels[i].height, plan.levels[i].width, {}, {}};
    result.bytes.resize(std::size_t{result.width} * result.height * result.bands * result.sample_bytes());
    if (!image.mask.empty()) { result.mask.resize(std::size_t{result.width} * result.height); }
    ReductionSpec spec{source.width, source.height, result.width,    result.height,
                       image.dtype,  image.bands,   plan.resampling, plan.options.nodata};
    spec.mask = !image.mask.empty();
    Reduction(spec).reduce(whole(source), whole(result));
    levels.push_back(std::move(result));
  }
  return levels;
}

// Compares what a job would cut with the level, pixel by pixel; counts jobs.
void check_job(HostBlockJob const& job, FilePlan const& plan, Image const& level) {
  LevelPlan const& geometry = plan.levels[job.level];
  std::uint32_t const first = geometry.first_row(job.id.row), last = first + geometry.rows_of(job.id.row);
  ASSERT_LE(job.rows->first, first);
  ASSERT_GE(job.rows->first + job.rows->pixels.height, last);
  ASSERT_EQ(job.rows->pixels.width, level.width);
  std::size_t const sample = level.sample_bytes();
  ConstHostView const& view = job.rows->pixels;
  std::uint32_t const columns_from = job.id.column * 16, columns_to = std::min(columns_from + 16, level.width);
  for (std::uint32_t y = first; y < last; ++y) {
    for (std::uint32_t x = columns_from; x < columns_to; ++x) {
      for (std::uint32_t s = 0; s < plan.samples_per_block; ++s) {
        std::uint32_t const band = job.id.plane + s;
        auto const* const at = static_cast<std::byte const*>(view.data) +
                               std::int64_t{y - job.rows->first} * view.row_stride_bytes + x * view.pixel_stride_bytes +
                               band * view.band_stride_bytes;
        std::size_t const index = (std::size_t{band} * level.height + y) * level.width + x;
        ASSERT_EQ(std::memcmp(at, level.bytes.data() + index * sample, sample), 0)
            << "level " << job.level << ", column " << x << ", row " << y;
      }
      if (!level.mask.empty()) {
        auto const* const at = static_cast<std::byte const*>(job.rows->mask.data) +
                               std::int64_t{y - job.rows->first} * job.rows->mask.row_stride_bytes + x;
        ASSERT_EQ(*at, level.mask[std::size_t{y} * level.width + x]) << "mask of level " << job.level;
      }
    }
  }
}

using Names = std::vector<std::tuple<std::size_t, std::uint32_t, std::uint32_t, std::uint32_t>>;

// The host's memory and reductions; blocks go to a function of the test.
class Looker final : public RowEngine<MemoryKind::host> {
 public:
  Looker(FilePlan const& plan, unsigned threads, std::function<void(HostBlockJob const&)> look)
      : host_(make_host_engine(plan, threads, {})), look_(std::move(look)) {}
  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override { return host_->allocate(bytes); }
  void copy(ConstHostRows const& from, HostRows const& to) override { host_->copy(from, to); }
  void copy(ConstDeviceRows const& from, HostRows const& to) override { host_->copy(from, to); }
  void move(std::byte* to, std::byte const* from, std::size_t bytes) override { host_->move(to, from, bytes); }
  [[nodiscard]] RowShare row_share() const override { return host_->row_share(); }
  void wait_for(StreamView) override {}
  void reduce(std::size_t level, Reduction const& reduction, ConstHostRows const& source,
              HostRows const& result) override {
    host_->reduce(level, reduction, source, result);
  }
  void encode(std::span<HostBlockJob const> jobs) override {
    for (HostBlockJob const& job : jobs) { look_(job); }
  }
  void rows_are_free() override {}
  void finish() override {}

 private:
  std::unique_ptr<RowEngine<MemoryKind::host>> host_;
  std::function<void(HostBlockJob const&)> look_;
};

// The blocks in the order they are named, each checked.
Names run(Image& image, FilePlan const& plan, std::vector<Image> const& levels, std::uint32_t rows_at_a_time,
          unsigned threads) {
  Names names;
  Looker engine(plan, threads, [&](HostBlockJob const& job) {
    check_job(job, plan, levels[job.level]);
    names.emplace_back(job.level, job.id.plane, job.id.row, job.id.column);
  });
  Cascade<MemoryKind::host> cascade(plan, engine, rows_at_a_time);
  for (std::uint32_t row = 0; row < image.height; row += rows_at_a_time) {
    std::uint32_t const end = std::min(image.height, row + rows_at_a_time);
    // A copy that is gone afterwards: nothing may be looked at later.
    Image copy = image;
    cascade.advance(rows_between(whole(copy), row, end));
  }
  return names;
}

TEST(Cascade, MakesTheOverviewsThatTheWholeRasterGives) {
  for (Resampling const method : kMethods) {
    for (auto const& factors : {std::vector<std::uint32_t>{2, 4, 8}, std::vector<std::uint32_t>{3},
                                std::vector<std::uint32_t>{2, 3, 5, 6, 40}}) {
      for (bool const masked : {false, true}) {
        Image image = make_image(DType::i16, 2, 83, 45);
        if (masked) { add_mask(image); }
        FilePlan const plan =
            plan_of(image, factors, method, masked ? PlanarLayout::separate : PlanarLayout::contiguous);
        std::vector<Image> const levels = expected_levels(image, plan);
        Names const names = run(image, plan, levels, image.height, 1);
        EXPECT_EQ(names.size(), plan.tile_count() - (masked ? plan.tile_count() / 3 : 0));
        for (std::uint32_t const rows : {16U, 32U, 64U}) {
          EXPECT_EQ(run(image, plan, levels, rows, 3), names) << to_string(method) << ", " << rows << " rows at a time";
        }
        if (::testing::Test::HasFatalFailure()) { return; }
      }
    }
  }
}

// COGs need the blocks of a plane in the order of the index.
TEST(Cascade, NamesBlocksOfAPlaneInTheirOrder) {
  Image image = make_image(DType::u8, 3, 150, 70);
  FilePlan const plan = plan_of(image, {2, 4, 8}, Resampling::cubic, PlanarLayout::separate);
  std::map<std::pair<std::size_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> last;
  for (auto const& [level, plane, row, column] : run(image, plan, expected_levels(image, plan), 32, 1)) {
    auto const [found, fresh] = last.try_emplace({level, plane}, row, column);
    if (!fresh) {
      EXPECT_LT(found->second, std::pair(row, column));
      found->second = {row, column};
    }
  }
  EXPECT_EQ(last.size(), 12U);
}

TEST(Cascade, TakesRastersSmallerThanABlock) {
  for (std::uint32_t height = 1; height < 20; ++height) {
    Image image = make_image(DType::f32, 1, height, 3);
    FilePlan const plan = plan_of(image, {2, 4}, Resampling::average, PlanarLayout::contiguous);
    EXPECT_EQ(run(image, plan, expected_levels(image, plan), 16, 2).size(), plan.tile_count());
  }
}

TEST(RowsBetween, MovesPixelsAndMask) {
  Image image = make_image(DType::u16, 1, 10, 4);
  add_mask(image);
  HostRows rows = whole(image);
  rows.first = 100;
  HostRows const part = rows_between(rows, 103, 108);
  EXPECT_EQ(part.first, 103U);
  EXPECT_EQ(part.pixels.height, 5U);
  EXPECT_EQ(part.mask.height, 5U);
  EXPECT_EQ(part.pixels.data, image.bytes.data() + 3 * 8);
  EXPECT_EQ(part.mask.data, image.mask.data() + 3 * 4);
}

// As GDAL 3.12 does: see the rule in docs/writing.md.
TEST(ReductionSpecs, AlphaIsReducedOverItselfWhereverPixelsCanBeMissing) {
  struct Case {
    DType dtype;
    std::vector<std::uint32_t> alphas;  // bands, from 0
    std::uint32_t bands;
    bool nodata, mask;
    std::optional<std::uint32_t> band;
    bool is_mask;
  };
  for (Case const& c : std::vector<Case>{{DType::u8, {3}, 4, false, false, 3, true},
                                         {DType::u16, {1}, 2, false, false, 1, true},
                                         {DType::u8, {3}, 4, true, false, 3, false},
                                         {DType::i16, {3}, 4, false, false, {}, false},
                                         {DType::i16, {3}, 4, true, false, 3, false},
                                         {DType::f32, {1}, 2, false, true, 1, false},
                                         {DType::u8, {1}, 3, false, true, 1, false},
                                         {DType::u8, {4}, 5, false, false, {}, false},
                                         {DType::u8, {4}, 5, true, true, 4, false},
                                         {DType::u8, {0}, 3, false, false, 0, false},
                                         {DType::u8, {1, 3}, 4, false, false, 3, true},
                                         {DType::u8, {}, 4, true, true, {}, false},
                                         {DType::cf32, {1}, 2, false, true, {}, false}}) {
    WriteOptions options;
    options.dtype = c.dtype;
    options.bands = c.bands;
    options.band_info.resize(c.bands);
    for (std::uint32_t const band : c.alphas) { options.band_info[band].color = ColorInterpretation::alpha; }
    if (c.nodata) { options.nodata = make_nodata("3", c.dtype); }
    options.mask = c.mask;
    options.overview_factors = {{2}};
    ReductionSpec const spec = reduction_specs(plan_file(9, 9, options)).front();
    SCOPED_TRACE(::testing::Message() << to_string(c.dtype) << " x " << c.bands << (c.nodata ? ", nodata" : "")
                                      << (c.mask ? ", mask" : ""));
    EXPECT_EQ(spec.alpha_band, c.band);
    EXPECT_EQ(spec.alpha_is_mask(), c.is_mask);
  }
  WriteOptions implied;  // four bands of bytes are RGBA
  implied.bands = 4;
  implied.overview_factors = {{2}};
  EXPECT_TRUE(reduction_specs(plan_file(9, 9, implied)).front().alpha_is_mask());
}

TEST(OverviewSize, IsRoundedUp) {
  EXPECT_EQ(overview_size(1, 2), 1U);
  EXPECT_EQ(overview_size(8, 2), 4U);
  EXPECT_EQ(overview_size(9, 2), 5U);
  EXPECT_EQ(overview_size(9, 4), 3U);
}

}  // namespace
}  // namespace terrazzo::writing
