// SPDX-License-Identifier: Apache-2.0
// KV that an engine also keeps on its host: how many blocks, and how fast they come back.
#include <fmt/format.h>

#include "models/transformer.h"
#include "scenarios/load_parts.h"

namespace poolcast {

void complete_host(PoolEntry& pool, const LogicalModel& model) {
  auto* const args = std::get_if<VllmArgs>(&pool.engine.settings.args);
  if (args == nullptr || args->kv_offloading_size == 0) {
    if (pool.host_bandwidth) {
      deepest(pool.at, {"host_bandwidth"})
          .fail("nothing is kept on the host: state kv_offloading_size, or leave it out");
    }
    return;
  }
  const YamlNode size = deepest(pool.at, {"engine", "args", "kv_offloading_size"});
  if (!args->enable_prefix_caching)
    size.fail("needs enable_prefix_caching: blocks are found by the hashes of its cache");
  if (pool.role != PoolRole::kBoth) {
    size.fail("together with prefill and decode apart is known but not modelled yet; leave it out");
  }
  if (!model.shape) size.fail(fmt::format("needs the shape of model {}, and it has none", quote(model.name)));
  if (!pool.host_bandwidth) {
    pool.at.fail("missing key \"host_bandwidth\": what a replica reads from its host, such as 50 GB/s");
  }
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  const Bytes block = kv_bytes_per_token(*model.shape, pool.kv_precision) * static_cast<double>(args->block_size);
  args->host_blocks = static_cast<std::int64_t>(args->kv_offloading_size * kGiB / block.value);
  if (args->host_blocks < 1) size.fail(fmt::format("holds no block of {:.0f} bytes", block.value));
}

}  // namespace poolcast
