// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace poolcast {

struct TransformerShape;

/// How one replica is spread over devices.
struct Layout {
  std::int64_t tp = 1;  ///< tensor parallel: every layer is cut over `tp` devices
  std::int64_t pp = 1;  ///< pipeline parallel: not modelled yet, must be 1

  std::int64_t devices() const { return tp * pp; }
};

/// Throws UnsupportedLayout when `shape` cannot be cut that way: a degree below 1, pp above 1, heads or MLP widths that
/// tp does not divide, or KV heads of which neither tp is a multiple nor they of tp.
void check_layout(const TransformerShape& shape, const Layout& layout);

}  // namespace poolcast
