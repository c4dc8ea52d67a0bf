// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/row_finisher.hpp"

#include "terrazzo/error.hpp"
#include "tile/host/stream_copy.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <memory>
#include <vector>

namespace terrazzo::reading {
namespace {

using codec::OutputOrder;
using tiff::Compression;
using tiff::Predictor;
using tiff::SampleFormat;

tiff::Image row_of(std::uint32_t width, std::uint32_t samples, std::uint32_t bits,
                   SampleFormat format = SampleFormat::uint, std::endian order = std::endian::little,
                   Predictor predictor = Predictor::none) {
  tiff::Image image;
  image.width_px = image.block_width_px = width;
  image.height_px = image.block_height_px = 1;
  image.samples = samples;
  image.bits = bits;
  image.sample_format = format;
  image.byte_order = order;
  image.predictor = predictor;
  image.compression = Compression::lzw;  // one that predictors are defined for
  return image;
}

// Into memory of exactly the size, so that the sanitizers see a byte too many.
template <class T>
std::vector<T> finished(tiff::Image const& image, std::vector<std::uint8_t> const& decoded,
                        OutputOrder order = OutputOrder::stored) {
  RowFinisher const finisher(image, order);
  EXPECT_EQ(finisher.decoded_row_bytes(), decoded.size());
  auto const in = std::make_unique<std::byte[]>(finisher.decoded_row_bytes());
  std::memcpy(in.get(), decoded.data(), decoded.size());
  auto const out = std::make_unique<std::byte[]>(finisher.finished_row_bytes());
  finisher.finish(in.get(), out.get());
  std::vector<T> values(finisher.finished_row_bytes() / sizeof(T));
  std::memcpy(values.data(), out.get(), finisher.finished_row_bytes());
  return values;
}

TEST(RowFinisher, CopiesWhatIsFinished) {
  RowFinisher const finisher(row_of(3, 1, 8), OutputOrder::stored);
  EXPECT_TRUE(finisher.is_copy());
  EXPECT_EQ(finished<std::uint8_t>(row_of(3, 1, 8), {1, 2, 3}), (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_TRUE(RowFinisher(row_of(3, 2, 8, SampleFormat::uint, std::endian::big), OutputOrder::stored).is_copy())
      << "bytes have no order";
  EXPECT_FALSE(
      RowFinisher(row_of(3, 1, 8, SampleFormat::uint, std::endian::little, Predictor::horizontal), OutputOrder::stored)
          .is_copy());
}

TEST(RowFinisher, SwapsStoredSamplesOfTheOtherOrderOnly) {
  tiff::Image const big = row_of(2, 1, 16, SampleFormat::uint, std::endian::big);
  EXPECT_EQ(finished<std::uint16_t>(big, {1, 2, 3, 4}), (std::vector<std::uint16_t>{0x0102, 0x0304}));
  EXPECT_EQ(finished<std::uint16_t>(big, {1, 2, 3, 4}, OutputOrder::native),
            (std::vector<std::uint16_t>{0x0201, 0x0403}));
  EXPECT_EQ(finished<std::uint16_t>(row_of(2, 1, 16), {1, 2, 3, 4}), (std::vector<std::uint16_t>{0x0201, 0x0403}));
}

TEST(RowFinisher, SwapsThePartsOfComplexSamples) {
  tiff::Image const ints = row_of(1, 1, 32, SampleFormat::complex_int, std::endian::big);
  EXPECT_EQ(finished<std::uint16_t>(ints, {1, 2, 3, 4}), (std::vector<std::uint16_t>{0x0102, 0x0304}));
  tiff::Image const floats = row_of(1, 1, 64, SampleFormat::complex_float, std::endian::big);
  EXPECT_EQ(finished<float>(floats, {0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0}), (std::vector<float>{1, -2}));
  tiff::Image const doubles = row_of(1, 1, 128, SampleFormat::complex_float, std::endian::big);
  EXPECT_EQ(finished<double>(doubles, {0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0}),
            (std::vector<double>{1, -2}));
}

TEST(RowFinisher, SumsHorizontalDifferencesPerSample) {
  tiff::Image const bytes = row_of(3, 2, 8, SampleFormat::uint, std::endian::little, Predictor::horizontal);
  EXPECT_EQ(finished<std::uint8_t>(bytes, {10, 20, 1, 2, 255, 254}),
            (std::vector<std::uint8_t>{10, 20, 11, 22, 10, 20}));
  tiff::Image const shorts = row_of(2, 1, 16, SampleFormat::uint, std::endian::big, Predictor::horizontal);
  EXPECT_EQ(finished<std::uint16_t>(shorts, {1, 255, 0, 2}), (std::vector<std::uint16_t>{0x01FF, 0x0201}))
      << "swapped before summing";
}

TEST(RowFinisher, UnpacksBitsWithTheRowsPadding) {
  EXPECT_EQ(finished<std::uint8_t>(row_of(10, 1, 1), {0b10110000, 0b11111111}),
            (std::vector<std::uint8_t>{1, 0, 1, 1, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(finished<std::uint8_t>(row_of(3, 1, 4), {0x12, 0x3F}), (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(finished<std::uint16_t>(row_of(1, 2, 12), {0x12, 0x3A, 0xBC}), (std::vector<std::uint16_t>{0x123, 0xABC}));
  EXPECT_EQ(finished<std::uint16_t>(row_of(1, 2, 12, SampleFormat::uint, std::endian::big), {0x12, 0x3A, 0xBC}),
            (std::vector<std::uint16_t>{0x123, 0xABC}))
      << "packed bits have no byte order";
}

TEST(RowFinisher, WidensFloatsOf24Bits) {
  // 1.0 is sign 0, exponent 63, mantissa 0: 0x3F0000.
  tiff::Image const little = row_of(1, 1, 24, SampleFormat::ieee_float);
  EXPECT_EQ(finished<float>(little, {0x00, 0x00, 0x3F}), (std::vector<float>{1}));
  tiff::Image const big = row_of(1, 1, 24, SampleFormat::ieee_float, std::endian::big);
  EXPECT_EQ(finished<float>(big, {0x3F, 0x00, 0x00}), (std::vector<float>{1}));
}

// Byte planes, most significant first, differences over the whole row.
std::vector<std::uint8_t> float_predicted(std::vector<std::vector<std::uint8_t>> const& samples_msb_first) {
  std::vector<std::uint8_t> planes;
  for (std::size_t byte = 0; byte < samples_msb_first[0].size(); ++byte) {
    for (auto const& sample : samples_msb_first) { planes.push_back(sample[byte]); }
  }
  for (std::size_t i = planes.size(); i-- > 1;) { planes[i] = static_cast<std::uint8_t>(planes[i] - planes[i - 1]); }
  return planes;
}

TEST(RowFinisher, UndoesTheFloatPredictorInEitherOrder) {
  auto const row = float_predicted({{0x3F, 0x80, 0, 0}, {0xC0, 0, 0, 0}, {0x42, 0x28, 0, 0}});
  for (std::endian const order : {std::endian::little, std::endian::big}) {
    tiff::Image const image = row_of(3, 1, 32, SampleFormat::ieee_float, order, Predictor::floating_point);
    EXPECT_EQ(finished<float>(image, row), (std::vector<float>{1, -2, 42}));
  }
}

TEST(RowFinisher, UndoesTheFloatPredictorOf24Bits) {
  for (std::uint32_t const width : {1u, 2u, 7u, 33u}) {
    std::vector<std::vector<std::uint8_t>> samples;
    std::vector<float> wanted;
    for (std::uint32_t i = 0; i < width; ++i) {
      samples.push_back({static_cast<std::uint8_t>(i % 2 == 0 ? 0x3F : 0x40), 0, 0});
      wanted.push_back(i % 2 == 0 ? 1.f : 2.f);
    }
    tiff::Image const image =
        row_of(width, 1, 24, SampleFormat::ieee_float, std::endian::little, Predictor::floating_point);
    EXPECT_EQ(finished<float>(image, float_predicted(samples)), wanted) << width;
  }
}

TEST(RowFinisher, StreamsRowsAsItFinishesThem) {
  auto const with = [](std::uint32_t width, std::uint32_t samples, std::uint32_t bits, SampleFormat format,
                       Predictor predictor) {
    return row_of(width, samples, bits, format, std::endian::big, predictor);
  };
  std::vector<tiff::Image> const images{
      with(100, 3, 8, SampleFormat::uint, Predictor::none),                    // a copy
      with(100, 1, 16, SampleFormat::uint, Predictor::none),                   // swapped
      with(100, 2, 16, SampleFormat::uint, Predictor::horizontal),             //
      with(101, 1, 32, SampleFormat::ieee_float, Predictor::floating_point),   // streamed by the predictor
      with(100, 2, 32, SampleFormat::ieee_float, Predictor::floating_point),   // not: two samples
      with(2100, 1, 32, SampleFormat::ieee_float, Predictor::floating_point),  // not: too long
      with(100, 1, 24, SampleFormat::ieee_float, Predictor::floating_point),   // not: widened after
      with(101, 1, 12, SampleFormat::uint, Predictor::none),                   //
  };
  constexpr std::size_t kRows = 9;
  for (std::size_t i = 0; i < images.size(); ++i) {
    RowFinisher const finisher(images[i], OutputOrder::stored);
    std::size_t const in_bytes = finisher.decoded_row_bytes(), out_bytes = finisher.finished_row_bytes();
    std::vector<std::byte> decoded(in_bytes * kRows);
    for (std::size_t b = 0; b < decoded.size(); ++b) { decoded[b] = static_cast<std::byte>(b * 2654435761u >> 11); }
    std::size_t const stride = out_bytes + 40;
    std::vector<std::byte> wanted(stride * kRows, std::byte{0xEE}), out = wanted, row(out_bytes);
    std::vector<std::byte> again = decoded;
    for (std::size_t r = 0; r < kRows; ++r) {
      finisher.finish(again.data() + r * in_bytes, wanted.data() + r * stride);
    }
    finisher.stream(decoded.data(), kRows, row.data(), out.data(), static_cast<std::ptrdiff_t>(stride));
    tile::fence_streamed_copies();
    EXPECT_EQ(out, wanted) << "image " << i;
  }
}

TEST(RowFinisher, RefusesPredictorsThatTiffDoesNotDefine) {
  auto const refused = [](tiff::Image const& image) {
    try {
      RowFinisher const finisher(image, OutputOrder::stored);
    } catch (Error const& error) {
      return error.kind() == ErrorKind::unsupported && error.where().tag == tiff::tag::Predictor;
    }
    return false;
  };
  EXPECT_TRUE(refused(row_of(4, 1, 32, SampleFormat::uint, std::endian::little, Predictor::floating_point)));
  EXPECT_TRUE(refused(row_of(4, 1, 12, SampleFormat::uint, std::endian::little, Predictor::horizontal)));
  EXPECT_TRUE(refused(row_of(4, 1, 8, SampleFormat::uint, std::endian::little, static_cast<Predictor>(4))));
  EXPECT_TRUE(refused(row_of(4, 1, 8, SampleFormat::uint, std::endian::little, static_cast<Predictor>(0))));
}

}  // namespace
}  // namespace terrazzo::reading
