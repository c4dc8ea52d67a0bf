// SPDX-License-Identifier: Apache-2.0
//
// Open datasets of a mosaic, as many as the process's limit of open files allows. The least recently used one that
// nobody reads is closed first.
#pragma once

#include "ops/mosaic/inputs.hpp"
#include "terrazzo/read.hpp"

#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <unordered_map>

namespace terrazzo::ops {

// The number of files that may be in use at the same time, at least 1: the limit, divided by the files of a dataset
// with all its sidecars.
[[nodiscard]] unsigned files_at_once();

// Thread-safe. The arguments outlive the object.
class OpenFiles {
 public:
  // `most_files` counts sidecars too; default: by the process's limit.
  OpenFiles(std::span<Input const> inputs, MosaicRequest const& request, std::vector<std::uint32_t> const& bands);
  OpenFiles(std::span<Input const> inputs, MosaicRequest const& request, std::vector<std::uint32_t> const& bands,
            std::uint64_t most_files);

  // Opens the input if it is closed. Throws `io` if the file is no longer the one of the record.
  [[nodiscard]] Dataset get(std::uint32_t input);

  // Closes an input that is not needed any more.
  void close(std::uint32_t input);

  [[nodiscard]] std::uint64_t opened_count() const noexcept { return opened_; }

 private:
  struct Open {
    std::uint32_t input;
    Dataset dataset;
  };

  void make_room(std::uint64_t files);

  std::span<Input const> inputs_;
  MosaicRequest const& request_;
  std::vector<std::uint32_t> const& bands_;
  std::uint64_t most_files_;
  std::mutex mutex_;
  std::list<Open> open_;  // the most recently used one is first
  std::unordered_map<std::uint32_t, std::list<Open>::iterator> places_;
  std::uint64_t files_ = 0;  // of open_
  std::uint64_t opened_ = 0;
};

}  // namespace terrazzo::ops
