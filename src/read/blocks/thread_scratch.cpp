// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/thread_scratch.hpp"

#include <new>
#include <utility>

namespace terrazzo::reading {

namespace {

// A thread keeps buffers up to this size for the next read.
constexpr std::size_t kKeepBytes = 4u << 20;
// Fetchers that read ahead use many buffers; a thread keeps this many.
constexpr std::size_t kKeepBuffers = 4;

}  // namespace

FetchBuffers ThreadScratch::take_buffers() {
  if (spare_buffers.empty()) { return {}; }
  FetchBuffers buffers = std::move(spare_buffers.back());
  spare_buffers.pop_back();
  return buffers;
}

void ThreadScratch::give_back(FetchBuffers buffers) noexcept {
  if (spare_buffers.size() >= kKeepBuffers) { return; }
  buffers.compressed.trim(kKeepBytes);
  try {
    spare_buffers.push_back(std::move(buffers));
  } catch (std::bad_alloc const&) {}  // the buffers are freed instead of kept
}

void ThreadScratch::trim() noexcept {
  for (Scratch* s : {&decoded, &converted, &row}) { s->trim(kKeepBytes); }
}

ThreadScratch& thread_scratch() {
  thread_local ThreadScratch scratch;
  return scratch;
}

}  // namespace terrazzo::reading
