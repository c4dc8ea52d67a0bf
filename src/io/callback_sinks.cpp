// SPDX-License-Identifier: Apache-2.0
#include "io/callback_sinks.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace terrazzo::io {

namespace {

void begin(bool& opened, bool has_function, std::string const& name) {
  if (!has_function) { throw Error(ErrorKind::usage, "the sink has no function to write with", {.source = name}); }
  if (std::exchange(opened, true)) {
    throw Error(ErrorKind::usage, "this sink has been used: one sink, one file", {.source = name});
  }
}

void refuse_shortening(std::uint64_t size_bytes, std::uint64_t end_bytes, std::string const& name) {
  if (size_bytes < end_bytes) {
    throw Error(ErrorKind::usage, text("more bytes are written than the ", size_bytes, " of the file"),
                {.source = name});
  }
}

}  // namespace

SeekableSink::SeekableSink(std::string name, WriteAt write_at)
    : name_(std::move(name)), write_at_(std::move(write_at)) {}

void SeekableSink::open() { begin(opened_, static_cast<bool>(write_at_), name_); }

void SeekableSink::write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) {
  if (bytes.empty()) { return; }
  gather_.write(offset_bytes, bytes, one_by_one(write_at_));
  end_bytes_ = std::max(end_bytes_, offset_bytes + bytes.size());
}

void SeekableSink::publish(std::uint64_t size_bytes) {
  refuse_shortening(size_bytes, end_bytes_, name_);
  std::byte const zero{};
  if (size_bytes > end_bytes_) { write_at(size_bytes - 1, {&zero, 1}); }
  gather_.flush(one_by_one(write_at_));
  gather_.clear();
}

AppendSink::AppendSink(std::string name, Append append) : name_(std::move(name)), append_(std::move(append)) {}

void AppendSink::open() { begin(opened_, static_cast<bool>(append_), name_); }

void AppendSink::write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) {
  if (offset_bytes != end_bytes_) {
    throw Error(ErrorKind::usage, text("only byte ", end_bytes_, " can be written next here"),
                {.source = name_, .offset = offset_bytes});
  }
  gather_.write(offset_bytes, bytes, one_by_one([this](std::uint64_t, Bytes part) { append_(part); }));
  end_bytes_ += bytes.size();
}

void AppendSink::publish(std::uint64_t size_bytes) {
  refuse_shortening(size_bytes, end_bytes_, name_);
  static constexpr std::array<std::byte, 4096> kZeros{};
  while (end_bytes_ < size_bytes) {
    write_at(end_bytes_, std::span(kZeros).first(static_cast<std::size_t>(
                             std::min<std::uint64_t>(size_bytes - end_bytes_, kZeros.size()))));
  }
  gather_.flush(one_by_one([this](std::uint64_t, Bytes part) { append_(part); }));
  gather_.clear();
}

}  // namespace terrazzo::io

namespace terrazzo {

std::shared_ptr<ByteSink> seekable_sink(std::string name, WriteAt write_at) {
  return std::make_shared<io::SeekableSink>(std::move(name), std::move(write_at));
}

std::shared_ptr<ByteSink> append_sink(std::string name, Append append) {
  return std::make_shared<io::AppendSink>(std::move(name), std::move(append));
}

}  // namespace terrazzo
