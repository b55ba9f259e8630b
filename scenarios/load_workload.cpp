// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

/// The two ways in which made-up load ends; at least one must be there.
template <class Spec>
void load_end(MappingReader& reader, const std::string& count_key, std::uint64_t Spec::*count, Spec& spec) {
  const auto counted = reader.optional(count_key);
  const auto duration = reader.optional("duration");
  if (!counted && !duration) reader.node().fail("needs " + count_key + " or duration, or it would never end");
  if (counted) spec.*count = static_cast<std::uint64_t>(counted->integer(1));
  if (!duration) return;
  spec.duration = load_time_limit(*duration);
  if (spec.duration == kNever && !counted) duration->fail("without " + count_key + " the load must end at some time");
}

SharedPrefixSpec load_shared_prefix(MappingReader& parent, const LoadContext& context) {
  constexpr std::int64_t kMostGroups = 10'000'000;
  SharedPrefixSpec prefix;
  const auto node = parent.optional("shared_prefix");
  if (!node || node->is_word("none")) return prefix;
  MappingReader reader(*node);
  prefix.groups = 1;
  if (const auto groups = reader.optional("groups")) {
    prefix.groups = static_cast<std::uint64_t>(groups->integer(1, kMostGroups));
  }
  if (const auto skew = reader.optional("skew")) prefix.skew = skew->number(0, 100);
  prefix.tokens = load_length(reader.required("tokens"), context);
  reader.finish();
  return prefix;
}

/// Tasks of one answer have one unit of output.
LengthSpec load_output(MappingReader& reader, Task task, const LoadContext& context) {
  if (task == Task::kGenerate || task == Task::kTrain) return load_length(reader.required("output_tokens"), context);
  LengthSpec one;
  one.mean = 1;
  const auto node = reader.optional("output_tokens");
  if (!node) return one;
  const LengthSpec stated = load_length(*node, context);
  if (stated.kind != one.kind || stated.mean != 1) {
    node->fail(fmt::format("a request of the task {} has one answer; leave it out", name(task)));
  }
  return stated;
}

SynthSpec load_synth(const YamlNode& node, Task task, const LoadContext& context) {
  SynthSpec synth;
  MappingReader reader(node);
  load_end(reader, "requests", &SynthSpec::requests, synth);
  synth.arrivals = load_arrivals(reader.required("arrivals"));
  synth.prompt_tokens = load_length(reader.required("prompt_tokens"), context);
  synth.output_tokens = load_output(reader, task, context);
  synth.shared_prefix = load_shared_prefix(reader, context);
  reader.finish();
  return synth;
}

ClosedLoopSpec load_closed_loop(const YamlNode& node, Task task, const LoadContext& context) {
  constexpr std::int64_t kMostUsers = 10'000'000;
  ClosedLoopSpec loop;
  MappingReader reader(node);
  loop.users = reader.required("users").integer(1, kMostUsers);
  load_end(reader, "requests", &ClosedLoopSpec::requests, loop);
  if (const auto think = reader.optional("think_time")) loop.think_time = load_think_time(*think);
  if (const auto ramp = reader.optional("ramp")) loop.ramp = to_sim_time(read_seconds(*ramp));
  loop.prompt_tokens = load_length(reader.required("prompt_tokens"), context);
  loop.output_tokens = load_output(reader, task, context);
  loop.shared_prefix = load_shared_prefix(reader, context);
  reader.finish();
  return loop;
}

SessionsSpec load_sessions(const YamlNode& node, Task task, const LoadContext& context) {
  SessionsSpec sessions;
  MappingReader reader(node);
  load_end(reader, "sessions", &SessionsSpec::sessions, sessions);
  sessions.arrivals = load_arrivals(reader.required("arrivals"));
  sessions.turns = load_length(reader.required("turns"), context);
  sessions.first_prompt_tokens = load_length(reader.required("first_prompt_tokens"), context);
  sessions.turn_tokens = load_length(reader.required("turn_tokens"), context);
  sessions.output_tokens = load_output(reader, task, context);
  sessions.shared_prefix = load_shared_prefix(reader, context);
  if (const auto think = reader.optional("think_time")) sessions.think_time = load_think_time(*think);
  if (const auto most = reader.optional("max_context"); most && !most->is_word("none")) {
    sessions.max_context = most->integer(1, kMostTokens);
  }
  reader.finish();
  return sessions;
}

const LogicalModel& find_model(MappingReader& reader, const std::vector<LogicalModel>& models) {
  const auto node = reader.optional("model");
  std::vector<std::string_view> names;
  for (const LogicalModel& model : models) {
    if (node && model.name == node->text()) return model;
    names.push_back(model.name);
  }
  if (node) node->fail("no model is named " + quote(node->text()), spelling_hint(node->text(), names));
  if (models.size() > 1) reader.node().fail("missing key \"model\": the scenario has several");
  return models.front();
}

const ClassEntry& find_class(MappingReader& reader, const LogicalModel& model) {
  const auto node = reader.optional("class");
  std::vector<std::string_view> names;
  for (const ClassEntry& entry : model.classes) {
    if (node && entry.name == node->text()) return entry;
    names.push_back(entry.name);
  }
  if (node) {
    node->fail("model " + quote(model.name) + " has no class " + quote(node->text()),
               spelling_hint(node->text(), names));
  }
  if (names.size() > 1) reader.node().fail("missing key \"class\": model " + quote(model.name) + " has several");
  return model.classes.front();
}

}  // namespace

WorkloadEntry load_workload_entry(const YamlNode& node, const std::vector<LogicalModel>& models,
                                  const LoadContext& context) {
  WorkloadEntry entry;
  entry.at = node;
  MappingReader reader(node);
  const LogicalModel& model = find_model(reader, models);
  const ClassEntry& cls = find_class(reader, model);
  entry.model = model.name;
  entry.cls = cls.name;
  entry.priority = cls.priority;
  if (const auto priority = reader.optional("priority")) {
    entry.priority = static_cast<std::int32_t>(priority->integer(INT32_MIN, INT32_MAX));
  }
  if (const auto most = reader.optional("max_concurrency"); most && !most->is_word("none")) {
    entry.max_concurrency = most->integer(1);
  }
  const auto [kind, load] = reader.one_of({"trace", "synth", "closed_loop", "sessions"});
  reader.not_modelled_yet({"tenant", "cancel"});
  reader.finish();
  if (kind == 0) entry.load = load_trace(load, context);
  if (kind == 1) entry.load = load_synth(load, model.task, context);
  if (kind == 2) entry.load = load_closed_loop(load, model.task, context);
  if (kind == 3) entry.load = load_sessions(load, model.task, context);
  return entry;
}

}  // namespace poolcast
