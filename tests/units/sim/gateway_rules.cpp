// SPDX-License-Identifier: Apache-2.0
// Rules of the gateway, each on pools that take one request at a time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kSecond = kNanosPerSecond;
using Kind = FallbackReport::Kind;

/// Pools a, b, c, … of one model, each with steps of 100 ms, one running request and no queue.
SimulationSpec pools(std::size_t count, std::vector<double> weights = {}) {
  SimulationSpec spec = one_pool(fixed_step(0.1));
  spec.pools[0].vllm().max_num_seqs = 1;
  spec.pools[0].max_pending_requests = 0;
  spec.pools[0].name = std::string("a");
  for (std::size_t p = 1; p < count; ++p) {
    spec.pools.push_back(spec.pools[0]);
    spec.pools[p].name = std::string(1, static_cast<char>('a' + p));
    spec.models[0].implementations.push_back({.pool = PoolId(p)});
  }
  spec.routing.gateway = {"weighted", weights.empty() ? std::vector<double>(count, 1.0) : std::move(weights)};
  spec.routing.pool.resize(count);
  return spec;
}

/// A second model, on the last pool; class 0 is of the first one.
void give_last_pool_a_model(SimulationSpec& spec) {
  spec.models.push_back({.name = "other", .implementations = {spec.models[0].implementations.back()}});
  spec.models[0].implementations.pop_back();
}

struct Result {
  Report report;
  std::vector<RequestRecord> records;  ///< by row

  /// Where each request was served: 'a', 'b', …, or '-'.
  std::string pools() const {
    std::string names;
    for (const RequestRecord& r : records) names += r.pool.valid() ? static_cast<char>('a' + r.pool.value) : '-';
    return names;
  }
};

Result run(SimulationSpec spec) {
  Recorder recorder;
  Result result;
  result.report = simulate(std::move(spec), {&recorder});
  result.records = std::move(recorder.records);
  std::sort(result.records.begin(), result.records.end(), [](const auto& x, const auto& y) { return x.row < y.row; });
  return result;
}

/// Requests of ten steps (1 s) at these instants.
void add_seconds(SimulationSpec& spec, const std::vector<double>& times, std::int64_t prompt = 10) {
  std::vector<Arrival> arrivals;
  for (const double time : times) arrivals.push_back(arrival(time, prompt, 10));
  add_list(spec, std::move(arrivals));
}

}  // namespace

TEST_CASE("a tier of pools is used only while none of the tiers before it has an open pool") {
  SimulationSpec spec = pools(3);
  spec.routing.rules.priority = {1, 0, 2};
  add_seconds(spec, {0, 0.1, 0.2, 0.3, 1.05});
  CHECK(run(std::move(spec)).pools() == "bac-b");
}

TEST_CASE("a full pool with fallbacks hands its requests to them in order, each with its own list behind it") {
  SimulationSpec spec = pools(4, {1, 0, 0, 0});
  spec.routing.rules.pool_fallbacks = {{PoolId(1u), PoolId(3u)}, {PoolId(2u)}, {}, {}};
  add_seconds(spec, {0, 0.1, 0.2, 0.3, 0.4, 1.05});
  const Result result = run(std::move(spec));
  CHECK(result.pools() == "abcd-a");
  CHECK(result.records[4].reason == Reason::kQueueFull);
  const auto& ways = result.report.gateway.fallbacks;
  REQUIRE(ways.size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(ways[i].kind == Kind::kPool);
    CHECK(ways[i].from == 0);
    CHECK(ways[i].to == PoolId(i + 1));
    CHECK(ways[i].requests == 1);
  }
}

TEST_CASE("a model whose pools are full falls back to another model, and the request stays of its own") {
  SimulationSpec spec = pools(2);
  give_last_pool_a_model(spec);
  spec.routing.rules.model_fallbacks = {{ModelId(1u)}, {}};
  add_seconds(spec, {0, 0.1, 0.2});
  const Result result = run(std::move(spec));
  CHECK(result.pools() == "ab-");
  CHECK(result.records[1].model == ModelId(0u));
  REQUIRE(result.report.gateway.fallbacks.size() == 1);
  CHECK(result.report.gateway.fallbacks[0].kind == Kind::kModel);
}

TEST_CASE("a request that is too long for its model goes to the first that takes it, before it would be cut") {
  SimulationSpec spec = pools(2);
  give_last_pool_a_model(spec);
  spec.models[0].context_limit = 100;
  spec.models[0].on_too_long = TooLong::kTruncate;
  spec.routing.rules.context_fallbacks = {{ModelId(1u)}, {}};
  add_list(spec, {arrival(0, 90, 10), arrival(2, 500, 10), arrival(4, 2'000'000, 10)});
  const Result result = run(std::move(spec));
  CHECK(result.pools() == "aba");
  CHECK(result.records[1].prompt_tokens == 500);
  CHECK(result.records[2].prompt_tokens == 99);  // nobody takes it whole
  REQUIRE(result.report.gateway.fallbacks.size() == 1);
  CHECK(result.report.gateway.fallbacks[0].kind == Kind::kContextWindow);
}

TEST_CASE("requests that fail on a pool are sent to its fallback at once") {
  SimulationSpec spec = pools(2, {1, 0});
  for (PoolSpec& pool : spec.pools) {
    pool.max_pending_requests = INT64_MAX;
    pool.vllm().max_num_seqs = 8;
  }
  spec.pools[0].vllm().num_gpu_blocks = 5;  // one of them null: two requests of four blocks do not fit
  spec.stall_preemptions = 1;
  spec.routing.rules.pool_fallbacks = {{PoolId(1u)}, {}};
  add_list(spec, {arrival(0, 16, 40), arrival(0, 16, 40)});
  const Result result = run(std::move(spec));
  CHECK(result.pools() == "bb");
  for (const RequestRecord& r : result.records) {
    CHECK(r.outcome == Outcome::kCompleted);
    CHECK(r.retries == 0);
    CHECK(r.at.sent == 0);
    CHECK(r.at.routed > kSecond);
    CHECK(r.at.last_token == r.at.routed + 4 * kSecond);
  }
  CHECK(result.report.replicas[0].stalled);
  CHECK(result.report.total().outcomes.offered == 2);
}

TEST_CASE("a pool with too many failures rests, and takes requests again when its rest is over") {
  SimulationSpec spec = pools(2, {1, 0});
  spec.pools[1].max_pending_requests = 100;
  spec.routing.rules.pool_fallbacks = {{PoolId(1u)}, {}};
  CooldownSpec cooldown;
  cooldown.allowed_fails = 1;
  cooldown.failure_share = 2;
  spec.routing.rules.cooldowns = {cooldown, std::nullopt};
  add_seconds(spec, {0, 0.1, 0.2, 2, 5.1, 5.3});  // two refusals: it rests from 0.2 s to 5.2 s
  const Result result = run(std::move(spec));
  CHECK(result.pools() == "abbbba");
  const CooldownReport& report = result.report.gateway.cooldowns[0];
  CHECK(report.failures == 2);
  CHECK(report.begun == 1);
  CHECK(report.rested == 5 * kSecond);
}

TEST_CASE("a pool rests when more than the stated share of what ended in the window failed") {
  const auto begun = [](std::uint64_t min_requests) {
    SimulationSpec spec = pools(2, {1, 0});
    spec.routing.rules.pool_fallbacks = {{PoolId(1u)}, {}};
    CooldownSpec cooldown;
    cooldown.allowed_fails = UINT64_MAX;
    cooldown.min_requests = min_requests;
    spec.routing.rules.cooldowns = {cooldown, std::nullopt};
    add_seconds(spec, {0, 0.1, 1.5, 1.6, 1.7, 1.8});  // fails at 0.1, 1.6, 1.7, 1.8; completes at 1, 2.5
    return run(std::move(spec)).report.gateway.cooldowns[0].begun;
  };
  CHECK(begun(4) == 1);  // at 1.7 s: three of four
  CHECK(begun(5) == 1);  // at 1.8 s: four of five
  CHECK(begun(6) == 0);  // four of six, but nothing fails then
}

TEST_CASE("where every pool rests, requests are rejected as such") {
  SimulationSpec spec = pools(1);
  spec.classes[0].timeout = kSecond / 2;
  CooldownSpec cooldown;
  cooldown.allowed_fails = 0;
  spec.routing.rules.cooldowns = {cooldown};
  add_seconds(spec, {0, 1, 6});
  const Result result = run(std::move(spec));
  CHECK(result.records[0].reason == Reason::kTimeout);
  CHECK(result.records[1].reason == Reason::kCoolingDown);
  CHECK(result.records[2].reason == Reason::kTimeout);
}

TEST_CASE("a breaker on trial opens at one failure, and closes after enough requests in a row that complete") {
  SimulationSpec spec = pools(1);
  spec.classes[0].timeout = kSecond / 2;
  CooldownSpec breaker;
  breaker.allowed_fails = 1;
  breaker.failure_share = 2;
  breaker.trial = 1;
  breaker.rest = 10 * kSecond;
  spec.routing.rules.cooldowns = {breaker};
  // Two time-outs open it at 1.5 s; on trial at 12 s it fails, and rests until 22.5 s; at 23 s one completes; then two
  // failures are needed again.
  std::vector<Arrival> arrivals = {arrival(0, 10, 10),  arrival(1, 10, 10), arrival(5, 10, 10),  arrival(12, 10, 10),
                                   arrival(15, 10, 10), arrival(23, 10, 2), arrival(24, 10, 10), arrival(25, 10, 2),
                                   arrival(26, 10, 10), arrival(27, 10, 2)};
  add_list(spec, std::move(arrivals));
  const Result result = run(std::move(spec));
  std::string reasons;
  for (const RequestRecord& r : result.records) {
    reasons += r.reason == Reason::kNone ? '+' : r.reason == Reason::kTimeout ? 't' : 'c';
  }
  CHECK(reasons == "ttctc+t+tc");
  CHECK(result.report.gateway.cooldowns[0].begun == 3);
}

TEST_CASE("a quota of requests begins anew with each interval of the clock") {
  SimulationSpec spec = pools(1);
  spec.pools[0].max_pending_requests = 100;
  QuotaSpec quota;
  quota.limit = 2;
  quota.per = kSecond;
  spec.routing.rules.quotas = {quota};
  add_seconds(spec, {0, 0.5, 0.9, 1, 1.1, 1.2});
  const Result result = run(SimulationSpec(std::move(spec)));
  CHECK(result.pools() == "aa-aa-");
  CHECK(result.records[2].reason == Reason::kQuota);
  CHECK(result.report.gateway.quotas[0].passed == 4);
  CHECK(result.report.gateway.quotas[0].beyond == 2);
}

TEST_CASE("a quota of tokens is charged when requests end, and a shadow quota only counts") {
  for (const bool shadow : {false, true}) {
    SimulationSpec spec = pools(1);
    spec.pools[0].max_pending_requests = 100;
    QuotaSpec quota;
    quota.counts_tokens = true;
    quota.limit = 20;
    quota.per = 10 * kSecond;
    quota.shadow = shadow;
    spec.routing.rules.quotas = {quota};
    add_seconds(spec, {0, 0.5, 1.5, 10});  // 20 tokens each; the first ends at 1 s, the second at 2 s
    const Result result = run(std::move(spec));
    CHECK(result.pools() == (shadow ? "aaaa" : "aa-a"));
    CHECK(result.report.gateway.quotas[0].beyond == 1);
    CHECK(result.report.gateway.quotas[0].tokens == (shadow ? 80 : 60));
  }
}

TEST_CASE("requests beyond a quota go to the next tier, or to another model") {
  SimulationSpec tiers = pools(2);
  for (PoolSpec& pool : tiers.pools) pool.max_pending_requests = 100;
  QuotaSpec quota;
  quota.limit = 1;
  quota.per = 10 * kSecond;
  quota.beyond = QuotaSpec::Beyond::kNextTier;
  tiers.routing.rules.priority = {0, 1};
  tiers.routing.rules.quotas = {quota};
  add_seconds(tiers, {0, 0.1, 0.2});
  CHECK(run(std::move(tiers)).pools() == "abb");

  SimulationSpec models = pools(2);
  for (PoolSpec& pool : models.pools) pool.max_pending_requests = 100;
  give_last_pool_a_model(models);
  quota.beyond = QuotaSpec::Beyond::kFallback;
  models.routing.rules.model_fallbacks = {{ModelId(1u)}, {}};
  models.routing.rules.quotas = {quota};
  add_seconds(models, {0, 0.1, 0.2});
  CHECK(run(std::move(models)).pools() == "abb");
}

TEST_CASE("of several quotas that are used up the strictest holds, in whatever order they stand") {
  QuotaSpec tier, model, limit;
  tier.limit = 1;
  model.limit = 2;
  limit.limit = 3;
  tier.beyond = QuotaSpec::Beyond::kNextTier;
  model.beyond = QuotaSpec::Beyond::kFallback;
  for (QuotaSpec* quota : {&tier, &model, &limit}) quota->per = 10 * kSecond;
  const std::vector<std::vector<QuotaSpec>> orders = {{tier, model, limit}, {limit, model, tier}, {model, tier, limit}};
  for (const std::vector<QuotaSpec>& quotas : orders) {
    SimulationSpec spec = pools(3);
    for (PoolSpec& pool : spec.pools) pool.max_pending_requests = 100;
    give_last_pool_a_model(spec);
    spec.routing.rules.priority = {0, 1, 0};
    spec.routing.rules.model_fallbacks = {{ModelId(1u)}, {}};
    spec.routing.rules.quotas = quotas;
    add_seconds(spec, {0, 0.1, 0.2, 0.3, 0.4});
    CHECK(run(std::move(spec)).pools() == "abc--");
  }
}

TEST_CASE("prompts go to the pools of the first tier that their length falls in") {
  SimulationSpec spec = pools(3);
  for (PoolSpec& pool : spec.pools) pool.max_pending_requests = 100;
  spec.routing.rules.length_tiers = {{0, 100, {PoolId(2u)}}, {50, 1000, {PoolId(0u)}}, {1001, 2000, {PoolId(1u)}}};
  add_list(spec, {arrival(0, 10, 1), arrival(1, 100, 1), arrival(2, 101, 1), arrival(3, 1000, 1), arrival(4, 1001, 1)});
  CHECK(run(std::move(spec)).pools() == "ccaab");
}

TEST_CASE("the cheapest open pool is chosen, and equally cheap ones share") {
  SimulationSpec spec = pools(3);
  spec.routing.gateway = {"random", {}};
  spec.routing.rules.price = {2, 1, 3};
  add_seconds(spec, {0, 0.1, 0.2, 0.3, 1.05});
  CHECK(run(std::move(spec)).pools() == "bac-b");

  SimulationSpec equal = pools(3);
  for (PoolSpec& pool : equal.pools) pool.max_pending_requests = INT64_MAX;
  equal.routing.gateway = {"random", {}};
  equal.routing.rules.price = {1, 1, 3};
  add_seconds(equal, std::vector<double>(2000, 0.0));
  const std::string names = run(std::move(equal)).pools();
  CHECK(std::abs(std::count(names.begin(), names.end(), 'a') - 1000) < 4 * std::sqrt(500));
  CHECK(std::count(names.begin(), names.end(), 'c') == 0);
}

namespace {

/// The pool of each of 4,000 sessions, which send two requests each.
std::map<std::uint64_t, char> pools_of_sessions(const std::vector<double>& weights) {
  SimulationSpec spec = pools(weights.size(), weights);
  for (PoolSpec& pool : spec.pools) {
    pool.max_pending_requests = INT64_MAX;
    pool.vllm().max_num_seqs = 256;
  }
  spec.routing.rules.sticky = true;
  std::vector<Arrival> arrivals;
  for (std::uint64_t i = 0; i < 8000; ++i) {
    arrivals.push_back(arrival(0, 10, 1));
    arrivals.back().session = i % 4000;
  }
  add_list(spec, std::move(arrivals));
  const Result result = run(std::move(spec));
  std::map<std::uint64_t, char> homes;
  for (const RequestRecord& r : result.records) {
    const char pool = static_cast<char>('a' + r.pool.value);
    const auto [home, is_new] = homes.emplace(r.session, pool);
    CHECK(home->second == pool);
  }
  return homes;
}

}  // namespace

TEST_CASE("weights of sticky sessions are met, and sessions move only to the pool whose share grows") {
  const std::vector<std::vector<double>> ramp = {{90, 8, 2}, {90, 25, 2}, {90, 60, 2}, {90, 400, 2}};
  auto before = pools_of_sessions(ramp[0]);
  for (std::size_t step = 0; step < ramp.size(); ++step) {
    const auto after = pools_of_sessions(ramp[step]);
    const double sum = ramp[step][0] + ramp[step][1] + ramp[step][2];
    for (std::size_t p = 0; p < 3; ++p) {
      const double share = ramp[step][p] / sum;
      const auto is_here = [&](const auto& home) { return home.second == static_cast<char>('a' + p); };
      const auto count = static_cast<double>(std::count_if(after.begin(), after.end(), is_here));
      INFO("step " << step << " pool " << p << ": " << count << " of 4000, expected " << share * 4000);
      CHECK(std::abs(count - share * 4000) <= 4 * std::sqrt(share * (1 - share) * 4000));
    }
    std::map<std::string, int> moves;
    for (const auto& [session, home] : before) ++moves[std::string{home, after.at(session)}];
    CHECK(moves["aa"] + moves["bb"] + moves["cc"] + moves["ab"] + moves["cb"] == 4000);
    if (step > 0) CHECK(moves["ab"] > 300);
    before = after;
  }
}

TEST_CASE("copies load another pool, and users see nothing of them") {
  const auto world = [](bool mirrored) {
    SimulationSpec spec = random_prefix_world(11);
    spec.pools.push_back(spec.pools[0]);
    spec.pools.back().name = std::string("mirror");
    const PoolId mirror(spec.pools.size() - 1);
    spec.models[0].implementations.push_back(spec.models[0].implementations[0]);
    spec.models[0].implementations.back().pool = mirror;
    spec.routing.pool.push_back(spec.routing.pool[0]);
    spec.routing.gateway = {"weighted", std::vector<double>(spec.pools.size(), 1.0)};
    spec.routing.gateway.weights.back() = 0;
    if (mirrored) spec.routing.rules.mirrors = {{PoolId(0u), mirror, 0.5, false}};
    return spec;
  };
  const Result with = run(world(true)), without = run(world(false));
  REQUIRE(with.records.size() == without.records.size());
  for (std::size_t i = 0; i < with.records.size(); ++i) {
    CHECK(with.records[i].ended == without.records[i].ended);
    CHECK(with.records[i].at.first_token == without.records[i].at.first_token);
    CHECK(with.records[i].pool == without.records[i].pool);
    CHECK(with.records[i].cached_tokens == without.records[i].cached_tokens);
  }
  CHECK(with.report.total().outcomes.offered == without.report.total().outcomes.offered);
  CHECK(with.report.total().outcomes.accepted == without.report.total().outcomes.accepted);
  const MirrorReport& copies = with.report.gateway.mirrors[0];
  const auto originals = with.report.of_pool(PoolId(0u)).outcomes.offered;
  CHECK(copies.sent > originals / 4);
  CHECK(copies.sent <= with.records.size());
  CHECK(copies.cell.outcomes.offered + copies.refused == copies.sent);
  CHECK(copies.cell.outcomes.count(Outcome::kCompleted) > 0);
  CHECK(copies.cell.outcomes.accepted == 0);
  CHECK(with.report.replicas.back().scheduled_tokens > 0);
  CHECK(without.report.replicas.back().scheduled_tokens == 0);
}
