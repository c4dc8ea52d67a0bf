// SPDX-License-Identifier: Apache-2.0
#include "read/open/checked_source.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "io/file_source.hpp"
#include "io/memory_source.hpp"
#include "terrazzo/error.hpp"

#include <exception>
#include <future>
#include <memory>
#include <new>
#include <utility>

namespace terrazzo::reading {

namespace {

ByteSourcePtr not_null(ByteSourcePtr source) {
  if (source == nullptr) { throw Error(ErrorKind::usage, "the source is a null pointer"); }
  return source;
}

// The error kinds that apply to a source. A source that reports `malformed` must not make its file a bad file.
ErrorKind kind_of_source(ErrorKind kind) noexcept {
  return kind == ErrorKind::limit || kind == ErrorKind::cancelled ? kind : ErrorKind::io;
}

}  // namespace

CheckedSource::CheckedSource(ByteSourcePtr inner)
    : inner_(not_null(std::move(inner))),
      name_(inner_->name()),
      size_bytes_(inner_->size_bytes()),
      hints_(inner_->hints()),
      memory_(inner_->in_memory()) {
  if (!memory_.empty() && memory_.size() != size_bytes_) {
    throw Error(ErrorKind::io, text("the source has ", memory_.size(), " bytes in memory and a size of ", size_bytes_),
                {.source = name_});
  }
  try {
    identity_ = inner_->identity();
  } catch (...) { fail(); }
}

void CheckedSource::fail() const {
  try {
    throw;
  } catch (Error const& error) {
    Where where = error.where();
    std::string const inside = where.source.empty() || where.source == name_ ? "" : where.source + ": ";
    where.source = name_;
    throw Error(kind_of_source(error.kind()), inside + error.message(), where);
  } catch (std::bad_alloc const&) {
    throw Error(ErrorKind::limit, "out of memory while reading", {.source = name_});
  } catch (std::exception const& error) {
    throw Error(ErrorKind::io, text("the source failed: ", error.what()), {.source = name_});
  } catch (...) { throw Error(ErrorKind::io, "the source failed with an unknown exception", {.source = name_}); }
}

ReadTicket CheckedSource::submit(std::span<RangeRead const> ranges) const {
  try {
    for (RangeRead const& range : ranges) {
      if (!range_fits(range.offset_bytes, range.into.size(), size_bytes_)) {
        throw Error(ErrorKind::io,
                    text("read of ", range.into.size(), " bytes reaches past the end (", size_bytes_, ")"),
                    {.source = name_, .offset = range.offset_bytes});
      }
    }
    ReadTicket ticket = inner_->submit(ranges);
    if (!ticket.is_pending()) {
      ticket.wait();
      return {};
    }
    // Deferred: the waiting thread turns the failure into an Error.
    return ReadTicket(std::async(std::launch::deferred, [this, pending = std::move(ticket)]() mutable {
      try {
        pending.wait();
      } catch (...) { fail(); }
    }));
  } catch (...) {
    try {
      fail();
    } catch (...) { return ReadTicket(std::current_exception()); }
  }
}

ByteSourcePtr checked(ByteSourcePtr source) {
  bool const is_ours = dynamic_cast<io::FileSource const*>(source.get()) != nullptr ||
                       dynamic_cast<io::MemorySource const*>(source.get()) != nullptr;
  return is_ours ? source : std::make_shared<CheckedSource const>(std::move(source));
}

}  // namespace terrazzo::reading
