// SPDX-License-Identifier: Apache-2.0
// Policies of other products, by hand-computed decisions.
#include <map>
#include <numeric>
#include <set>

#include <catch2/catch.hpp>

#include "sim/routing/aliases.h"
#include "sim/routing/hash_ring.h"
#include "sim/routing/pipeline.h"
#include "sim/routing/registry.h"

using namespace poolcast;
using namespace poolcast::routing;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Value map(const std::vector<std::pair<std::string, double>>& numbers) {
  std::vector<std::pair<std::string, Value>> entries;
  for (const auto& [key, number] : numbers) entries.emplace_back(key, number_value(number));
  return map_value(std::move(entries));
}

/// A policy over `size` endpoints, whose columns the test sets.
struct Running {
  Endpoints e;
  Pipeline pipeline;
  std::vector<std::uint32_t> all;

  Running(const std::string& name, std::size_t size, const Value& parameters = {}, std::uint64_t seed = 1)
      : pipeline(find_alias(name)->make(parameters), seed, "test"), all(size) {
    e.reset(size);
    std::iota(all.begin(), all.end(), 0u);
    pipeline.bind(e);
  }
  void prefix(std::vector<std::int64_t> matches, std::int64_t total, std::int64_t block = 16) {
    for (std::size_t i = 0; i < matches.size(); ++i) {
      e.prefix[i] = {matches[i], total, block};
      e.uncached_tokens[i] = (total - matches[i]) * block;
    }
  }
  std::uint32_t choose(const RequestView& request) { return *pipeline.decide(request, e, all).endpoint; }
  /// Everything that ten tries, each from scratch, come to.
  static std::set<std::uint32_t> choices(const std::string& name, const Endpoints& e, const RequestView& request,
                                         const Value& parameters = {}) {
    std::set<std::uint32_t> found;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Running r(name, e.size(), parameters, seed);
      r.e = e;
      found.insert(r.choose(request));
    }
    return found;
  }
};

RequestView prompt(std::int64_t tokens, std::uint64_t session = RequestView::kNoSession) {
  RequestView view;
  view.prompt_tokens = tokens;
  view.output_tokens = 100;
  view.session = session;
  return view;
}

using Set = std::set<std::uint32_t>;

}  // namespace

TEST_CASE("dynamo-kv: the lowest prefill blocks, less the cached ones, plus decode blocks") {
  Running r("dynamo-kv", 3);
  r.e.kv_blocks = {1000, 1000, 1000};
  r.prefix({0, 8, 2}, 10);
  r.e.in_flight_tokens = {0, 160, 64};
  r.e.kv_usage = {0.010, 0.005, 0.002};
  // 10 + 10; (10 + 10 - 8) + 5 = 17; (4 + 10 - 2) + 2 = 14
  CHECK(r.choose(prompt(160)) == 2);
  // With half the weight on prefill: 5 + 10 = 15, 6 + 5 = 11, 6 + 2 = 8; with four times: 50, 53, 50: 0 and 2 tie.
  CHECK(Running::choices("dynamo-kv", r.e, prompt(160), map({{"router-prefill-load-scale", 4}})) == Set{0, 2});
  // Without credit: 20, 25, 16.
  CHECK(Running::choices("dynamo-kv", r.e, prompt(160), map({{"router-kv-overlap-score-credit", 0}})) == Set{2});
  // Credit 2 takes all that is there and no more: 20, max(20 - 16, 0) + 5 = 9, 10 + 2 = 12.
  CHECK(Running::choices("dynamo-kv@overlap-weight", r.e, prompt(160), map({{"overlap_score_weight", 2}})) == Set{1});
}

TEST_CASE("dynamo-kv draws by softmax of the cost over its range when it has a temperature") {
  Running r("dynamo-kv", 2, map({{"router-temperature", 0.5}}));
  r.prefix({5, 0}, 10);
  int first = 0;
  for (int i = 0; i < 4000; ++i) first += r.choose(prompt(160)) == 0;
  // Scores 1 and 0: p = 1 / (1 + exp(-2)) = 0.8808; 4000 draws have a deviation of 20.5.
  CHECK(first == Approx(3523).margin(83));
}

TEST_CASE("lmetric: prefill blocks times running requests and one") {
  Running r("lmetric", 2);
  r.prefix({0, 5}, 10);
  r.e.running = {1, 4};
  CHECK(r.choose(prompt(160)) == 0);  // 10 x 2 against 5 x 5
  r.e.running = {1, 2};
  CHECK(r.choose(prompt(160)) == 1);  // 20 against 15
}

TEST_CASE("prefix-hash: one prompt goes to one endpoint, until that has more than 1.25 times the mean") {
  const std::vector<std::uint64_t> blocks = {11, 12, 13, 14}, longer = {11, 12, 13, 14, 15, 16};
  Running r("prefix-hash", 4, map({{"prefix_token_count", 64}}));
  RequestView view = prompt(64);
  view.blocks = blocks;
  view.block_tokens = 16;
  const std::uint32_t home = r.choose(view);
  RequestView long_view = view;
  long_view.blocks = longer;
  CHECK(r.choose(long_view) == home);  // the first 64 tokens are the same
  r.e.in_flight_requests.assign(4, 4);
  r.e.in_flight_requests[home] = 5;  // mean 4.25, most 5.3
  CHECK(r.choose(view) == home);
  r.e.in_flight_requests[home] = 6;  // mean 4.5, most 5.625
  const std::uint32_t next = r.choose(view);
  CHECK(next != home);
  CHECK(r.choose(view) == next);
}

TEST_CASE("session: a ring keeps sessions where they are when an endpoint leaves, and spreads the rest evenly") {
  Running r("session", 5);
  std::vector<std::uint32_t> before;
  std::vector<int> counts(5);
  for (std::uint64_t s = 0; s < 2000; ++s) {
    before.push_back(r.choose(prompt(10, s)));
    ++counts[before.back()];
  }
  for (const int count : counts) CHECK(count == Approx(400).margin(140));
  r.all = {0, 1, 3, 4};
  for (std::uint64_t s = 0; s < 2000; ++s) {
    const std::uint32_t now = r.choose(prompt(10, s));
    if (before[s] != 2) CHECK(now == before[s]);
  }
}

TEST_CASE("session: a request without one goes to the fewest requests of the last minute") {
  Running r("session", 2);
  RequestView view = prompt(10, 7);
  const std::uint32_t home = r.choose(view);
  for (int i = 0; i < 3; ++i) CHECK(r.choose(view) == home);
  RequestView without = prompt(10);
  without.now_ns = 30 * kSecond;
  for (int i = 0; i < 4; ++i) CHECK(r.choose(without) == 1 - home);  // until both have four
  without.now_ns = 61 * kSecond;                                     // those of home are older than a minute
  for (int i = 0; i < 4; ++i) CHECK(r.choose(without) == home);
}

TEST_CASE("manual: sessions stay, new ones go by assignment_mode, and one that idled too long is assigned anew") {
  Running r("manual", 3,
            map_value({{"max_idle_secs", number_value(100)}, {"assignment_mode", text_value("min_group")}}));
  Set homes;
  for (std::uint64_t s = 0; s < 3; ++s) homes.insert(r.choose(prompt(10, s)));
  CHECK(homes.size() == 3);  // the endpoint with the fewest sessions, each time
  RequestView later = prompt(10, 0);
  const std::uint32_t home = r.choose(later);
  later.now_ns = 100 * kSecond;
  CHECK(r.choose(later) == home);
  r.all = {(home + 1) % 3};
  CHECK(r.choose(later) == (home + 1) % 3);  // its endpoint is not there
  r.all = {0, 1, 2};
  CHECK(r.choose(later) == (home + 1) % 3);
  later.now_ns = 201 * kSecond;
  CHECK(r.choose(later) == home);  // idle for 101 s; home has no session by now
}

TEST_CASE("power-of-two@smg takes the lower use of the KV cache of two at random") {
  Running r("power-of-two@smg", 3);
  r.e.kv_usage = {0.9, 0.5, 0.1};
  std::map<std::uint32_t, int> counts;
  for (int i = 0; i < 3000; ++i) ++counts[r.choose(prompt(10))];
  CHECK(counts[0] == 0);  // it loses to both
  CHECK(counts[2] == Approx(2000).margin(110));
}

TEST_CASE("prefix-cache of AIBrix: the longest match among those not overloaded, unless the load is uneven") {
  Running r("prefix-cache", 4);
  r.prefix({2, 9, 0, 5}, 10);
  r.e.in_flight_requests = {1, 7, 1, 2};  // mean 2.75, deviation 2.49: 1 is above
  CHECK(r.choose(prompt(160)) == 3);
  r.e.in_flight_requests = {3, 4, 3, 4};  // mean 3.5, deviation 0.5: 4 is at the limit
  CHECK(r.choose(prompt(160)) == 1);
  r.e.in_flight_requests = {9, 9, 0, 9};  // a difference of 9
  CHECK(r.choose(prompt(160)) == 2);
  r.prefix({0, 0, 0, 0}, 10);
  r.e.in_flight_requests = {3, 2, 2, 4};
  CHECK(Running::choices("prefix-cache", r.e, prompt(160)) == Set{1, 2});
}

TEST_CASE("load-balance of AIBrix: running requests over completions of the last minute, ties by KV use") {
  Running r("load-balance", 2);
  r.e.in_flight_requests = {8, 8};
  r.e.running = {8, 4};
  CHECK(r.choose(prompt(10)) == 1);  // nothing is known yet: 8 against 4
  r.e.in_flight_requests = {2, 8};   // 0 completed six; 1 completed one, of the nine that it had
  RequestView view = prompt(10);
  view.now_ns = 10 * kSecond;
  CHECK(r.choose(view) == 0);  // 8 / 6 against 4 / 1
  r.e.in_flight_requests = {3, 8};
  view.now_ns = 71 * kSecond;  // that is more than a minute ago
  CHECK(r.choose(view) == 1);
  r.e.in_flight_requests = {3, 9};
  r.e.running = {4, 4};
  r.e.kv_usage = {0.5, 0.4};
  CHECK(r.choose(view) == 1);
}

TEST_CASE("usage-based: the fewest tokens in this minute of the clock") {
  Running r("usage-based", 2);
  const std::uint32_t first = r.choose(prompt(1000));  // 1,100 with its output
  CHECK(r.choose(prompt(100)) == 1 - first);           // 200
  CHECK(r.choose(prompt(100)) == 1 - first);           // 400
  CHECK(r.choose(prompt(1000)) == 1 - first);          // 1,500
  CHECK(r.choose(prompt(10)) == first);                // 1,100 before
  RequestView next = prompt(10);
  next.now_ns = 60 * kSecond;
  const std::uint32_t anew = r.choose(next);
  CHECK(r.choose(next) == 1 - anew);
}

TEST_CASE("kv-aware, loadaware, prefix-aware and cache-aware follow their thresholds") {
  Running r("kv-aware", 2);
  r.prefix({100, 0}, 300);  // 3,200 of 4,800 tokens are left at best
  r.e.in_flight_requests = {5, 1};
  CHECK(Running::choices("kv-aware", r.e, prompt(4800)) == Set{1});
  CHECK(Running::choices("kv-aware", r.e, prompt(4800), map({{"kv-aware-threshold", 3200}})) == Set{0});
  // 1/3 - 1 against 0 - 1/5; with beta 0.4: 1/3 - 0.4 against -0.08; with 0.3: 0.033 against -0.06
  CHECK(Running::choices("loadaware", r.e, prompt(4800)) == Set{1});
  CHECK(Running::choices("loadaware", r.e, prompt(4800), map({{"beta", 0.4}})) == Set{0});
  CHECK(Running::choices("loadaware", r.e, prompt(4800), map({{"beta", 0.5}})) == Set{1});
  CHECK(Running::choices("prefix-aware@production-stack", r.e, prompt(4800)) == Set{0});
  CHECK(Running::choices("prefix-aware@production-stack", r.e, prompt(4800),
                         map({{"prefix-min-match-length", 6404}})) == Set{1});  // 1,601 tokens, and 1,600 match
  CHECK(Running::choices("prefix-aware@ray", r.e, prompt(4800)) == Set{0});
  CHECK(Running::choices("prefix-aware@ray", r.e, prompt(4800), map({{"match_rate_threshold", 0.4}})) == Set{1});
  CHECK(Running::choices("prefix-aware@ray", r.e, prompt(4800), map({{"imbalanced_threshold", 3}})) == Set{1});
  CHECK(Running::choices("cache-aware@smg-cli", r.e, prompt(4800)) == Set{0});
  CHECK(Running::choices("cache-aware@smg-struct", r.e, prompt(4800)) == Set{1});
  CHECK(Running::choices("cache-aware@smg-cli", r.e, prompt(4800), map({{"balance_abs_threshold", 3}})) == Set{1});
}

TEST_CASE("a policy refuses a parameter that it has not, or a value that is out of range") {
  CHECK_THROWS_AS(find_alias("dynamo-kv")->make(map({{"overlap_score_weight", 1}})), ParameterFault);
  CHECK_THROWS_AS(find_alias("prefix-hash")->make(map({{"load_factor", 0.5}})), ParameterFault);
  CHECK_NOTHROW(find_alias("prefix-hash")->make(map({{"load_factor", 2}})));
}

TEST_CASE("expressions read the limits of the request's model") {
  const Value parameters = map_value({{"expression", text_value("request.prompt_tokens * 2 > model.context_limit ? "
                                                                "endpoint.waiting : 0")}});
  const auto plugin = make_plugin(*find_plugin("expr-scorer"), parameters, {.random = RandomStream(1, "x")});
  Endpoints e;
  e.reset(1);
  e.waiting[0] = 1;
  const std::vector<std::uint32_t> one = {0};
  std::vector<double> score(1);
  RequestView view = prompt(600);
  view.model_context_limit = 1000;
  dynamic_cast<Scorer&>(*plugin).score(view, e, one, score);
  CHECK(score[0] == 1);
  view.model_context_limit = INT64_MAX;
  dynamic_cast<Scorer&>(*plugin).score(view, e, one, score);
  CHECK(score[0] == 0);
}

TEST_CASE("bucket: ranges of lengths that would have got the same tokens in the last interval") {
  Running r("bucket", 3);
  const auto at = [](std::int64_t tokens, std::int64_t second) {
    RequestView view = prompt(tokens);
    view.now_ns = second * kSecond;
    return view;
  };
  // Before anything is known: the least loaded.
  r.e.in_flight_requests = {2, 1, 2};
  CHECK(r.choose(at(100, 0)) == 1);
  // 600 tokens in all. A third of them is reached with the second prompt of 100, two thirds with that of 250.
  for (const std::int64_t tokens : {100, 150, 250}) r.choose(at(tokens, 1));
  r.e.in_flight_requests = {0, 0, 0};
  CHECK(r.choose(at(99, 5)) == 0);
  CHECK(r.choose(at(120, 6)) == 1);
  CHECK(r.choose(at(249, 6)) == 1);
  CHECK(r.choose(at(251, 6)) == 2);
  CHECK(r.choose(at(100'000, 6)) == 2);
  // A length at a border belongs to both sides.
  Set found;
  for (int i = 0; i < 40; ++i) found.insert(r.choose(at(100, 7)));
  CHECK(found == Set{0, 1});
  // Uneven by more than 32: the least loaded. By 32: not yet.
  r.e.in_flight_requests = {40, 8, 9};
  CHECK(r.choose(at(99, 7)) == 0);
  r.e.in_flight_requests = {41, 8, 9};
  CHECK(r.choose(at(99, 7)) == 1);
  // The owner is not open.
  r.e.in_flight_requests = {0, 5, 4};
  r.all = {1, 2};
  CHECK(r.choose(at(99, 7)) == 2);
}

TEST_CASE("bucket: borders are set anew at each interval, and stay where nothing was sent") {
  Running r("bucket", 2, map({{"bucket_adjust_interval_secs", 10}}));
  const auto at = [&](std::int64_t tokens, std::int64_t second) {
    RequestView view = prompt(tokens);
    view.now_ns = second * kSecond;
    return r.choose(view);
  };
  for (const std::int64_t tokens : {10, 20, 30, 60}) at(tokens, 1);  // 120: half of them at 30
  CHECK(at(25, 100) == 0);
  CHECK(at(31, 100) == 1);
  for (int i = 0; i < 4; ++i) at(1000, 101);
  CHECK(at(900, 110) == 0);  // of 4056 tokens half is passed at 1000
  CHECK(at(1001, 115) == 1);
}

TEST_CASE("least-busy-time and least-utilization: the least busy, equals at random") {
  Running r("least-busy-time", 3);
  r.e.busy = {0.5, 0.2, 0.9};
  r.e.in_flight_requests = {0, 50, 0};
  CHECK(r.choose(prompt(10)) == 1);
  r.e.busy = {0.2, 0.2, 0.9};
  CHECK(Running::choices("least-utilization", r.e, prompt(10)) == Set{0, 1});
}

TEST_CASE("slo-least-load and slo-pack-load: the fewest and the most of those predicted to meet both objectives") {
  Running least("slo-least-load", 4), pack("slo-pack-load", 4);
  const auto see = [&](std::vector<std::pair<double, double>> headroom, std::vector<std::int64_t> load) {
    for (Running* r : {&least, &pack}) {
      r->e.latency.resize(4);
      for (std::size_t i = 0; i < 4; ++i) {
        r->e.latency[i] = {true, headroom[i].first, headroom[i].second, 100, 10, load[i]};
      }
      r->e.in_flight_requests = load;
    }
  };
  see({{5, 5}, {0, 0}, {-1, 50}, {50, -1}}, {3, 7, 9, 0});
  CHECK(least.choose(prompt(10)) == 0);
  CHECK(pack.choose(prompt(10)) == 1);
  see({{-5, 5}, {-1, 0}, {-1, 50}, {50, -1}}, {3, 7, 9, 1});  // nobody meets both
  CHECK(least.choose(prompt(10)) == 3);
  CHECK(pack.choose(prompt(10)) == 3);
}
