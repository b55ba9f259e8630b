// SPDX-License-Identifier: Apache-2.0
// What pools and models know of each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/error.h"
#include "scenarios/load_parts.h"

namespace poolcast {
namespace {

constexpr std::size_t kNobody = SIZE_MAX;
constexpr Tokens kLargestTable = 65536;  // a budget may be huge, the tables of a curve may not

std::size_t find_pool(const std::vector<PoolEntry>& pools, const YamlNode& node) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (pools[i].name == node.text()) return i;
    names.push_back(pools[i].name);
  }
  node.fail("no pool is named " + quote(node.text()), spelling_hint(node.text(), names));
}

/// Names every pool when the file names none.
void fill_implementations(std::vector<LogicalModel>& models, const std::vector<PoolEntry>& pools) {
  for (LogicalModel& model : models) {
    if (!model.implementations.empty()) continue;
    if (models.size() > 1) {
      model.at.fail("missing key \"implementations\": with several models each says which pools serve it");
    }
    for (const PoolEntry& pool : pools) {
      model.implementations.emplace_back();
      model.implementations.back().pool = pool.name;
    }
  }
}

YamlNode implementation_node(const LogicalModel& model, std::size_t index) {
  const auto list = model.at.find("implementations");
  return list ? deepest(list->one_or_more().at(index), {"pool"}) : model.at;
}

Precision kv_precision(const PoolEntry& pool, const ImplementationEntry& implementation) {
  const std::string& dtype = pool.engine.kv_cache_dtype;
  if (dtype == "auto") return implementation.kv_precision.value_or(Precision::kBf16);
  const Precision stated = dtype == "bfloat16" ? Precision::kBf16 : Precision::kFp8;
  if (implementation.kv_precision.value_or(stated) != stated) {
    deepest(pool.at, {"engine", "args", "kv_cache_dtype"})
        .fail(fmt::format("contradicts kv_precision {} of the implementation on this pool",
                          name(*implementation.kv_precision)));
  }
  return stated;
}

void complete_lengths(PoolEntry& pool, const LogicalModel& model) {
  VllmArgs& args = pool.engine.args;
  const YamlNode at = deepest(pool.at, {"engine", "args"});
  if (args.max_model_len == 0) {
    // The engine's own default is the model's limit; an operator sets it to what the contract lets through.
    std::int64_t limit = std::min(model.context_limit, model.implementations[pool.implementation].context_limit);
    if (model.shape && model.shape->context_limit > 0) limit = std::min(limit, model.shape->context_limit);
    if (limit > kMostTokens) {
      at.fail(fmt::format("max_model_len is not stated, and model {} states no context limit to take it from",
                          quote(model.name)));
    }
    args.max_model_len = limit;
  }
  if (!args.enable_chunked_prefill && args.max_num_batched_tokens < args.max_model_len) {
    at.fail(fmt::format("without chunked prefill max_num_batched_tokens ({}) must be at least max_model_len ({})",
                        args.max_num_batched_tokens, args.max_model_len));
  }
  if (args.max_num_batched_tokens < args.max_num_seqs) {
    at.fail(fmt::format("max_num_batched_tokens ({}) must be at least max_num_seqs ({})", args.max_num_batched_tokens,
                        args.max_num_seqs));
  }
}

/// The KV cache by memory arithmetic; nothing when a figure for it is missing and the file states the block count.
std::optional<KvMemory> memory_of(const PoolEntry& pool, const LogicalModel& model, Precision weights, Precision kv) {
  const VllmArgs& args = pool.engine.args;
  const bool stated = pool.engine.num_gpu_blocks_override.has_value();
  const auto lacks = [&](const std::string& what) {
    if (!stated) pool.at.fail(what + "; without it the KV blocks are unknown, so state num_gpu_blocks_override");
  };
  if (!model.shape) {
    lacks(fmt::format("model {} has no shape", quote(model.name)));
    return std::nullopt;
  }
  if (!pool.engine.gpu_memory_utilization) {
    lacks("gpu_memory_utilization is not known");
    return std::nullopt;
  }
  KvMemoryOptions options;
  options.gpu_memory_utilization = *pool.engine.gpu_memory_utilization;
  options.block_size = args.block_size;
  options.weights = weights;
  options.kv = kv;
  options.activation_reserve =
      activation_reserve(*model.shape, pool.layout, args.max_num_batched_tokens, args.max_num_seqs);
  try {
    return kv_memory(*model.shape, pool.layout, pool.accelerator.require_memory(), options);
  } catch (const MissingFigure& missing) {
    if (!stated) deepest(pool.at, {"accelerator"}).fail(missing.what());
    return std::nullopt;
  } catch (const ModelError& error) {
    deepest(pool.at, {"layout", "tp"}).fail(error.what());
  }
}

void complete_blocks(PoolEntry& pool, const LogicalModel& model, const LoadContext& context) {
  VllmArgs& args = pool.engine.args;
  if (pool.engine.num_gpu_blocks_override) {
    args.num_gpu_blocks = *pool.engine.num_gpu_blocks_override;
    if (pool.kv_memory && pool.kv_memory->num_gpu_blocks < args.num_gpu_blocks) {
      context.notes.push_back(fmt::format("pool {}: num_gpu_blocks_override {} is above the {} of memory arithmetic",
                                          pool.name, args.num_gpu_blocks, pool.kv_memory->num_gpu_blocks));
    }
  } else {
    const KvMemory& memory = *pool.kv_memory;
    if (!memory.fits()) {
      const Bytes two_blocks = memory.kv_bytes_per_token * static_cast<double>(2 * args.block_size);
      const Bytes missing = memory.weights + memory.reserve + two_blocks - memory.budget;
      deepest(pool.at, {"layout"})
          .fail(fmt::format("{} does not fit on {}: {}; {:.0f} bytes per device are missing", model.name,
                            pool.accelerator.name, memory.shortage, std::ceil(missing.value)));
    }
    args.num_gpu_blocks = memory.num_gpu_blocks;
  }
  const std::int64_t capacity = (args.num_gpu_blocks - 1) * args.block_size;
  if (capacity < args.max_model_len) {
    context.notes.push_back(fmt::format(
        "pool {}: its KV cache holds {} tokens, fewer than max_model_len {}; vLLM would not start, here requests that "
        "cannot fit are rejected",
        pool.name, capacity, args.max_model_len));
  }
}

}  // namespace

void link_models(std::vector<LogicalModel>& models, std::vector<PoolEntry>& pools) {
  fill_implementations(models, pools);
  std::vector<std::size_t> server(pools.size(), kNobody);
  for (std::size_t m = 0; m < models.size(); ++m) {
    for (std::size_t i = 0; i < models[m].implementations.size(); ++i) {
      const bool written = models[m].at.find("implementations").has_value();
      const YamlNode node = implementation_node(models[m], i);
      const std::size_t p = written ? find_pool(pools, node) : i;
      if (server[p] == m) node.fail("pool " + quote(pools[p].name) + " stands twice");
      if (server[p] != kNobody) {
        node.fail(fmt::format("pool {} serves model {} already; a pool serves one model", quote(pools[p].name),
                              quote(models[server[p]].name)));
      }
      server[p] = m;
      pools[p].model = m;
      pools[p].implementation = i;
    }
  }
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (server[p] == kNobody) {
      deepest(pools[p].at, {"name"}).fail("no model has an implementation on pool " + quote(pools[p].name));
    }
  }
}

void complete_pool(PoolEntry& pool, const std::vector<LogicalModel>& models, const LoadContext& context) {
  const LogicalModel& model = models[pool.model];
  const ImplementationEntry& implementation = model.implementations[pool.implementation];
  const Precision kv = kv_precision(pool, implementation);
  if (RooflineOptions* const roofline = std::get_if<RooflineOptions>(&pool.curves)) {
    roofline->weights = implementation.precision;
    roofline->kv = kv;
    roofline->table_tokens = std::min(pool.engine.args.max_num_batched_tokens, kLargestTable);
  }
  complete_lengths(pool, model);
  pool.kv_memory = memory_of(pool, model, implementation.precision, kv);
  complete_blocks(pool, model, context);
  if (!pool.engine.without_effect.empty()) {
    std::string names;
    for (const auto& [name, value] : pool.engine.without_effect) names += (names.empty() ? "" : ", ") + name;
    context.notes.push_back(fmt::format("pool {}: engine arguments without effect here: {}", pool.name, names));
  }
}

}  // namespace poolcast
