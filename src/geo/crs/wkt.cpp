// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/wkt.hpp"

#include "base/letter_case.hpp"
#include "geo/number.hpp"

#include <cstddef>
#include <utility>

namespace terrazzo::geo {
namespace {

constexpr int kMaxDepth = 32;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<WktNode> document() {
    auto node = value(0);
    skip_space();
    return node && at_ == text_.size() ? std::move(node) : std::nullopt;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) { ++at_; }
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // A quoted text; two quotes inside stand for one.
  std::optional<WktNode> quoted() {
    WktNode node;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] != '"') {
        node.text += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        node.text += text_[++at_];
      } else {
        ++at_;
        return node;
      }
    }
    return std::nullopt;
  }

  std::optional<WktNode> value(int depth) {
    if (depth > kMaxDepth) { return std::nullopt; }
    skip_space();
    if (peek() == '"') { return quoted(); }
    WktNode node;
    while (at_ < text_.size() && std::string_view("[](),\" \t\r\n").find(text_[at_]) == std::string_view::npos) {
      node.keyword += text_[at_++];
    }
    if (node.keyword.empty()) { return std::nullopt; }
    skip_space();
    if (peek() != '[' && peek() != '(') { return node; }
    char const closing = peek() == '[' ? ']' : ')';
    do {
      ++at_;
      auto child = value(depth + 1);
      if (!child) { return std::nullopt; }
      node.children.push_back(*std::move(child));
      skip_space();
    } while (peek() == ',');
    if (peek() != closing) { return std::nullopt; }
    ++at_;
    return node;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

WktNode const* WktNode::child(std::string_view name) const noexcept {
  for (auto const& node : children) {
    if (!node.children.empty() && equals_ignoring_case(node.keyword, name)) { return &node; }
  }
  return nullptr;
}

std::string_view WktNode::name() const noexcept {
  for (auto const& node : children) {
    if (node.keyword.empty()) { return node.text; }
  }
  return {};
}

std::optional<double> WktNode::number(std::size_t index) const {
  if (index >= children.size() || !children[index].children.empty()) { return std::nullopt; }
  return leading_number(children[index].keyword);
}

int WktNode::epsg() const {
  WktNode const* const authority = child("AUTHORITY");
  if (authority == nullptr || authority->children.size() < 2 || authority->name() != "EPSG") { return 0; }
  return integer_or_zero(authority->children[1].text);
}

std::string wkt_without_axes(std::string wkt) {
  for (auto at = wkt.find(",AXIS["); at != std::string::npos; at = wkt.find(",AXIS[", at)) {
    auto const end = wkt.find(']', at);
    if (end == std::string::npos) { break; }
    wkt.erase(at, end + 1 - at);
  }
  return wkt;
}

std::optional<WktNode> parse_wkt(std::string_view text) { return Parser(text).document(); }

}  // namespace terrazzo::geo
