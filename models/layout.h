// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace poolcast {

struct TransformerShape;

/// How one replica is spread over tp * pp * dp devices.
struct Layout {
  std::int64_t tp = 1;  ///< tensor parallel: every layer is cut over `tp` devices
  std::int64_t pp = 1;  ///< pipeline parallel: the layers lie on `pp` stages one after another
  std::int64_t dp = 1;  ///< data parallel: ranks with a scheduler, a KV cache and attention of their own
  std::int64_t ep = 1;  ///< expert parallel: the routed experts of a layer lie on `ep` groups of devices

  std::int64_t devices() const { return tp * pp * dp; }
  /// The ranks share the experts, so tokens travel between them; otherwise each rank holds the whole model.
  bool experts_across_ranks() const { return dp > 1 && ep > tp; }
  /// Devices over which one expert is cut.
  std::int64_t expert_tp() const { return ep > tp ? 1 : tp / ep; }
  /// Of one rank.
  std::int64_t devices_per_rank() const { return tp * pp; }
  bool operator==(const Layout&) const = default;
};

/// Throws UnsupportedLayout when `shape` cannot be cut that way: a degree below 1; heads or MLP widths that tp does not
/// divide, or KV heads of which neither tp is a multiple nor they of tp; fewer layers than stages; ep without experts,
/// one that does not divide them, or one that neither divides tp nor is tp * dp.
void check_layout(const TransformerShape& shape, const Layout& layout);

/// Layers of a stage by vLLM's rule (get_pp_indices): layers / pp each, and of the rest one each to the stages before
/// the last, from the back.
std::int64_t stage_layers(std::int64_t layers, std::int64_t pp, std::int64_t stage);

}  // namespace poolcast
