// SPDX-License-Identifier: Apache-2.0
//
// A file whose directories are edited: their tags, and the three ways to write them (see terrazzo/edit.hpp).
#pragma once

#include "base/memory_budget.hpp"
#include "terrazzo/edit.hpp"
#include "terrazzo/read.hpp"
#include "tiff/directory.hpp"
#include "tiff/directory_writer.hpp"
#include "tiff/image.hpp"
#include "write/update/file_claims.hpp"
#include "write/update/file_update.hpp"
#include "write/update/read_back.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo::ops {

class EditedFile {
 public:
  // Opens the file for writing and reads its directories; sidecars are ignored.
  EditedFile(std::string const& path, EditOptions const& options);

  [[nodiscard]] Dataset const& dataset() const noexcept { return *dataset_; }
  [[nodiscard]] std::size_t directory_count() const noexcept { return directories_.size(); }
  [[nodiscard]] bool is_overview(std::size_t index) const noexcept;

  // Edits the tags of a directory of the chain; an unchanged directory is not written.
  void change(std::size_t index, std::function<void(tiff::TagSet&)> const& edit);

  // Call it once.
  EditWay write();
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  // True if the file had COG layout and has lost it.
  [[nodiscard]] bool no_longer_cog() const noexcept { return no_longer_cog_; }

 private:
  struct Directory {
    tiff::Directory const* source;
    std::optional<tiff::Image> image{};  // empty if it cannot be parsed
    std::optional<tiff::TagSet> tags{};  // read when needed
    bool changed = false;
  };
  // Only a file without strips can become a COG again.
  [[nodiscard]] bool is_all_tiles() const noexcept;
  // Throws `limit` if the values of all requested directories exceed the file size, which means that they are shared.
  [[nodiscard]] tiff::TagSet& tags(Directory& directory);
  // Size of the directories if each has its own values; reads nothing.
  [[nodiscard]] std::uint64_t chain_bytes() const;
  [[nodiscard]] bool write_in_place(writing::ByteRange const& place);
  void write_appended(std::uint64_t start_bytes);
  void write_fresh();
  // Throws `io` unless the file, after `patches`, has the requested directories.
  void check_written(std::vector<writing::Patch> patches, writing::Values unchanged);
  void compare_with_written(std::vector<writing::Patch> patches, writing::Values unchanged);
  void publish(std::uint64_t size_bytes, writing::Patch const& patch, writing::Values unchanged);
  // Writes a patch that was checked, and makes it permanent. REQUIRES: the file is published.
  void apply(std::uint64_t size_bytes, writing::Patch const& patch);

  std::string path_;
  EditOptions const& options_;
  MemoryBudget budget_;
  std::uint64_t values_bytes_ = 0;  // sum over all tags read
  std::optional<writing::FileUpdate> file_;
  std::optional<Dataset> dataset_;
  tiff::Chain chain_;
  std::vector<Directory> directories_;
  bool promises_layout_ = false;  // the file has GDAL's ghost area, valid or not
  bool no_longer_cog_ = false;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace terrazzo::ops
