// SPDX-License-Identifier: Apache-2.0
// Triton Inference Server. Names: model_config.proto, also inside its messages dynamic_batching and instance_group;
// max_tokens is poolcast's own. Telemetry: nv_inference_….
#include "scenarios/engines/engine_kind.h"

namespace poolcast {
namespace {

TritonArgs& of(EngineArgs& args) { return std::get<TritonArgs>(args); }
const TritonArgs& of(const EngineArgs& args) { return std::get<TritonArgs>(args); }

constexpr std::int64_t kMostInstances = 100'000;
constexpr std::int64_t kMostLevels = 1000;
constexpr std::int64_t kOnnxRuntime = 0;  // of kBackends
const std::vector<std::string_view> kBackends = {"onnxruntime", "tensorrt", "pytorch", "python", "openvino"};

/// The message ModelQueuePolicy.
TritonArgs::QueuePolicy read_policy(const YamlNode& node) {
  TritonArgs::QueuePolicy policy;
  MappingReader reader(node);
  if (const auto action = reader.optional("timeout_action")) {
    policy.timeout_action = static_cast<TritonArgs::TimeoutAction>(action->choice({"REJECT", "DELAY"}));
  }
  if (const auto timeout = reader.optional("default_timeout_microseconds")) {
    policy.default_timeout_microseconds = timeout->integer(0, argument::kMost * 1'000'000);
  }
  if (const auto size = reader.optional("max_queue_size")) policy.max_queue_size = size->integer(0, argument::kMost);
  if (const auto override = reader.optional("allow_timeout_override"); override && override->boolean()) {
    override->fail("requests with a timeout of their own are known but not modelled yet; leave it out or turn it off");
  }
  reader.finish();
  return policy;
}

std::string policy_text(const TritonArgs::QueuePolicy& policy) {
  return fmt::format("{{timeout_action: {}, default_timeout_microseconds: {}, max_queue_size: {}}}",
                     policy.timeout_action == TritonArgs::TimeoutAction::kReject ? "REJECT" : "DELAY",
                     policy.default_timeout_microseconds, policy.max_queue_size);
}

EngineArgument default_queue_policy() {
  return {"default_queue_policy",
          [](EngineSettings& s, const YamlNode& v) { of(s.args).default_queue_policy = read_policy(v); },
          [](const EngineSettings& s) { return policy_text(of(s.args).default_queue_policy); }};
}

/// A map from level to policy, as in the message; every level has one, so that their number says how many levels.
EngineArgument priority_queue_policy() {
  EngineArgument argument;
  argument.name = "priority_queue_policy";
  argument.set = [](EngineSettings& s, const YamlNode& v) {
    auto& policies = of(s.args).priority_queue_policy;
    policies.clear();
    for (const auto& [level, policy] : v.entries()) {
      if (level != std::to_string(policies.size() + 1)) v.fail("levels are 1, 2, … in order, each with its policy");
      policies.push_back(read_policy(policy));
    }
  };
  argument.text = [](const EngineSettings& s) {
    std::vector<std::string> parts;
    for (const auto& policy : of(s.args).priority_queue_policy) {
      parts.push_back(fmt::format("{}: {}", parts.size() + 1, policy_text(policy)));
    }
    return parts.empty() ? std::string() : fmt::format("{{{}}}", fmt::join(parts, ", "));
  };
  return argument;
}

/// A flag, or the mapping of the message, which switches it on.
EngineArgument dynamic_batching() {
  EngineArgument argument = argument::flag("dynamic_batching", &TritonArgs::dynamic_batching);
  argument.set = [](EngineSettings& s, const YamlNode& v) {
    of(s.args).dynamic_batching = v.is_mapping() || v.boolean();
  };
  return argument;
}

/// A mapping, or a list of one.
EngineArgument instance_group() {
  return {"instance_group",
          [](EngineSettings& s, const YamlNode& v) {
            const auto groups = v.one_or_more();
            if (groups.empty()) v.fail("is an empty list; state one group, for example [{count: 2}]");
            if (groups.size() > 1) v.fail("several instance groups are known but not modelled yet: state one");
            if (!groups.front().is_mapping()) v.fail("must be a group such as {count: 2}, got " + quote(v.text()));
            MappingReader reader(groups.front());
            of(s.args).instance_count = reader.required("count").integer(1, kMostInstances);
            if (const auto kind = reader.optional("kind")) kind->choice({"KIND_AUTO", "KIND_GPU", "KIND_CPU"});
            reader.not_modelled_yet({"gpus", "rate_limiter", "passive", "host_policy", "profile"});
            reader.finish();
          },
          [](const EngineSettings& s) { return fmt::format("{{count: {}}}", of(s.args).instance_count); }};
}

std::vector<EngineArgument> arguments() {
  using namespace argument;
  using T = TritonArgs;
  return {guide_choice("backend", kBackends),
          count("max_batch_size", &T::max_batch_size, 0, 1'000'000),
          dynamic_batching(),
          counts("preferred_batch_size", &T::preferred_batch_size),
          count("max_queue_delay_microseconds", &T::max_queue_delay_microseconds, 0),
          flag("preserve_ordering", &T::preserve_ordering),
          count("priority_levels", &T::priority_levels, 0, kMostLevels),
          count("default_priority_level", &T::default_priority_level, 0, kMostLevels),
          default_queue_policy(),
          priority_queue_policy(),
          instance_group(),
          count("max_tokens", &T::max_tokens)};
}

/// What the server fills in: the ONNX Runtime backend completes a model that states no batch size (onnxruntime.cc), and
/// gets two instances on a CPU (model_config_utils.cc). A max_batch_size of 0 is a model without batches.
void complete(EngineSettings& settings, const EngineSite& site) {
  TritonArgs& args = of(settings.args);
  const auto backend = settings.guides.find("backend");
  const bool onnx = backend != settings.guides.end() && backend->second.front() == kOnnxRuntime;
  if (onnx && !settings.states("max_batch_size")) args.max_batch_size = 4;
  if (onnx && !settings.states("dynamic_batching")) {
    args.dynamic_batching = !settings.states("max_batch_size") && args.max_batch_size > 1;
  }
  if (onnx && !settings.states("instance_group") && site.accelerator.kind == DeviceKind::kCpu) args.instance_count = 2;
  if (args.max_batch_size == 0) {
    args.max_batch_size = 1;
    args.dynamic_batching = false;
  }
  args.passes = site.passes;
  args.passes_by_output = site.task == Task::kTrain;
}

void check(const EngineSettings& settings, const EngineSite& site) {
  const TritonArgs& args = of(settings.args);
  if (!args.preferred_batch_size.empty() && args.preferred_batch_size.back() > args.max_batch_size) {
    site.args.fail(fmt::format("preferred_batch_size {} is above max_batch_size ({})", args.preferred_batch_size.back(),
                               args.max_batch_size));
  }
  if (args.priority_levels > 0 &&
      (args.default_priority_level < 1 || args.default_priority_level > args.priority_levels)) {
    site.args.fail(fmt::format("default_priority_level ({}) must be from 1 to priority_levels ({})",
                               args.default_priority_level, args.priority_levels));
  }
  const auto policies = static_cast<std::int64_t>(args.priority_queue_policy.size());
  if (policies != 0 && policies != args.priority_levels) {
    site.args.fail(fmt::format("priority_queue_policy states {} of {} levels", policies, args.priority_levels));
  }
  if (site.task == Task::kTrain && args.max_batch_size > 1) {
    site.args.fail(fmt::format("jobs of training steps do not share a batch: max_batch_size ({}) must be 1 or 0",
                               args.max_batch_size));
  }
}

}  // namespace

EngineKind triton_kind() {
  EngineKind kind;
  kind.name = "triton";
  kind.blank = [] {
    TritonArgs args;
    args.max_batch_size = 0;
    args.dynamic_batching = false;
    return EngineArgs(args);
  };
  kind.arguments = arguments();
  kind.heavy = {{"sequence_batching"}, {"ensemble_scheduling"}, {"response_cache"}, {"model_warmup"}};
  kind.groups = {"dynamic_batching"};
  kind.tasks = {Task::kEmbed, Task::kImage, Task::kTrain};
  kind.context_argument = "max_tokens";
  kind.context = [](EngineArgs& args) -> std::int64_t& { return of(args).max_tokens; };
  kind.step_tokens = [](const EngineArgs& args) { return of(args).max_batch_size * of(args).max_tokens; };
  kind.complete = complete;
  kind.check = check;
  kind.telemetry.native = {{"nv_inference_request_success", &ReplicaUse::completed},
                           {"nv_inference_exec_count", &ReplicaUse::steps}};
  kind.telemetry.signals = {"nv_inference_pending_request_count", {}, {}};
  kind.left_out = {"no sequence batcher, ensembles or response cache",
                   "inputs of a batch are padded to the longest, whatever their shapes",
                   "instances do not slow each other down"};
  return kind;
}

}  // namespace poolcast
