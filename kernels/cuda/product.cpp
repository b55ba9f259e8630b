// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/product.h"

#include "kernels/cuda/descriptors.h"
#include "kernels/cuda/tiles.h"

namespace poolcast::cuda {

PlannedProduct plan_product(const Product& p, int multiprocessors) {
  const std::uint64_t element = p.kind == ElementKind::kBf16 ? 2 : 1;
  const auto k = static_cast<std::uint64_t>(p.k);
  const auto tile_k = static_cast<std::uint32_t>(kSwizzleRowBytes / element);
  PlannedProduct plan;
  plan.product = p;
  // Wide tiles read less from the L2 cache for each operation; narrow ones are taken where wide ones would leave
  // multiprocessors without work. Each group adds at most one partly filled tile row.
  const int tile_rows = ceil_div(p.rows, kProductTileRows) + p.groups - 1;
  plan.wide = tile_rows * ceil_div(p.n, 256) >= multiprocessors;
  plan.blocks = multiprocessors;
  const std::uint32_t columns = plan.wide ? 256 : 128;
  plan.a_map = encode_tensor_map(
      {p.a, p.kind, {k, static_cast<std::uint64_t>(p.rows)}, {k * element}, {tile_k, kProductTileRows}});
  plan.w_map = encode_tensor_map(
      {p.weights, p.kind, {k, static_cast<std::uint64_t>(p.groups) * p.n}, {k * element}, {tile_k, columns}});
  return plan;
}

}  // namespace poolcast::cuda
