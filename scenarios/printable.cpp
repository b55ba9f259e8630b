// SPDX-License-Identifier: Apache-2.0
#include "scenarios/printable.h"

#include <algorithm>

namespace poolcast {

bool continues_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

namespace {

/// Bytes of the code point at `at`; 0 when what stands there is no UTF-8 or is a control character.
std::size_t printable_bytes(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues_code_point(text[at + i])) return 0;
  }
  const bool control = first == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0;  // U+0080 to U+009F
  return control ? 0 : bytes;
}

}  // namespace

std::size_t code_point_end(std::string_view text, std::size_t at) {
  const std::size_t most = std::min(text.size(), at + 3);
  while (at < most && continues_code_point(text[at])) ++at;
  return at;
}

std::string printable(std::string_view text, std::string_view kept) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = kept.find(text[at]) != kept.npos ? 1 : printable_bytes(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    if (bytes > 0)
      shown += text.substr(at, bytes);
    else if (byte == '\n')
      shown += "\\n";
    else
      shown.append("\\x").append(1, kHex[byte >> 4U]).append(1, kHex[byte & 15U]);
    at += std::max<std::size_t>(bytes, 1);
  }
  return shown;
}

}  // namespace poolcast
