// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/error.hpp"

#include "base/text.hpp"

#include <utility>

namespace terrazzo {

namespace {

std::string describe(std::string const& message, Where const& where) {
  std::string out;
  if (!where.source.empty()) { out += text(where.source, ": "); }
  if (where.ifd) { out += text("IFD ", *where.ifd, ": "); }
  if (where.tag) { out += text("tag ", *where.tag, ": "); }
  if (where.tile) {
    out += text("tile (", where.tile->column, ", ", where.tile->row);
    if (where.tile->plane != 0) { out += text(", plane ", where.tile->plane); }
    out += "): ";
  }
  out += message;
  if (where.offset) { out += text(" (at byte ", *where.offset, ")"); }
  return out;
}

}  // namespace

std::string_view to_string(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::io: return "io";
    case ErrorKind::malformed: return "malformed";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::usage: return "usage";
    case ErrorKind::limit: return "limit";
    case ErrorKind::device: return "device";
    case ErrorKind::cancelled: return "cancelled";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string message, Where where)
    : kind_(kind), message_(std::move(message)), where_(std::move(where)), what_(describe(message_, where_)) {}

Error Error::located(Where const& outer) const {
  Where merged = where_;
  if (merged.source.empty()) { merged.source = outer.source; }
  if (!merged.ifd) { merged.ifd = outer.ifd; }
  if (!merged.tag) { merged.tag = outer.tag; }
  if (!merged.tile) { merged.tile = outer.tile; }
  if (!merged.offset) { merged.offset = outer.offset; }
  return Error(kind_, message_, std::move(merged));
}

}  // namespace terrazzo
