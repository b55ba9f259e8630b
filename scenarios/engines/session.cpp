// SPDX-License-Identifier: Apache-2.0
// Sessions of ONNX Runtime without a server. Names: SessionOptions and onnxruntime_session_options_config_keys.h;
// instance_count, physical_cores and max_tokens are poolcast's own.
#include "scenarios/engines/engine_kind.h"

namespace poolcast {
namespace {

SessionArgs& of(EngineArgs& args) { return std::get<SessionArgs>(args); }

constexpr std::int64_t kMostThreads = 100'000;

std::vector<EngineArgument> arguments() {
  using namespace argument;
  using S = SessionArgs;
  return {count("instance_count", &S::instance_count, 1, kMostThreads),
          count("intra_op_num_threads", &S::intra_op_num_threads, 0, kMostThreads),
          count("physical_cores", &S::physical_cores, 1, kMostThreads), flag("allow_spinning", &S::allow_spinning),
          count("max_tokens", &S::max_tokens)};
}

void complete(EngineSettings& settings, const EngineSite& site) {
  of(settings.args).passes = site.passes;
  of(settings.args).passes_by_output = site.task == Task::kTrain;
}

}  // namespace

EngineKind session_kind() {
  EngineKind kind;
  kind.name = "session";
  kind.blank = [] { return EngineArgs(SessionArgs{}); };
  kind.arguments = arguments();
  kind.aliases = {{"session.intra_op.allow_spinning", "allow_spinning"}};
  kind.heavy = {{"execution_mode", "ORT_SEQUENTIAL"}, {"inter_op_num_threads", "1"}};
  kind.tasks = {Task::kEmbed, Task::kImage, Task::kTrain};
  kind.context_argument = "max_tokens";
  kind.context = [](EngineArgs& args) -> std::int64_t& { return of(args).max_tokens; };
  kind.step_tokens = [](const EngineArgs& args) { return std::get<SessionArgs>(args).max_tokens; };
  kind.complete = complete;
  kind.left_out = {"speed grows in proportion to the cores of a session",
                   "the slower first run of a shape is not modelled",
                   "idle sessions spin for as long as they are idle"};
  return kind;
}

}  // namespace poolcast
