// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/codecs.hpp"

#include "codec/libtiff/decoder.hpp"
#include "codec/registry/codec.hpp"

#include <algorithm>

namespace terrazzo {

std::vector<CodecInfo> codecs() {
  std::vector<CodecInfo> list;
  for (codec::Codec const& codec : codec::all_codecs()) {
    list.push_back({static_cast<std::uint32_t>(codec.compression), std::string(compression_name(codec.compression)),
                    std::string(codec.library), codec.is_available(), false, codec.is_loaded != nullptr});
  }
  for (tiff::Compression const compression : codec::LibtiffDecoder::long_tail()) {
    list.push_back({static_cast<std::uint32_t>(compression), std::string(compression_name(compression)), "libtiff",
                    codec::LibtiffDecoder::decodes(compression), true, true});
  }
  std::ranges::sort(list, {}, &CodecInfo::compression);
  return list;
}

}  // namespace terrazzo
