// SPDX-License-Identifier: Apache-2.0
#include "write/update/read_back.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "io/file_source.hpp"
#include "terrazzo/error.hpp"
#include "tiff/block_index.hpp"
#include "write/update/tag_edit.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace terrazzo::writing {
namespace {

[[noreturn]] void differ(tiff::Directory const& directory, std::string what) {
  throw Error(ErrorKind::io, text("the written directories read back differently: ", what, "; nothing was changed"),
              {.source = directory.reader().source()->name(), .ifd = directory.index()});
}

class PatchedSource final : public ByteSource {
 public:
  PatchedSource(ByteSourcePtr source, std::vector<Patch> patches)
      : source_(std::move(source)), patches_(std::move(patches)) {}

  [[nodiscard]] std::string const& name() const noexcept override { return source_->name(); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return source_->size_bytes(); }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override {
    source_->submit(ranges).wait();
    for (RangeRead const& range : ranges) {
      for (Patch const& patch : patches_) { put(patch, range); }
    }
    return {};
  }

 private:
  static void put(Patch const& patch, RangeRead const& range) {
    std::uint64_t const begin = std::max(patch.offset_bytes, range.offset_bytes);
    std::uint64_t const end = std::min(patch.offset_bytes + patch.bytes.size(), range.offset_bytes + range.into.size());
    if (begin >= end) { return; }
    std::ranges::copy(std::span(patch.bytes).subspan(begin - patch.offset_bytes, end - begin),
                      range.into.begin() + static_cast<std::ptrdiff_t>(begin - range.offset_bytes));
  }

  ByteSourcePtr source_;
  std::vector<Patch> patches_;
};

class SinkSource final : public ByteSource {
 public:
  SinkSource(ByteSink& sink, std::uint64_t size_bytes) : sink_(sink), size_bytes_(size_bytes) {}

  [[nodiscard]] std::string const& name() const noexcept override { return sink_.name(); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override {
    for (RangeRead const& range : ranges) { sink_.read_at(range.offset_bytes, range.into); }
    return {};
  }

 private:
  ByteSink& sink_;
  std::uint64_t size_bytes_;
};

class CheckedSink final : public ByteSink {
 public:
  CheckedSink(std::shared_ptr<ByteSink> sink, std::function<void(ByteSourcePtr const&)> check)
      : sink_(std::move(sink)), check_(std::move(check)) {}

  [[nodiscard]] std::string const& name() const noexcept override { return sink_->name(); }
  void open() override { sink_->open(); }
  [[nodiscard]] bool is_seekable() const noexcept override { return sink_->is_seekable(); }
  void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) override {
    sink_->write_at(offset_bytes, bytes);
  }
  void hold() override { sink_->hold(); }
  void let_go() override { sink_->let_go(); }
  void read_at(std::uint64_t offset_bytes, std::span<std::byte> into) override { sink_->read_at(offset_bytes, into); }
  [[nodiscard]] bool insert_front(std::uint64_t bytes) override { return sink_->insert_front(bytes); }
  [[nodiscard]] std::uint64_t insert_unit_bytes() noexcept override { return sink_->insert_unit_bytes(); }
  [[nodiscard]] std::uint64_t copy_from(int descriptor, std::uint64_t from_bytes, std::uint64_t to_bytes,
                                        std::uint64_t size_bytes) override {
    return sink_->copy_from(descriptor, from_bytes, to_bytes, size_bytes);
  }
  [[nodiscard]] std::string spool_folder() const override { return sink_->spool_folder(); }
  void publish(std::uint64_t size_bytes) override {
    if (sink_->is_seekable()) { check_(written_so_far(*sink_, size_bytes)); }
    sink_->publish(size_bytes);
  }
  void discard() noexcept override { sink_->discard(); }

 private:
  std::shared_ptr<ByteSink> sink_;
  std::function<void(ByteSourcePtr const&)> check_;
};

}  // namespace

ByteSourcePtr patched_file(std::string const& path, std::vector<Patch> patches) {
  return std::make_shared<PatchedSource const>(std::make_shared<io::FileSource const>(path), std::move(patches));
}

void require_bytes(std::string const& path, Patch const& patch) {
  std::vector<std::byte> found(patch.bytes.size());
  RangeRead const range{patch.offset_bytes, found};
  io::FileSource const file(path);
  file.submit({&range, 1}).wait();
  if (found != patch.bytes) {
    throw Error(ErrorKind::io, "the written bytes read back differently",
                {.source = path, .offset = patch.offset_bytes});
  }
}

ByteSourcePtr written_so_far(ByteSink& sink, std::uint64_t size_bytes) {
  return std::make_shared<SinkSource const>(sink, size_bytes);
}

std::shared_ptr<ByteSink> checked_sink(std::shared_ptr<ByteSink> sink,
                                       std::function<void(ByteSourcePtr const&)> check) {
  return std::make_shared<CheckedSink>(std::move(sink), std::move(check));
}

bool same_tags(tiff::TagSet const& a, tiff::TagSet const& b) {
  return std::ranges::equal(a.values(), b.values(), [](auto const& left, auto const& right) {
    return left.first == right.first && left.second.type == right.second.type &&
           left.second.count == right.second.count && left.second.bytes == right.second.bytes;
  });
}

tiff::Chain read_back_chain(ByteSourcePtr const& source, std::size_t directories) {
  tiff::Chain chain = tiff::read_chain(source);
  if (!chain.warnings.empty()) { differ(chain.directories.back(), chain.warnings.front()); }
  if (chain.directories.size() != directories) {
    differ(chain.directories.back(), text(chain.directories.size(), " directories, not ", directories));
  }
  return chain;
}

void require_tags(tiff::Directory const& directory, tiff::TagSet const& wanted) {
  if (!same_tags(tags_of(directory), wanted)) { differ(directory, "its tags are not those that were set"); }
}

void require_same(tiff::Directory const& directory, tiff::Directory const& wanted, Values values) {
  std::uint64_t const word_bytes = wanted.header().big ? 8 : 4;
  bool const same =
      std::ranges::equal(directory.entries(), wanted.entries(), [&](tiff::Entry const& a, tiff::Entry const& b) {
        bool const there =
            values == Values::in_place && a.value_bytes > word_bytes && a.value_offset_bytes == b.value_offset_bytes;
        return a.tag == b.tag && a.type == b.type && a.count == b.count &&
               (there || directory.bytes_value(a.tag) == wanted.bytes_value(b.tag));
      });
  if (!same) { differ(directory, "its tags have changed"); }
}

void require_level(tiff::Directory const& directory, WantedLevel const& wanted, std::uint64_t begin_bytes,
                   std::uint64_t end_bytes) {
  std::optional<tiff::Image> const image = tiff::try_parse_image(directory);
  if (!image || image->width_px != wanted.width_px || image->height_px != wanted.height_px ||
      image->is_mask() != wanted.mask) {
    differ(directory, text("no ", wanted.mask ? "mask" : "image", " of ", wanted.width_px, " x ", wanted.height_px));
  }
  tiff::BlockIndex const index(directory, *image);
  for (std::uint64_t block = 0; block < image->block_count(); ++block) {
    tiff::BlockRange const range = index.range(block);
    bool const inside =
        range.offset_bytes >= begin_bytes && range_fits(range.offset_bytes, range.size_bytes, end_bytes);
    if (range.size_bytes != 0 && !inside) { differ(directory, text("tile ", block, " lies elsewhere")); }
  }
}

}  // namespace terrazzo::writing
