// SPDX-License-Identifier: Apache-2.0
#include "tools/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <variant>

#include "models/error.h"
#include "scenarios/build.h"
#include "scenarios/catalog.h"
#include "scenarios/error.h"
#include "scenarios/human.h"
#include "scenarios/load.h"
#include "scenarios/text_table.h"

namespace poolcast {
namespace {

/// A device follows the steps of one vLLM replica that computes all tokens itself.
const VllmArgs& followable(const Scenario& scenario, const SimulationSpec& spec, const std::string& file) {
  const auto refuse = [&](const std::string& key, const std::string& what) {
    throw ConfigError(Location{file}, key, what);
  };
  if (spec.pools.size() != 1) refuse("pools", fmt::format("a live run has one pool, not {}", spec.pools.size()));
  const PoolSpec& pool = spec.pools[0];
  const std::string engine = "pools." + pool.name + ".engine";
  if (pool.replicas != 1) refuse("pools." + pool.name + ".replicas", "a live run has one replica: set it to 1");
  if (pool.devices_per_replica != 1)
    refuse("pools." + pool.name + ".layout", "a live run has one device: leave it out");
  const VllmArgs* const args = std::get_if<VllmArgs>(&pool.engine);
  if (args == nullptr) refuse(engine + ".kind", "only vllm can be run live");
  if (args->enable_prefix_caching) {
    refuse(engine + ".args.enable_prefix_caching", "a live run computes every token: set it to false");
  }
  if (args->async_scheduling) {
    refuse(engine + ".args.async_scheduling",
           "a live run plans a step when the one before it has ended: set it to false");
  }
  if (!scenario.models[0].shape) refuse("models[0].shape", "a live run needs the model's shape");
  return *args;
}

std::string row_name(Metric metric) {
  std::string text = name(metric);
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::string live_comparison(const Summary& predicted, const Summary& measured) {
  TextTable table({"Live", "predicted", "measured", "error"});
  for (const Metric metric : {Metric::kTtft, Metric::kTpot, Metric::kItl, Metric::kE2e}) {
    for (const int percent : {50, 90, 99}) {
      const Histogram &p = predicted.total.latencies[metric], &m = measured.total.latencies[metric];
      if (p.count() == 0 || m.count() == 0) continue;
      const double ours = to_seconds(p.quantile(percent / 100.0)).value;
      const double theirs = to_seconds(m.quantile(percent / 100.0)).value;
      table.row({fmt::format("{} p{}", row_name(metric), percent), human_seconds(ours), human_seconds(theirs),
                 theirs > 0 ? fmt::format("{:+.1f} %", 100 * (ours / theirs - 1)) : "-"});
    }
  }
  return table.text();
}

std::string terms_text(const std::vector<TermErrors>& kinds) {
  std::string text;
  for (const TermErrors& kind : kinds) {
    TextTable table({fmt::format("Steps {} ({})", kind.kind, human_count(static_cast<std::uint64_t>(kind.steps))),
                     "predicted", "measured", "error", "of the step"});
    const auto n = static_cast<double>(kind.steps);
    const double whole = kind.measured.sum();
    const auto row = [&](const char* name, double predicted, double measured) {
      table.row({name, human_seconds(predicted / n), human_seconds(measured / n),
                 measured > 0 ? fmt::format("{:+.1f} %", 100 * (predicted / measured - 1)) : "-",
                 fmt::format("{:+.1f} %", 100 * (predicted - measured) / whole)});
    };
    for (const LiveTerm term : kLiveTerms) {
      if (std::max(kind.predicted[term], kind.measured[term]) > whole / 1000)
        row(name(term), kind.predicted[term], kind.measured[term]);
    }
    row("whole step", kind.predicted.sum(), whole);
    text += table.text() + "\n";
  }
  return text;
}

LiveRun run_live(const LiveRunOptions& options, const std::function<void(const Progress&)>& progress) {
  const Catalog catalog = Catalog::load(find_catalog_folder());
  const Scenario scenario = load_scenario(options.scenario, catalog, options.overrides);
  BuiltScenario built = build(scenario);
  const VllmArgs& args = followable(scenario, built.spec, options.scenario);
  LiveOptions live;
  live.implementation = options.implementation;
  live.kv_blocks = args.num_gpu_blocks - 1;  // vLLM keeps one for itself
  live.block_size = args.block_size;
  live.threads = options.threads;
  live.seed = built.spec.seed;
  std::shared_ptr<LiveExecutor> executor;
  try {
    auto model = std::make_unique<LiveTransformer>(*scenario.models[0].shape, live);
    built.facts.pools[0].curve =
        fmt::format("live: {}, {} clock", model->description(), options.clock == LiveClock::kWall ? "wall" : "device");
    executor = std::make_shared<LiveExecutor>(std::move(model), options.clock);
  } catch (const ModelError& error) {
    throw ConfigError(Location{options.scenario}, "", error.what());
  } catch (const std::bad_alloc&) {
    throw ConfigError(Location{options.scenario}, "",
                      "the model and its KV cache do not fit into this machine's memory");
  }
  built.spec.pools[0].executor = executor;
  LiveRun run;
  const Report report = simulate(std::move(built.spec), {}, progress);
  run.measured = summarise(report, built.facts);
  run.steps = executor->steps();
  return run;
}

}  // namespace poolcast
