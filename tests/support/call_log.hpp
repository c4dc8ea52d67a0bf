// SPDX-License-Identifier: Apache-2.0
//
// Records writes and syncs of all file writers, in order, during its lifetime. One object at a time per process.
#pragma once

#include "io/file_calls.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace terrazzo::testing {

class CallLog {
 public:
  struct Call {
    std::string name;
    std::uint64_t offset_bytes = 0;
  };

  CallLog() {
    calls_.clear();
    real_ = io::file_calls;
    io::file_calls.pwrite = [](int descriptor, void const* bytes, std::size_t size, off_t offset) {
      calls_.push_back({"write", static_cast<std::uint64_t>(offset)});
      return real_.pwrite(descriptor, bytes, size, offset);
    };
    io::file_calls.pwritev = [](int descriptor, iovec const* parts, int count, off_t offset) {
      calls_.push_back({"write", static_cast<std::uint64_t>(offset)});
      return real_.pwritev(descriptor, parts, count, offset);
    };
    io::file_calls.fsync = [](int descriptor) {
      calls_.push_back({"sync"});
      return real_.fsync(descriptor);
    };
  }
  ~CallLog() { io::file_calls = real_; }
  CallLog(CallLog const&) = delete;
  CallLog& operator=(CallLog const&) = delete;

  [[nodiscard]] std::vector<Call> const& calls() const noexcept { return calls_; }

  // True if all earlier bytes are synced before every write inside the first `size_bytes` bytes.
  [[nodiscard]] bool syncs_before_writes_inside(std::uint64_t size_bytes) const {
    bool unsynced = false;
    for (Call const& call : calls_) {
      if (call.name == "sync") {
        unsynced = false;
        continue;
      }
      if (call.offset_bytes < size_bytes && unsynced) { return false; }
      unsynced = true;
    }
    return true;
  }

 private:
  inline static std::vector<Call> calls_{};
  inline static io::FileCalls real_{};
};

}  // namespace terrazzo::testing
