// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/kernels.h"

#include <vector>

#include "kernels/cuda/attention_kernels.h"
#include "kernels/cuda/move_kernels.h"
#include "kernels/cuda/products.h"
#include "kernels/cuda/row_kernels.h"

namespace poolcast::cuda {

std::span<const kernels::Kernel> cuda_kernels() {
  static const std::vector<kernels::Kernel> all = [] {
    std::vector<kernels::Kernel> gathered;
    for (const auto table : {product_kernels, attention_kernels, row_kernels, move_kernels})
      gathered.insert(gathered.end(), table().begin(), table().end());
    return gathered;
  }();
  return all;
}

std::span<const kernels::AbsentPart> absent_cuda() { return {}; }

}  // namespace poolcast::cuda
