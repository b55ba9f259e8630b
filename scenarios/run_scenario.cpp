// SPDX-License-Identifier: Apache-2.0
#include "scenarios/run_scenario.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "scenarios/atomic_file.h"
#include "scenarios/build.h"
#include "scenarios/catalog.h"
#include "scenarios/load.h"
#include "scenarios/results_h5.h"
#include "scenarios/summary_json.h"

namespace poolcast {
namespace {

ResultsHeader header_of(const RunFacts& facts) {
  ResultsHeader header{facts.version, facts.seed, facts.scenario_digest, {}, facts.models, {}, {}, facts.metadata};
  for (const ClassSpec& cls : facts.classes) {
    header.classes.push_back(cls.name);
    header.retries |= cls.retry.max > 0;
  }
  for (const PoolFacts& pool : facts.pools) {
    header.pools.push_back(pool.name);
    header.replicas.push_back(static_cast<std::int32_t>(pool.replicas * pool.ranks));
  }
  return header;
}

/// The files of `--out DIR`.
class OutputFiles {
 public:
  OutputFiles(const RunOptions& options, const RunFacts& facts) {
    if (options.out.empty()) return;
    make_folder(options.out);
    const std::filesystem::path folder = options.out;
    summary_.emplace((folder / "summary.json").string());
    if (options.write_requests) results_.emplace((folder / "results.h5").string(), header_of(facts));
  }

  std::vector<Observer*> observers() {
    if (results_) return {&*results_};
    return {};
  }

  void finish(const Summary& summary) {
    if (results_) results_->finish();
    if (summary_) summary_->write(summary_json(summary));
  }

 private:
  std::optional<AtomicFile> summary_;
  std::optional<ResultsFile> results_;
};

}  // namespace

Summary run_scenario(const RunOptions& options, const std::function<void(const Progress&)>& progress) {
  const Catalog catalog = Catalog::load(find_catalog_folder());
  BuiltScenario built = build(load_scenario(options.scenario, catalog, options.overrides));
  built.spec.stepwise = options.stepwise;
  const RunFacts& facts = built.facts;
  OutputFiles files(options, facts);
  const Report report = simulate(std::move(built.spec), files.observers(), progress);
  Summary summary = summarise(report, facts);
  files.finish(summary);
  return summary;
}

}  // namespace poolcast
