// SPDX-License-Identifier: Apache-2.0
//
// A file whose directories change: their tags, and the three ways to write them (see terrazzo/edit.hpp).
#pragma once

#include "base/memory_budget.hpp"
#include "terrazzo/edit.hpp"
#include "terrazzo/read.hpp"
#include "tiff/directory.hpp"
#include "tiff/directory_writer.hpp"
#include "tiff/image.hpp"
#include "write/file_claims.hpp"
#include "write/file_update.hpp"
#include "write/read_back.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo::ops {

class EditedFile {
 public:
  // Opens the file for writing and reads its directories; sidecars are not looked at.
  EditedFile(std::string const& path, EditOptions const& options);

  [[nodiscard]] Dataset const& dataset() const noexcept { return *dataset_; }
  [[nodiscard]] std::size_t directory_count() const noexcept { return directories_.size(); }
  [[nodiscard]] bool is_overview(std::size_t index) const noexcept;

  // The tags of a directory of the chain; one that comes out as it was is not written.
  void change(std::size_t index, std::function<void(tiff::TagSet&)> const& edit);

  // Once.
  EditWay write();
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  // The file was a COG by its layout, and is none now.
  [[nodiscard]] bool no_longer_cog() const noexcept { return no_longer_cog_; }

 private:
  struct Directory {
    tiff::Directory const* source;
    std::optional<tiff::Image> image{};  // missing when it cannot be parsed
    std::optional<tiff::TagSet> tags{};  // read when needed
    bool changed = false;
  };
  // Throws `limit` when the values of all directories that were asked for are larger than the file, and so are shared.
  [[nodiscard]] tiff::TagSet& tags(Directory& directory);
  // What the directories take when each has values of its own; nothing is read.
  [[nodiscard]] std::uint64_t chain_bytes() const;
  [[nodiscard]] bool write_in_place(writing::ByteRange const& place);
  void write_appended(std::uint64_t start_bytes);
  void write_fresh();
  // Throws `io` unless the file, with `patches` made, has the directories that were asked for.
  void check_written(std::vector<writing::Patch> patches, writing::Values unchanged);
  void compare_with_written(std::vector<writing::Patch> patches, writing::Values unchanged);
  void publish(std::uint64_t size_bytes, writing::Patch const& patch, writing::Values unchanged);

  std::string path_;
  EditOptions const& options_;
  MemoryBudget budget_;
  std::uint64_t values_bytes_ = 0;  // of all tags that were read
  std::optional<writing::FileUpdate> file_;
  std::optional<Dataset> dataset_;
  tiff::Chain chain_;
  std::vector<Directory> directories_;
  bool promises_layout_ = false;  // GDAL's ghost area is there, kept or not
  bool no_longer_cog_ = false;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace terrazzo::ops
