// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/accelerator.h"
#include "models/layout.h"
#include "scenarios/engines/engine_argument.h"
#include "scenarios/engines/engine_settings.h"
#include "scenarios/summary.h"
#include "scenarios/task.h"

namespace poolcast {

/// How a kind finds the size of its KV cache.
struct KvRule {
  enum class Share {
    kOfDevice,  ///< weights, activations and KV cache are this share of the device's memory (vLLM)
    kStatic,    ///< weights and KV cache are; activations take from the rest (SGLang)
    kOfFree,    ///< the KV cache is this share of what weights and activations leave (TensorRT-LLM)
  };
  Share share = Share::kOfDevice;
  std::string_view share_argument;   ///< "gpu_memory_utilization"
  std::string_view stated_argument;  ///< "num_gpu_blocks_override"
  std::int64_t (*block_size)(const EngineArgs&) = nullptr;
  void (*set_blocks)(EngineArgs&, std::int64_t blocks) = nullptr;  ///< by memory arithmetic
  void (*set_stated)(EngineArgs&, std::int64_t stated) = nullptr;
  bool stated_in_tokens = false;                        ///< otherwise in blocks
  std::int64_t (*tokens)(const EngineArgs&) = nullptr;  ///< that it holds
  std::string_view too_small;  ///< what the engine would do when that is fewer than one sequence may have
  bool (*applies)(const EngineArgs&) = nullptr;  ///< null: always
};

/// Where an engine runs.
struct EngineSite {
  const Accelerator& accelerator;
  const Layout& layout;
  Task task = Task::kGenerate;
  std::int64_t passes = 1;  ///< of an image
  bool experts = false;     ///< whether the model has any
  YamlNode args;            ///< for messages
};

/// A count of the engine's telemetry: its name there and the figure here.
struct NativeFigure {
  std::string_view name;
  std::variant<std::uint64_t ReplicaUse::*, std::int64_t ReplicaUse::*, std::optional<double> ReplicaUse::*> figure;
};

/// The signals that a router can see, by the engine's own names; empty where it has none.
struct SignalNames {
  std::string_view waiting, running, kv_use;
};

/// What an engine counts and shows of itself.
struct Telemetry {
  std::vector<NativeFigure> native;
  SignalNames signals;
};

/// An argument of the engine that would change results and is not modelled: it may be set to what switches it off.
struct HeavyArgument {
  std::string_view name;
  std::string_view off = {};  ///< besides false, none and 0
};

/// One kind of engine as scenario files know it. Each is described in a file of its own.
struct EngineKind {
  std::string_view name;
  EngineArgs (*blank)() = nullptr;        ///< before the defaults of a version
  std::vector<EngineArgument> arguments;  ///< those that the simulation follows
  std::vector<HeavyArgument> heavy;
  std::vector<std::pair<std::string_view, std::string_view>> aliases;  ///< other spelling, name
  std::vector<std::string_view> groups;  ///< mappings in which the engine's own files put some of the arguments
  /// Arguments that repeat the pool's layout; the last one is a flag that says that ep is tp * dp.
  std::string_view tensor_parallel, pipeline_parallel, data_parallel, expert_parallel, expert_parallel_flag;
  std::vector<Task> tasks;

  std::string_view context_argument;                         ///< the longest sequence; by default the model's
  std::int64_t& (*context)(EngineArgs&) = nullptr;           ///< 0 = not stated
  std::int64_t (*step_tokens)(const EngineArgs&) = nullptr;  ///< most tokens of a step, for the tables of a curve
  Fidelity* (*fidelity)(EngineArgs&) = nullptr;              ///< null: the kind has one way only
  std::optional<KvRule> kv;

  // In this order, once the longest sequence is known; each may be null. `check` and `finish` throw ConfigError.
  void (*complete)(EngineSettings&, const EngineSite&) = nullptr;  ///< arguments that follow from others
  void (*check)(const EngineSettings&, const EngineSite&) = nullptr;
  void (*finish)(EngineSettings&, const EngineSite&) = nullptr;  ///< after the size of the KV cache is known

  Telemetry telemetry;
  /// That of a flavour with names of its own, null for the others; null: there is none such.
  const Telemetry* (*own_telemetry)(const EngineArgs&) = nullptr;
  std::vector<std::string_view> left_out;  ///< what the model of this engine leaves out: its fidelity

  // Layouts with pp or dp above 1; null: not modelled for this kind.
  void (*widen)(EngineArgs&, std::int64_t stages) = nullptr;      ///< limits of one micro-batch become those of a round
  std::string_view (*balancer)(const EngineSettings&) = nullptr;  ///< policy that chooses a rank
  /// Sizes of the CUDA graphs; null: decode batches are not padded.
  std::vector<std::int64_t> (*capture_sizes)(const EngineSettings&) = nullptr;

  const EngineArgument* find(std::string_view argument) const;  ///< null when not followed
  /// Dashes become underscores, aliases their name. An alias may hold for one group only: "group.argument".
  std::string canonical(std::string argument, std::string_view group = {}) const;
  bool carries(Task task) const;
  const Telemetry& telemetry_of(const EngineArgs& args) const {
    const Telemetry* const own = own_telemetry == nullptr ? nullptr : own_telemetry(args);
    return own == nullptr ? telemetry : *own;
  }
};

/// Null for an unknown name.
const EngineKind* engine_kind(std::string_view name);
std::vector<std::string_view> engine_kind_names();

// One more kind: its file, a line here and one in engine_kind.cpp.
EngineKind vllm_kind();
EngineKind sglang_kind();
EngineKind tensorrt_llm_kind();
EngineKind bucketed_kind();
EngineKind triton_kind();
EngineKind session_kind();

}  // namespace poolcast
