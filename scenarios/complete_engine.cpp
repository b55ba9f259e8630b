// SPDX-License-Identifier: Apache-2.0
// What an engine takes from the model, the layout and the device: its longest sequence and the size of its KV cache.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/error.h"
#include "scenarios/engines/engine_kind.h"
#include "scenarios/load_parts.h"
#include "sim/schedulers/registry.h"

namespace poolcast {
namespace {

constexpr Tokens kLargestTable = 65536;  // a budget may be huge, the tables of a curve may not

Precision kv_precision(const PoolEntry& pool, const ImplementationEntry& implementation) {
  const std::string& dtype = pool.engine.settings.kv_cache_dtype;
  if (dtype == "auto") return implementation.kv_precision.value_or(Precision::kBf16);
  const Precision stated = dtype.compare(0, 2, "bf") == 0 ? Precision::kBf16 : Precision::kFp8;
  if (implementation.kv_precision.value_or(stated) != stated) {
    deepest(pool.at, {"engine", "args", "kv_cache_dtype"})
        .fail(fmt::format("contradicts kv_precision {} of the implementation on this pool",
                          name(*implementation.kv_precision)));
  }
  return stated;
}

void complete_length(PoolEntry& pool, const EngineKind& kind, const LogicalModel& model, const YamlNode& at) {
  std::int64_t& longest = kind.context(pool.engine.settings.args);
  if (longest != 0) return;
  // The engine's own default is the model's limit; an operator sets it to what the contract lets through.
  std::int64_t limit = std::min(model.context_limit, model.implementations[pool.implementation].limits.context);
  if (model.shape && model.shape->context_limit > 0) limit = std::min(limit, model.shape->context_limit);
  if (limit > kMostTokens) {
    at.fail(fmt::format("{} is not stated, and model {} states no context limit to take it from", kind.context_argument,
                        quote(model.name)));
  }
  longest = limit;
}

KvMemory memory_by(const KvRule& rule, const PoolEntry& pool, const LogicalModel& model, KvMemoryOptions options) {
  const EngineArgs& args = pool.engine.settings.args;
  const std::int64_t step = engine_kind(pool.engine.kind)->step_tokens(args);
  const Bytes device = pool.accelerator.require_memory();
  const double share = *pool.engine.settings.memory_share;
  options.gpu_memory_utilization = share;
  options.block_size = rule.block_size(args);
  if (rule.share == KvRule::Share::kStatic) return kv_memory(*model.shape, pool.layout, device, options);
  options.activation_reserve = activation_reserve(*model.shape, pool.layout, step, max_running(args));
  if (rule.share == KvRule::Share::kOfFree) {
    options.gpu_memory_utilization = 1;
    const KvMemory all = kv_memory(*model.shape, pool.layout, device, options);
    const Bytes taken = all.weights + all.reserve;
    if (!(taken < device)) return all;
    options.gpu_memory_utilization = (taken + (device - taken) * share) / device;
  }
  return kv_memory(*model.shape, pool.layout, device, options);
}

/// The KV cache by memory arithmetic; nothing when a figure for it is missing and the file states its size.
std::optional<KvMemory> memory_of(const KvRule& rule, const PoolEntry& pool, const LogicalModel& model,
                                  const KvMemoryOptions& options) {
  const bool stated = pool.engine.settings.stated_kv.has_value();
  const auto lacks = [&](const std::string& what) {
    if (stated) return;
    pool.at.fail(
        fmt::format("{}; without it the size of the KV cache is unknown, so state {}", what, rule.stated_argument));
  };
  if (!model.shape) {
    lacks(fmt::format("model {} has no shape", quote(model.name)));
    return std::nullopt;
  }
  if (!pool.engine.settings.memory_share) {
    lacks(fmt::format("{} is not known", rule.share_argument));
    return std::nullopt;
  }
  try {
    return memory_by(rule, pool, model, options);
  } catch (const MissingFigure& missing) {
    if (!stated) deepest(pool.at, {"accelerator"}).fail(missing.what());
    return std::nullopt;
  } catch (const ModelError& error) {
    degree_of(pool.at, error.what()).fail(error.what());
  }
}

void complete_kv(const KvRule& rule, PoolEntry& pool, const LogicalModel& model, const LoadContext& context) {
  EngineArgs& args = pool.engine.settings.args;
  if (pool.engine.settings.stated_kv) {
    const std::int64_t stated = *pool.engine.settings.stated_kv;
    rule.set_stated(args, stated);
    const std::int64_t unit = rule.stated_in_tokens ? rule.block_size(args) : 1;
    if (pool.kv_memory && pool.kv_memory->num_gpu_blocks * unit < stated) {
      context.notes.push_back(fmt::format("pool {}: {} {} is above the {} of memory arithmetic", pool.name,
                                          rule.stated_argument, stated, pool.kv_memory->num_gpu_blocks * unit));
    }
  } else {
    const KvMemory& memory = *pool.kv_memory;
    if (!memory.fits()) {
      const Bytes two_blocks = memory.kv_bytes_per_token * static_cast<double>(2 * rule.block_size(args));
      const Bytes missing = memory.weights + memory.reserve + two_blocks - memory.budget;
      deepest(pool.at, {"layout"})
          .fail(fmt::format("{} does not fit on {}: {}; {:.0f} bytes per device are missing", model.name,
                            pool.accelerator.name, memory.shortage, std::ceil(missing.value)));
    }
    rule.set_blocks(args, memory.num_gpu_blocks);
  }
  const EngineKind& kind = *engine_kind(pool.engine.kind);
  const std::int64_t capacity = rule.tokens(args);
  if (capacity < kind.context(args)) {
    context.notes.push_back(fmt::format("pool {}: its KV cache holds {} tokens, fewer than {} {}; {}", pool.name,
                                        capacity, kind.context_argument, kind.context(args), rule.too_small));
  }
}

void check_task(const PoolEntry& pool, const EngineKind& kind, const LogicalModel& model) {
  if (!kind.carries(model.task)) {
    std::string carried;
    for (const Task task : kind.tasks) carried += (carried.empty() ? "" : ", ") + std::string(name(task));
    deepest(pool.at, {"engine", "kind"})
        .fail(fmt::format("{} does not carry the task {} of model {}", kind.name, name(model.task), quote(model.name)),
              "it carries " + carried);
  }
  const bool needs_fit = model.task == Task::kImage || model.task == Task::kTrain;
  if (needs_fit && !std::holds_alternative<StepFit>(pool.curves)) {
    const bool roofline = std::holds_alternative<RooflineOptions>(pool.curves);
    deepest(pool.at, {"curves"})
        .fail(fmt::format("{} knows no pass of the task {}: state its time by step_fit",
                          roofline ? "a roofline" : "a calibration", name(model.task)));
  }
}

/// A curve of another model or layout is refused. Without a shape only the layout and the precisions can be compared.
void check_measured(const PoolEntry& pool, const LogicalModel& model, Precision weights) {
  const auto* const measured = std::get_if<MeasuredCurve>(&pool.curves);
  if (measured == nullptr) return;
  const CurveIdentity& of = measured->content->identity;
  const std::string differences =
      what_differs(of, model.shape.value_or(of.shape), pool.layout, weights, pool.kv_precision);
  if (!differences.empty()) {
    deepest(pool.at, {"curves"})
        .fail(fmt::format("the calibration {} was measured for {}: {}", quote(measured->file), of.shape.name,
                          differences));
  }
}

}  // namespace

void complete_engine(PoolEntry& pool, const LogicalModel& model, const LoadContext& context) {
  const ImplementationEntry& implementation = model.implementations[pool.implementation];
  const EngineKind& kind = *engine_kind(pool.engine.kind);
  EngineSettings& settings = pool.engine.settings;
  check_task(pool, kind, model);
  const YamlNode at = deepest(pool.at, {"engine", "args"});
  const bool experts = model.shape && model.shape->moe_layers() > 0;
  const EngineSite site{pool.accelerator, pool.layout, model.task, model.steps, experts, at};
  const Precision kv = pool.kv_precision = kv_precision(pool, implementation);
  check_measured(pool, model, implementation.precision);
  complete_length(pool, kind, model, at);
  if (kind.complete != nullptr) kind.complete(settings, site);
  if (kind.check != nullptr) kind.check(settings, site);
  if (RooflineOptions* const roofline = std::get_if<RooflineOptions>(&pool.curves)) {
    roofline->weights = implementation.precision;
    roofline->kv = kv;
    roofline->table_tokens = std::min(kind.step_tokens(settings.args), kLargestTable);
    roofline->micro_batch_tokens = kind.step_tokens(settings.args);
    if (kind.capture_sizes != nullptr && pool.accelerator.kind == DeviceKind::kGpu) {
      roofline->capture_sizes = kind.capture_sizes(settings);
    }
  }
  const KvRule* const rule = kind.kv ? &*kind.kv : nullptr;
  if (rule != nullptr && (rule->applies == nullptr || rule->applies(settings.args))) {
    KvMemoryOptions options;
    options.weights = implementation.precision;
    options.kv = kv;
    pool.kv_memory = memory_of(*rule, pool, model, options);
    complete_kv(*rule, pool, model, context);
  }
  if (kind.finish != nullptr) kind.finish(settings, site);
  complete_host(pool, model);
}

}  // namespace poolcast
