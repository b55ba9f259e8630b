// SPDX-License-Identifier: Apache-2.0
#include "sim/retries.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

constexpr SimTime kSecond = kNanosPerSecond;
constexpr SimTime kMs = kSecond / 1000;

/// One request at a time, no queue, steps of 100 ms; clients wait 1 s, 2 s, 4 s, … and try three times more.
SimulationSpec narrow_pool() {
  SimulationSpec spec = one_pool(fixed_step(0.1));
  spec.pools[0].vllm().max_num_seqs = 1;
  spec.pools[0].max_pending_requests = 0;
  RetrySpec& retry = spec.classes[0].retry;
  retry.max = 3;
  retry.backoff = kSecond;
  retry.factor = 2;
  retry.jitter = 0;
  return spec;
}

struct Result {
  Report report;
  std::vector<RequestRecord> records;  ///< by row
  const RetryReport& retries() const { return report.gateway.retries[0]; }
};

Result run(SimulationSpec spec) {
  Result result;
  result.records = records_by_row(std::move(spec), &result.report);
  return result;
}

}  // namespace

TEST_CASE("a rejected request is sent again after growing backoffs, and its latency counts from the first time") {
  SimulationSpec spec = narrow_pool();
  add_list(spec, {arrival(0, 10, 25), arrival(0, 10, 5)});  // the first one takes 2.5 s
  const Result result = run(std::move(spec));
  const RequestRecord& r = result.records[1];  // tries at 0 s, 1 s and 3 s
  CHECK(r.outcome == Outcome::kCompleted);
  CHECK(r.retries == 2);
  CHECK(r.at.sent == 0);
  CHECK(r.at.routed == 3 * kSecond);
  CHECK(r.at.first_token == 3 * kSecond + 100 * kMs);
  CHECK(value_of(Metric::kE2e, r) == 3 * kSecond + 500 * kMs);
  CHECK(result.report.total().outcomes.offered == 2);
  CHECK(result.report.total().outcomes.count(Outcome::kCompleted) == 2);
  CHECK(result.retries().attempts == 4);
  CHECK(result.retries().retries == 2);
  CHECK(result.retries().exhausted == 0);
}

TEST_CASE("a request that was sent as often as allowed is rejected when its last try is") {
  SimulationSpec spec = narrow_pool();
  add_list(spec, {arrival(0, 10, 1000), arrival(0, 10, 5)});
  const Result result = run(std::move(spec));
  const RequestRecord& r = result.records[1];  // tries at 0 s, 1 s, 3 s and 7 s
  CHECK(r.outcome == Outcome::kRejected);
  CHECK(r.reason == Reason::kQueueFull);
  CHECK(r.ended == 7 * kSecond);
  CHECK(r.retries == 3);
  CHECK(result.retries().exhausted == 1);
  CHECK(result.report.in_system_ns == static_cast<std::int64_t>(100 * kSecond + 7 * kSecond));
}

TEST_CASE("what is not a reason to try again ends a request at once") {
  SimulationSpec spec = narrow_pool();
  spec.classes[0].retry.reasons = {Reason::kTimeout};
  add_list(spec, {arrival(0, 10, 1000), arrival(0, 10, 5)});
  const Result result = run(std::move(spec));
  CHECK(result.records[1].ended == 0);
  CHECK(result.retries().retries == 0);
}

TEST_CASE("the budget is a share of what was first sent in the last window, and its retries are counted in it") {
  SimulationSpec spec = narrow_pool();
  spec.classes[0].retry.max = 1;
  spec.classes[0].retry.budget = 0.2;
  spec.classes[0].retry.window = 10 * kSecond;
  std::vector<Arrival> arrivals = {arrival(0, 10, 1000)};
  for (int i = 0; i < 9; ++i) arrivals.push_back(arrival(0.1 + 0.1 * i, 10, 5));  // all refused
  arrivals.push_back(arrival(20, 10, 5));  // alone in its window: 0.2 of one request is no retry
  add_list(spec, std::move(arrivals));
  const Result result = run(std::move(spec));
  // Each refusal may be retried once sends * 0.2 >= retries + 1: at the fifth and the tenth request.
  for (std::size_t row = 1; row <= 10; ++row) {
    INFO("row " << row);
    CHECK(result.records[row].retries == (row == 4 || row == 9 ? 1 : 0));
  }
  CHECK(result.retries().retries == 2);
  CHECK(result.retries().denied == 8);
  CHECK(result.retries().exhausted == 2);
}

TEST_CASE("a time-out is of one try and patience of all, and no retry comes after it") {
  SimulationSpec spec = narrow_pool();
  spec.pools[0].max_pending_requests = INT64_MAX;
  spec.classes[0].timeout = 2 * kSecond;
  spec.classes[0].patience = 5 * kSecond;
  add_list(spec, {arrival(0, 10, 15), arrival(0, 10, 15)});  // 1.5 s each, one after the other
  const Result late = run(std::move(spec));
  const RequestRecord& r = late.records[1];  // begins at 1.5 s, times out at 2 s, comes again at 3 s
  CHECK(r.outcome == Outcome::kCompleted);
  CHECK(r.retries == 1);
  CHECK(r.at.first_token == 3 * kSecond + 100 * kMs);
  CHECK(late.retries().lost_tokens == 14);  // ten of the prompt and the first four outputs, each with its KV

  SimulationSpec impatient = narrow_pool();
  impatient.classes[0].patience = 2500 * kMs;
  add_list(impatient, {arrival(0, 10, 1000), arrival(0, 10, 5)});
  const Result gone = run(std::move(impatient));
  CHECK(gone.records[1].retries == 1);  // the second would come at 3 s
  CHECK(gone.records[1].ended == kSecond);
  CHECK(gone.retries().too_late == 1);
}

TEST_CASE("backoffs differ by at most the jitter, are capped, and depend on the request alone") {
  ClassSpec cls;
  cls.name = std::string("class");
  cls.model = ModelId(0u);
  cls.retry.max = 100;
  SimulationSpec spec = one_pool(fixed_step(0.1));
  spec.classes = {cls};
  Retries retries(spec), others(spec);
  RequestRecord record;
  record.source = SourceId(0u);
  record.cls = ClassId(0u);
  record.at.sent = 0;
  record.reason = Reason::kQueueFull;
  double expected = 50e6, least = 2, most = 0;
  for (record.retries = 0; record.retries < 40; ++record.retries) {
    for (record.row = 0; record.row < 50; ++record.row) {
      const SimTime due = retries.again(record, kNever, 0).value();
      const double ratio = static_cast<double>(due) / std::min(expected, 30e9);
      least = std::min(least, ratio);
      most = std::max(most, ratio);
    }
    expected *= 1.5;
  }
  CHECK(least >= 0.8 - 1e-6);
  CHECK(least < 0.81);
  CHECK(most <= 1.2);
  CHECK(most > 1.19);
  record.retries = 3;
  record.row = 7;
  CHECK(others.again(record, kNever, 0) == retries.again(record, kNever, 0));
}
