// SPDX-License-Identifier: Apache-2.0
#include "scenarios/run_sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "scenarios/summary.h"
#include "sim/cell.h"
#include "sim/content.h"
#include "sim/replications.h"
#include "sim/simulation.h"

namespace poolcast {
namespace {

struct Group {
  std::uint64_t requests = 0, completed = 0, accepted = 0;
  std::vector<SimTime> ttft, tpot, e2e;

  void add(const RequestRecord& r) {
    ++requests;
    accepted += r.accepted;
    if (r.outcome != Outcome::kCompleted) return;
    ++completed;
    ttft.push_back(value_of(Metric::kTtft, r));
    e2e.push_back(value_of(Metric::kE2e, r));
    if (r.output_tokens > 1) tpot.push_back(value_of(Metric::kTpot, r));
  }
};

/// At rank ceil(q * all), of which those beyond the samples are without end.
std::optional<double> quantile(std::vector<SimTime>& samples, double q, std::uint64_t all) {
  if (all == 0) return std::nullopt;
  const auto rank = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(q * static_cast<double>(all))));
  if (rank > samples.size()) return std::numeric_limits<double>::infinity();
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(samples.begin(), at, samples.end());
  return static_cast<double>(*at) / 1e9;
}

Figures figures(Group& g) {
  Figures f;
  f.requests = g.requests;
  const auto set = [&](Figure figure, std::optional<double> value) {
    f.value[static_cast<std::size_t>(figure)] = value;
  };
  set(Figure::kTtftP50, quantile(g.ttft, 0.5, g.requests));
  set(Figure::kTtftP99, quantile(g.ttft, 0.99, g.requests));
  set(Figure::kTpotP50, quantile(g.tpot, 0.5, g.tpot.size()));
  set(Figure::kTpotP99, quantile(g.tpot, 0.99, g.tpot.size()));
  set(Figure::kE2eP50, quantile(g.e2e, 0.5, g.requests));
  set(Figure::kE2eP99, quantile(g.e2e, 0.99, g.requests));
  if (g.requests == 0) return f;
  const auto all = static_cast<double>(g.requests);
  set(Figure::kGoodput, static_cast<double>(g.accepted) / all);
  set(Figure::kErrorRate, static_cast<double>(g.requests - g.completed) / all);
  return f;
}

class Sampler : public Observer {
 public:
  explicit Sampler(std::size_t classes) : classes_(classes), groups_(1 + classes + kTierEnds.size() + 1) {}

  void request_ended(const RequestRecord& r) override {
    if (!r.measured) return;
    const auto tier = std::lower_bound(kTierEnds.begin(), kTierEnds.end(), r.prompt_tokens) - kTierEnds.begin();
    groups_[0].add(r);
    groups_[1 + r.cls.value].add(r);
    groups_[1 + classes_ + static_cast<std::size_t>(tier)].add(r);
    std::uint64_t asked = content_id(r.source.value, r.row);
    for (const std::int64_t part : {r.at.intended, r.prompt_tokens, r.output_target}) {
      asked = content_id(asked, static_cast<std::uint64_t>(part));
    }
    world_ += asked;  // a sum, so that the order of the ends does not matter
  }

  RunSample take() {
    RunSample sample;
    for (Group& group : groups_) sample.groups.push_back(figures(group));
    sample.world = world_;
    return sample;
  }

 private:
  std::size_t classes_;
  std::vector<Group> groups_;
  std::uint64_t world_ = 0;
};

bool reads_hdf5(const Scenario& scenario) {
  return std::any_of(scenario.workload.begin(), scenario.workload.end(), [](const WorkloadEntry& entry) {
    const auto* const trace = std::get_if<TraceSpec>(&entry.load);
    return trace != nullptr && probe_trace(*trace).format == TraceFormat::kHdf5;
  });
}

ObjectiveSample objective_sample(const ObjectiveSummary& objective) {
  ObjectiveSample sample;
  sample.share_within = objective.share_within;
  if (!objective.met) return sample;
  sample.achieved_s =
      objective.achieved ? static_cast<double>(*objective.achieved) / 1e9 : std::numeric_limits<double>::infinity();
  return sample;
}

}  // namespace

const char* name(Figure figure) {
  constexpr const char* kNames[kFigures] = {"ttft.p50", "ttft.p99", "tpot.p50",   "tpot.p99", "e2e.p50",
                                            "e2e.p99",  "goodput",  "error_rate", "cost"};
  return kNames[static_cast<int>(figure)];
}

const char* title(Figure figure) {
  constexpr const char* kTitles[kFigures] = {"TTFT p50", "TTFT p99",   "TPOT p50",
                                             "TPOT p99", "E2E p50",    "E2E p99",
                                             "goodput",  "error rate", "cost per accepted output"};
  return kTitles[static_cast<int>(figure)];
}

std::vector<std::string> group_names(const RunFacts& facts) {
  std::vector<std::string> names = {"all"};
  for (const ClassSpec& cls : facts.classes) {
    names.push_back(facts.models.size() > 1 ? facts.models[cls.model.value] + "/" + cls.name : cls.name);
  }
  for (const std::int64_t end : kTierEnds) names.push_back(fmt::format("<= {}", end));
  names.push_back(fmt::format("> {}", kTierEnds.back()));
  return names;
}

RunSample sample_run(BuiltScenario built) {
  Sampler sampler(built.spec.classes.size());
  const Report report = simulate(std::move(built.spec), {&sampler});
  RunSample sample = sampler.take();
  const Summary summary = summarise(report, built.facts);
  const std::optional<Dollars> cost = summary.cost.per_accepted_output;
  for (const ClassSummary& cls : summary.classes) {
    for (const ObjectiveSummary& objective : cls.objectives) sample.objectives.push_back(objective_sample(objective));
  }
  sample.extrapolated_step_share = summary.extrapolated_step_share.value_or(0);
  sample.stationary = summary.stationary;
  if (cost) sample.groups[0].value[static_cast<std::size_t>(Figure::kCost)] = cost->value;
  sample.moves = report.moves;
  return sample;
}

std::vector<std::vector<RunSample>> sample_replications(
    const std::vector<const Scenario*>& scenarios, std::int64_t replications, int threads,
    const std::function<void(std::int64_t done, std::int64_t all)>& progress) {
  std::vector<std::vector<RunSample>> samples(scenarios.size(),
                                              std::vector<RunSample>(static_cast<std::size_t>(replications)));
  const auto count = static_cast<std::int64_t>(scenarios.size());
  std::mutex reading;  // the HDF5 library is not made for threads
  const auto hdf5 = [](const Scenario* scenario) { return reads_hdf5(*scenario); };
  if (std::any_of(scenarios.begin(), scenarios.end(), hdf5)) threads = 1;
  const auto one = [&](std::int64_t i) {
    const auto which = static_cast<std::size_t>(i % count), k = static_cast<std::size_t>(i / count);
    Scenario scenario = *scenarios[which];
    scenario.seed = replication_seed(scenarios[0]->seed, i / count);
    std::unique_lock lock(reading);
    BuiltScenario built = build(scenario);
    lock.unlock();
    samples[which][k] = sample_run(std::move(built));
  };
  replicate(count * replications, threads, one, [&](std::int64_t done) {
    if (progress) progress(done, count * replications);
  });
  return samples;
}

}  // namespace poolcast
