// SPDX-License-Identifier: Apache-2.0
//
// The rules of validate(), and the list of findings. Not thread-safe: one thread checks, others only fetch.
#pragma once

#include "terrazzo/validate.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::ops {

// In the order of validation_rules(): findings are listed by it.
enum class Rule : std::uint8_t {
  not_a_tiff,
  chain_broken,
  ghost_area,
  incompatible_edition,
  main_ifd_position,
  external_overviews,
  external_mask,
  not_tiled,
  strips,
  overviews_missing,
  overviews_few,
  overview_larger,
  overview_size,
  overview_type,
  overview_unused,
  overview_ifd_order,
  mask_missing,
  mask_unused,
  mask_ifd_order,
  mask_block_size,
  jpeg_tables,
  extra_images,
  data_before_ifd,
  ifd_after_data,
  tags_after_data,
  overview_data_order,
  index_short,
  tile_past_end,
  tile_overlap,
  tile_over_metadata,
  tile_shared,
  tile_empty,
  tile_order,
  tile_order_unpromised,
  tile_leader,
  tile_trailer,
  mask_interleave,
  tiles_not_checked,
  slack,
  dead_space,
  tile_undecodable,
  tile_surplus,
  codec_unavailable,
};
inline constexpr std::size_t kRuleCount = static_cast<std::size_t>(Rule::codec_unavailable) + 1;

[[nodiscard]] ValidationRule const& rule_of(Rule rule) noexcept;

// The place of a finding; unknown parts are empty.
struct Place {
  std::optional<std::uint32_t> ifd{};
  std::optional<TileId> tile{};
  std::optional<std::uint64_t> offset{};
};

class Findings {
 public:
  explicit Findings(std::uint32_t max_of_a_rule) : max_(max_of_a_rule) {}

  // Calls `message` only if the list has room for it: millions of tiles may break the same rule.
  template <class Message>
  void add(Rule rule, Place const& place, Message const& message, std::optional<bool> known_to_gdal = std::nullopt) {
    ValidationRule const& described = rule_of(rule);
    has_error_ = has_error_ || described.severity == Severity::error;
    if (counts_[static_cast<std::size_t>(rule)]++ >= max_) { return; }
    kept_.emplace_back(rule, Finding{described.severity, std::string(described.name), message(), place.ifd, place.tile,
                                     place.offset, known_to_gdal.value_or(described.known_to_gdal)});
  }

  // Counts `count` more without a message.
  void add_unread(Rule rule, std::uint64_t count) noexcept {
    if (count == 0) { return; }
    has_error_ = has_error_ || rule_of(rule).severity == Severity::error;
    counts_[static_cast<std::size_t>(rule)] += count;
  }

  [[nodiscard]] bool has_error() const noexcept { return has_error_; }
  [[nodiscard]] std::uint64_t count(Rule rule) const noexcept { return counts_[static_cast<std::size_t>(rule)]; }
  [[nodiscard]] std::uint32_t max_of_a_rule() const noexcept { return max_; }

  // Moves the findings, sorted by rule and then by discovery, and the number of omitted ones.
  void move_to(Validation& validation);

 private:
  std::uint32_t max_;
  bool has_error_ = false;
  std::array<std::uint64_t, kRuleCount> counts_{};
  std::vector<std::pair<Rule, Finding>> kept_;
};

}  // namespace terrazzo::ops
