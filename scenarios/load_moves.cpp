// SPDX-License-Identifier: Apache-2.0
// `move` or `moves`: traffic that goes from one pool to another in steps.
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/load_parts.h"
#include "scenarios/units.h"

namespace poolcast {
namespace {

struct Place {
  const std::vector<LogicalModel>& models;
  const std::vector<PoolEntry>& pools;
};

PoolId load_pool_name(const YamlNode& node, const std::vector<PoolEntry>& pools) {
  std::vector<std::string_view> names;
  for (const PoolEntry& pool : pools) names.push_back(pool.name);
  const auto found = std::find(names.begin(), names.end(), node.text());
  if (found == names.end()) {
    node.fail("no pool is named " + quote(node.text()), spelling_hint(node.text(), names));
  }
  const auto pool = static_cast<std::size_t>(found - names.begin());
  if (pools[pool].role != PoolRole::kBoth) {
    node.fail("moves between pools with prefill and decode apart are not modelled yet");
  }
  return PoolId(pool);
}

/// Classes are numbered over all models.
ClassId load_class_name(const YamlNode& node, const std::vector<LogicalModel>& models, std::size_t model) {
  std::size_t before = 0;
  for (std::size_t m = 0; m < model; ++m) before += models[m].classes.size();
  std::vector<std::string_view> names;
  for (const ClassEntry& cls : models[model].classes) {
    if (cls.name == node.text()) return ClassId(before + names.size());
    names.push_back(cls.name);
  }
  node.fail("model " + quote(models[model].name) + " has no class " + quote(node.text()),
            spelling_hint(node.text(), names));
}

std::vector<MoveStep> load_steps(const YamlNode& list) {
  std::vector<MoveStep> steps;
  for (const YamlNode& node : list.one_or_more()) {
    MappingReader reader(node);
    const YamlNode share = reader.required("share");
    MoveStep step{read_share(share), to_sim_time(read_seconds(reader.required("for")))};
    reader.finish();
    const double before = steps.empty() ? 0 : steps.back().share;
    if (!(step.share > before)) {
      share.fail(steps.empty() ? "must be above 0" : "shares must rise: the step before has " + number_text(before));
    }
    if (step.length <= 0) deepest(node, {"for"}).fail("must be above 0");
    steps.push_back(step);
  }
  if (steps.empty()) list.fail("needs at least one step, such as {share: 10 %, for: 10 min}");
  return steps;
}

std::vector<MoveStep> load_roll_back(const YamlNode& list) {
  std::vector<MoveStep> steps;
  for (const YamlNode& node : list.one_or_more()) {
    MappingReader reader(node);
    const YamlNode share = reader.required("share");
    MoveStep step{read_share(share), 0};
    if (const auto length = reader.optional("for")) step.length = to_sim_time(read_seconds(*length));
    reader.finish();
    if (!steps.empty() && !(step.share < steps.back().share)) {
      share.fail("shares must fall: the one before is " + number_text(steps.back().share));
    }
    if (step.share > 0 && step.length <= 0) node.fail("missing key \"for\": how long it stays at this share");
    steps.push_back(step);
  }
  if (steps.empty() || steps.back().share > 0) list.fail("must end with {share: 0}");
  return steps;
}

/// `1.1x` is relative to those that stay; anything else is a time.
MoveGate load_latency_gate(Metric metric, const MappingReader& percentiles, const std::string& key,
                           const YamlNode& node) {
  MoveGate gate;
  gate.metric = metric;
  gate.percentile = load_percentile(percentiles, key);
  const std::string& text = node.text();
  if (!text.empty() && text.back() == 'x') {
    gate.relative = true;
    const YamlNode number = parse_yaml("limit", text.substr(0, text.size() - 1), true);
    if (number.is_scalar()) {
      try {
        gate.limit = number.number(1e-6, 1e6);
      } catch (const ConfigError&) {
        node.fail("expected a factor such as 1.1x, got " + quote(text));
      }
      return gate;
    }
    node.fail("expected a factor such as 1.1x, got " + quote(text));
  }
  gate.limit = read_seconds(node).value;
  return gate;
}

/// The gates that can be judged while a run goes on; other keys are for the caller.
std::vector<MoveGate> load_running_gates(MappingReader& reader) {
  constexpr Metric kMeasured[] = {Metric::kTtft, Metric::kTpot,       Metric::kItl,
                                  Metric::kE2e,  Metric::kQueueDelay, Metric::kNtpot};
  std::vector<MoveGate> gates;
  for (const Metric metric : kMeasured) {
    const auto limits = reader.optional(name(metric));
    if (!limits) continue;
    const MappingReader percentiles(*limits);
    for (const auto& [key, limit] : limits->entries()) {
      gates.push_back(load_latency_gate(metric, percentiles, key, limit));
    }
  }
  const auto share = [&](const char* key, MoveGate::What what) {
    const auto value = reader.optional(key);
    if (!value) return;
    MoveGate gate;
    gate.what = what;
    gate.percentile = 0;
    gate.limit = read_share(*value);
    gates.push_back(gate);
  };
  share("error_rate", MoveGate::What::kErrorRate);
  share("eligible", MoveGate::What::kEligible);
  return gates;
}

void load_correctness(const YamlNode& node, const LogicalModel& model, MoveEntry& move) {
  CorrectnessGate gate;
  gate.threshold = model.threshold.value_or(-1);
  if (node.is_mapping()) {
    MappingReader reader(node);
    if (const auto threshold = reader.optional("threshold")) gate.threshold = threshold->number(0, 1);
    if (const auto confidence = reader.optional("confidence")) gate.confidence = read_share(*confidence);
    reader.finish();
    if (!(gate.confidence >= 0.5 && gate.confidence < 1)) node.fail("confidence must be from 50 % to below 100 %");
  } else if (!node.boolean()) {
    return;
  }
  if (gate.threshold < 0) {
    node.fail(fmt::format("model {} has no evaluation threshold: write {{threshold: 0.86}}", quote(model.name)));
  }
  move.correctness = gate;
}

void load_gates(const YamlNode& node, const LogicalModel& model, MoveEntry& move) {
  MappingReader reader(node);
  if (const auto correctness = reader.optional("correctness")) load_correctness(*correctness, model, move);
  move.spec.gates = load_running_gates(reader);
  if (const auto cost = reader.optional("cost")) move.cost_margin = read_share(*cost);
  reader.finish();
  if (move.spec.gates.empty()) {
    node.fail("needs a gate that a step can pass: ttft, tpot, itl, e2e, queue_delay, ntpot, error_rate or eligible");
  }
}

void load_abort(const YamlNode& node, MoveSpec& move) {
  MappingReader reader(node);
  if (const auto every = reader.optional("every")) {
    move.every = to_sim_time(read_seconds(*every));
    if (move.every <= 0) every->fail("must be above 0");
  }
  move.abort = load_running_gates(reader);
  reader.finish();
}

void load_pools_of(MappingReader& reader, const Place& place, MoveEntry& move) {
  const YamlNode to = reader.required("to");
  move.spec.from = load_pool_name(reader.required("from"), place.pools);
  move.spec.to = load_pool_name(to, place.pools);
  if (move.spec.from == move.spec.to) to.fail("is where the traffic comes from");
  const std::size_t model = place.pools[move.spec.from.value].model;
  if (place.pools[move.spec.to.value].model != model) {
    to.fail(fmt::format("serves another model than {}", quote(place.pools[move.spec.from.value].name)));
  }
  if (const auto name = reader.optional("model"); name && name->text() != place.models[model].name) {
    name->fail(fmt::format("the pools serve {}", quote(place.models[model].name)));
  }
  if (const auto cls = reader.optional("class")) move.spec.cls = load_class_name(*cls, place.models, model);
}

MoveEntry load_move(const YamlNode& node, const Place& place) {
  MoveEntry move;
  move.at = node;
  MoveSpec& spec = move.spec;
  MappingReader reader(node);
  load_pools_of(reader, place, move);
  if (const auto start = reader.optional("start")) spec.start = to_sim_time(read_seconds(*start));
  spec.steps = load_steps(reader.required("steps"));
  spec.roll_back = {{0, 0}};
  if (const auto back = reader.optional("roll_back")) spec.roll_back = load_roll_back(*back);
  load_gates(reader.required("gates"), place.models[place.pools[spec.from.value].model], move);
  if (const auto abort = reader.optional("abort")) load_abort(*abort, spec);
  if (const auto sticky = reader.optional("sticky")) {
    spec.sticky = sticky->choice({"session", "user", "request", "none"}) < 2 ? Sticky::kSession : Sticky::kRequest;
  }
  if (const auto least = reader.optional("min_requests")) {
    spec.min_requests = static_cast<std::uint64_t>(least->integer(1));
  }
  if (const auto rewarm = reader.optional("rewarm")) spec.rewarm = to_sim_time(read_seconds(*rewarm));
  reader.finish();
  return move;
}

bool overlap(ClassId a, ClassId b) { return !a.valid() || !b.valid() || a == b; }

/// Follows the moves from the end of one; back at its origin, traffic would go in a circle.
void check_circle(const std::vector<MoveEntry>& moves, const MoveEntry& first, const std::vector<PoolEntry>& pools) {
  std::string way = pools[first.spec.from.value].name + " -> " + pools[first.spec.to.value].name;
  PoolId at = first.spec.to;
  for (std::size_t hops = 0; hops < moves.size(); ++hops) {
    const auto next = std::find_if(moves.begin(), moves.end(), [&](const MoveEntry& move) {
      return move.spec.from == at && overlap(move.spec.cls, first.spec.cls);
    });
    if (next == moves.end()) return;
    at = next->spec.to;
    way += " -> " + pools[at.value].name;
    if (at == first.spec.from) deepest(first.at, {"to"}).fail("the moves go in a circle: " + way);
  }
}

void check_together(const std::vector<MoveEntry>& moves, const std::vector<PoolEntry>& pools) {
  for (std::size_t i = 0; i < moves.size(); ++i) {
    check_circle(moves, moves[i], pools);
    for (std::size_t j = 0; j < i; ++j) {
      if (moves[i].spec.from == moves[j].spec.from && overlap(moves[i].spec.cls, moves[j].spec.cls)) {
        deepest(moves[i].at, {"from"}).fail("another move takes the same traffic from this pool");
      }
    }
  }
}

}  // namespace

std::vector<MoveEntry> load_moves(const YamlNode& node, const std::vector<LogicalModel>& models,
                                  const std::vector<PoolEntry>& pools) {
  std::vector<MoveEntry> moves;
  for (const YamlNode& item : node.one_or_more()) moves.push_back(load_move(item, {models, pools}));
  check_together(moves, pools);
  return moves;
}

}  // namespace poolcast
