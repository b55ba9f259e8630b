// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "kernels/attention/attention_case.h"
#include "kernels/element.h"

namespace poolcast::kernels {

void reference_attention(const KvCache& cache, std::int64_t heads, std::span<const AttentionSequence> sequences,
                         Team& team) {
  for (const AttentionSequence& sequence : sequences)
    team.parallel(sequence.query * heads, [&](std::int64_t row) {
      std::vector<double> values(static_cast<std::size_t>(cache.head_dim));
      attention_row(cache, heads, sequence, row / heads, row % heads, values.data());
      with_float_element(cache.dtype, [&](auto element) {
        auto* out = static_cast<decltype(element)*>(sequence.out) + row * cache.head_dim;
        for (std::size_t i = 0; i < values.size(); ++i) put(out[i], static_cast<float>(values[i]));
      });
    });
}

}  // namespace poolcast::kernels
