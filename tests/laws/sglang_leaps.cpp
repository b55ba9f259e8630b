// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/random.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

/// Draws the arguments of an SGLang engine.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed, "sglang world"), options_(seed, "sglang options") {}

  SglangArgs make(Fidelity fidelity) {
    using Policy = SglangArgs::Policy;
    using Eviction = SglangArgs::Eviction;
    SglangArgs e;
    e.fidelity = fidelity;
    e.page_size = pick({1, 1, 1, 3, 16, 64});
    e.context_length = pick({256, 512, 4096});
    const std::int64_t tokens = chance(0.8) ? between(100, 900) : between(900, 100'000);
    e.max_total_num_tokens = (2 + tokens / e.page_size) * e.page_size;
    e.max_running_requests = pick({2, 4, 16, 128, 128, 128});
    e.chunked_prefill_size = chance(0.25) ? -1 : e.page_size * pick({2, 8, 16, 32, 512});
    e.max_prefill_tokens = pick({16, 100, 16'384});
    e.prefill_max_requests = chance(0.2) ? between(1, 4) : INT64_MAX;
    const Policy policies[] = {Policy::kFcfs, Policy::kLpm, Policy::kDfsWeight, Policy::kLof, Policy::kRandom};
    e.schedule_policy = policies[random_.below(5)];
    e.schedule_conservativeness = chance(0.8) ? 0.2 * random_.uniform() : 1.0;  // small: many retractions
    e.enable_mixed_chunk = chance(0.4);
    e.disable_overlap_schedule = chance(0.5);
    e.disable_radix_cache = chance(0.2);
    const Eviction evictions[] = {Eviction::kLru,  Eviction::kLfu,  Eviction::kFifo,    Eviction::kMru,
                                  Eviction::kFilo, Eviction::kSlru, Eviction::kPriority};
    e.radix_eviction_policy = evictions[random_.below(7)];
    e.retraction_policy = chance(0.3) ? SglangArgs::Retraction::kPriority : SglangArgs::Retraction::kLength;
    e.enable_priority_scheduling = chance(0.4);
    if (e.enable_priority_scheduling) e.schedule_policy = chance(0.6) ? Policy::kFcfs : Policy::kLof;
    e.schedule_low_priority_values_first = chance(0.5);
    e.disable_priority_preemption = chance(0.3);
    e.priority_scheduling_preemption_threshold = between(0, 2);
    e.stream_interval = 1 + static_cast<std::int64_t>(options_.below(2) * options_.below(8));
    e.declared_output_factor = chance(0.4) ? 1 + 2 * random_.uniform() : 1;
    return e;
  }

 private:
  bool chance(double p) { return random_.uniform() < p; }
  std::int64_t pick(std::initializer_list<std::int64_t> values) { return values.begin()[random_.below(values.size())]; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  RandomStream random_, options_;
};

/// Adds a class without deadlines, all of whose requests come nearly at once: short prompts, some of them shared, and
/// long outputs, so that memory runs short while they decode.
void add_burst(SimulationSpec& spec, std::uint64_t seed) {
  RandomStream random(seed, "burst");
  spec.classes.push_back({.name = "burst", .model = ModelId(0u), .objectives = {}});
  std::vector<Arrival> arrivals;
  SimTime now = static_cast<SimTime>(random.below(300'000'000));
  for (std::uint64_t i = 0; i < 60; ++i) {
    now += static_cast<SimTime>(random.below(3'000'000));
    Arrival a;
    a.intended = now;
    a.cls = ClassId(spec.classes.size() - 1);
    a.prompt_tokens = 1 + static_cast<std::int64_t>(random.below(30));
    a.output_tokens = 1 + static_cast<std::int64_t>(random.below(90));
    a.priority = static_cast<std::int32_t>(random.below(6));
    if (random.below(2) == 0) a.content.prompt = {{500'000 + random.below(2), 0, a.prompt_tokens}};
    if (random.below(2) == 0) a.content.output = 600'000 + i;
    arrivals.push_back(std::move(a));
  }
  add_list(spec, std::move(arrivals));
}

/// A random world with prefixes whose pools all run SGLang.
SimulationSpec sglang_world(std::uint64_t seed, Fidelity fidelity) {
  SimulationSpec spec = random_prefix_world(seed);
  add_burst(spec, seed);
  Maker maker(seed);
  for (PoolSpec& pool : spec.pools) {
    pool.engine = maker.make(fidelity);
    auto curve = std::make_shared<KneeCurve>(dynamic_cast<const KneeCurve&>(*pool.curve));
    curve->base *= 10;    // slow steps: requests pile up
    if (seed % 3 == 0) {  // steps of whole milliseconds, so that arrivals meet their ends
      curve->base = 1e-3 * static_cast<double>(1 + seed % 4);
      curve->per_token = curve->per_request = curve->per_context = curve->beyond = curve->per_pair = 0;
    }
    pool.curve = curve;
  }
  return spec;
}

std::string run(std::uint64_t seed, Fidelity fidelity, bool stepwise, Report* report = nullptr) {
  Report result;
  std::string text = fingerprint_of(sglang_world(seed, fidelity), stepwise, &result);
  for (const ReplicaReport& r : result.replicas) {
    text += "wasted " + std::to_string(r.wasted_tokens) + " hits " + std::to_string(r.prefix.hits);
    for (const Departure& d : r.departures) text += std::string("; ") + d.what + " " + std::to_string(d.times);
    text += '\n';
  }
  if (report) *report = std::move(result);
  return text;
}

struct Totals {
  std::uint64_t leaps = 0, preempted = 0, lost = 0;
  std::int64_t hits = 0, resumed_hits = 0, wasted = 0;

  void add(const Report& report) {
    leaps += report.leaps;
    for (const ReplicaReport& r : report.replicas) {
      preempted += r.preemptions;
      hits += r.prefix.hits;
      resumed_hits += r.prefix.resumed_hits;
      wasted += r.wasted_tokens;
      for (const Departure& d : r.departures) lost += static_cast<std::uint64_t>(d.times);
    }
  }
};

Totals compare_worlds(std::uint64_t first, std::uint64_t last, Fidelity fidelity) {
  Totals totals;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    Report report;
    INFO("world " << seed << "; repeat with: POOLCAST_WORLD=" << seed << " laws \"one world of SGLang\"");
    const std::string leap = run(seed, fidelity, false, &report);
    const std::string stepwise = run(seed, fidelity, true);
    if (leap != stepwise) FAIL(first_difference(leap, stepwise));
    totals.add(report);
  }
  return totals;
}

}  // namespace

TEST_CASE("SGLang: leaps and single steps give the same bits on 400 random worlds") {
  const Totals totals = compare_worlds(1, 400, Fidelity::kMended);
  // The worlds do hold what the law is about.
  CHECK(totals.leaps > 2000);
  CHECK(totals.preempted > 1500);
  CHECK(totals.hits > 100'000);
  CHECK(totals.resumed_hits > 1000);
  CHECK(totals.wasted > 1000);
}

TEST_CASE("SGLang: leaps and single steps meet the same faults of upstream on 200 random worlds") {
  CHECK(compare_worlds(1, 200, Fidelity::kUpstream).lost > 3);
}

TEST_CASE("SGLang: every request that fits ends where the faults of upstream are mended, each token seen once") {
  std::uint64_t completed = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("world " << seed);
    SimulationSpec spec = sglang_world(seed, Fidelity::kMended);
    spec.stall_preemptions = 1'000'000;
    spec.measure = {};
    for (ClassSpec& cls : spec.classes) cls.timeout = cls.patience = kNever;
    std::vector<std::int64_t> interval;
    for (const PoolSpec& pool : spec.pools) interval.push_back(std::get<SglangArgs>(pool.engine).stream_interval);
    Recorder recorder;
    const Report report = simulate(std::move(spec), {&recorder});
    const Cell total = report.total();
    CHECK(total.outcomes.count(Outcome::kFailed) == 0);
    CHECK(total.outcomes.count(Outcome::kCompleted) + total.outcomes.count(Outcome::kRejected) ==
          total.outcomes.offered);
    completed += total.outcomes.count(Outcome::kCompleted);

    std::uint64_t gaps = 0;
    SimTime sum = 0;
    for (const RequestRecord& r : recorder.records) {
      if (r.outcome != Outcome::kCompleted) continue;
      CHECK(r.output_tokens == r.output_target);
      CHECK(r.ended == r.at.last_token);
      const std::int64_t n = interval[r.pool.value];
      gaps += static_cast<std::uint64_t>((r.output_tokens - 1 + n - 1) / n);
      sum += r.at.last_token - r.at.first_token;
    }
    const Histogram& itl = total.latencies[Metric::kItl];
    CHECK(itl.count() == gaps);
    CHECK(itl.mean() * static_cast<double>(gaps) == Approx(static_cast<double>(sum)).epsilon(1e-9));
  }
  CHECK(completed > 10'000);
}

TEST_CASE("one world of SGLang", "[.]") {
  const char* seed = std::getenv("POOLCAST_WORLD");
  const std::uint64_t world = seed ? std::strtoull(seed, nullptr, 10) : 1;
  for (const Fidelity fidelity : {Fidelity::kMended, Fidelity::kUpstream}) {
    const std::string leap = run(world, fidelity, false);
    const std::string stepwise = run(world, fidelity, true);
    if (leap != stepwise) FAIL(first_difference(leap, stepwise));
  }
  SUCCEED();
}
