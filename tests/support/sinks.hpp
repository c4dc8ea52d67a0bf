// SPDX-License-Identifier: Apache-2.0
//
// Sinks of every kind, for tests of code that writes.
#pragma once

#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"
#include "terrazzo/sink.hpp"
#include "terrazzo/write.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::testing {

enum class Place { file, memory, seekable, append };
constexpr Place kPlaces[] = {Place::file, Place::memory, Place::seekable, Place::append};

// A sink of each kind, and the bytes that arrived in it.
struct Target {
  explicit Target(Place where) : place(where) {
    switch (place) {
      case Place::file: sink = file_sink(path); break;
      case Place::memory: sink = memory_sink(bytes); break;
      case Place::seekable:
        sink = seekable_sink("callback", [this](std::uint64_t offset, std::span<std::byte const> part) {
          bytes.resize(std::max<std::size_t>(bytes.size(), offset + part.size()));
          std::copy(part.begin(), part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        });
        break;
      case Place::append:
        sink = append_sink("callback", [this](std::span<std::byte const> part) {
          bytes.insert(bytes.end(), part.begin(), part.end());
        });
        break;
    }
  }
  Target(Target const&) = delete;
  Target& operator=(Target const&) = delete;

  [[nodiscard]] std::vector<std::byte> arrived() const { return place == Place::file ? file_bytes(path) : bytes; }

  Place place;
  TempFolder folder{};
  std::string path = folder.path("out.tif");
  std::vector<std::byte> bytes{};
  std::shared_ptr<ByteSink> sink{};
};

// Wraps a sink and calls a function before every write, with the number of previous writes. An exception of the
// function is the failure of that write. Copies by the kernel are writes too.
class WatchedSink final : public ByteSink {
 public:
  using BeforeWrite = std::function<void(int earlier)>;
  WatchedSink(std::shared_ptr<ByteSink> sink, BeforeWrite before_write)
      : sink_(std::move(sink)), before_write_(std::move(before_write)) {}

  [[nodiscard]] std::string const& name() const noexcept override { return sink_->name(); }
  void open() override { sink_->open(); }
  [[nodiscard]] bool is_seekable() const noexcept override { return sink_->is_seekable(); }
  void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) override {
    before_write_(writes_++);
    sink_->write_at(offset_bytes, bytes);
  }
  void hold() override { sink_->hold(); }
  void let_go() override { sink_->let_go(); }
  void read_at(std::uint64_t offset_bytes, std::span<std::byte> into) override { sink_->read_at(offset_bytes, into); }
  [[nodiscard]] bool insert_front(std::uint64_t bytes) override { return sink_->insert_front(bytes); }
  [[nodiscard]] std::uint64_t insert_unit_bytes() noexcept override { return sink_->insert_unit_bytes(); }
  [[nodiscard]] std::uint64_t copy_from(int descriptor, std::uint64_t from_bytes, std::uint64_t to_bytes,
                                        std::uint64_t size_bytes) override {
    before_write_(writes_++);
    return sink_->copy_from(descriptor, from_bytes, to_bytes, size_bytes);
  }
  [[nodiscard]] std::string spool_folder() const override { return sink_->spool_folder(); }
  void publish(std::uint64_t size_bytes) override { sink_->publish(size_bytes); }
  void discard() noexcept override { sink_->discard(); }

 private:
  std::shared_ptr<ByteSink> sink_;
  BeforeWrite before_write_;
  int writes_ = 0;
};

}  // namespace terrazzo::testing
