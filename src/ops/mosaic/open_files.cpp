// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/open_files.hpp"

#include "base/descriptors.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <utility>

namespace terrazzo::ops {
namespace {

constexpr std::uint64_t kForOthers = 8;  // the output, its spool, libraries
constexpr std::uint64_t kFilesOfDataset = 5;  // the raster, .ovr, .msk, .msk.ovr, and a text sidecar while it opens
constexpr std::uint64_t kMostFiles = 512;  // a dataset holds tens of kilobytes

std::uint64_t usable_files() {
  std::uint64_t const free = free_descriptors();
  return std::min(kMostFiles, free - std::min(free, kForOthers));
}

}  // namespace

unsigned files_at_once() { return static_cast<unsigned>(std::max<std::uint64_t>(usable_files() / kFilesOfDataset, 1)); }

OpenFiles::OpenFiles(std::span<Input const> inputs, MosaicRequest const& request,
                     std::vector<std::uint32_t> const& bands)
    : OpenFiles(inputs, request, bands, usable_files() / 4 * 3) {}  // the rest is for datasets that are being opened

OpenFiles::OpenFiles(std::span<Input const> inputs, MosaicRequest const& request,
                     std::vector<std::uint32_t> const& bands, std::uint64_t most_files)
    : inputs_(inputs), request_(request), bands_(bands), most_files_(most_files) {}

void OpenFiles::make_room(std::uint64_t files) {
  for (auto it = open_.end(); it != open_.begin() && files_ + files > most_files_;) {
    --it;
    if (it->dataset.shared_impl().use_count() > 1) { continue; }  // a thread reads it
    files_ -= inputs_[it->input].files;
    places_.erase(it->input);
    it = open_.erase(it);
  }
}

Dataset OpenFiles::get(std::uint32_t input) {
  Input const& record = inputs_[input];
  {
    std::lock_guard const lock(mutex_);
    if (auto const found = places_.find(input); found != places_.end()) {
      open_.splice(open_.begin(), open_, found->second);
      return found->second->dataset;
    }
    make_room(record.files);
    ++opened_;
  }
  Dataset dataset = open_input(record.path, request_);
  if (!record.matches(describe_input(record.path, dataset.info(), bands_))) {
    throw Error(ErrorKind::io, "the file has changed since the mosaic was planned", {.source = record.path});
  }
  std::lock_guard const lock(mutex_);
  if (auto const found = places_.find(input); found != places_.end()) { return found->second->dataset; }
  open_.push_front({input, dataset});
  places_.emplace(input, open_.begin());
  files_ += record.files;
  return dataset;
}

void OpenFiles::close(std::uint32_t input) {
  std::lock_guard const lock(mutex_);
  auto const found = places_.find(input);
  if (found == places_.end()) { return; }
  files_ -= inputs_[input].files;
  open_.erase(found->second);
  places_.erase(found);
}

}  // namespace terrazzo::ops
