// SPDX-License-Identifier: Apache-2.0
// A device that runs the steps sees every request's KV grow without a gap, and one that takes as long as the curve says
// gives the same run.
#include <catch2/catch.hpp>
#include <map>

#include "sim/step_executor.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using namespace poolcast::testing;

namespace {

/// Takes as long as a curve says of its rows, and keeps the length of each request's KV.
class CurveExecutor final : public StepExecutor {
 public:
  explicit CurveExecutor(std::shared_ptr<const StepCurve> curve) : curve_(std::move(curve)) {}

  Seconds run(std::span<const StepRow> rows) override {
    StepShape shape;
    chunks_.clear();
    bool decodes = false;
    for (const StepRow& row : rows) {
      Tokens& kv = kv_[row.id.value];
      faults += row.context != 0 && kv != row.context;
      kv = row.context + row.query;
      shape.tokens += row.query;
      shape.sampled += row.samples;
      const bool decode = row.query == 1 && row.samples && last_.contains(row.id.value);
      if (decode) {
        ++shape.decode_requests;
        shape.decode_context += kv;
      } else {
        faults += decodes;  // prefill rows come first
        chunks_.push_back({row.query, row.context});
      }
      decodes = decode;
      if (row.samples) last_[row.id.value] = true;
    }
    shape.prefill = chunks_;
    return curve_->step(shape);
  }
  void forget(RequestId id) override {
    kv_.erase(id.value);
    last_.erase(id.value);
  }

  std::int64_t faults = 0;
  std::size_t held() const { return kv_.size(); }

 private:
  std::shared_ptr<const StepCurve> curve_;
  std::map<std::uint32_t, Tokens> kv_;
  std::map<std::uint32_t, bool> last_;  ///< requests that have sampled
  std::vector<PrefillChunk> chunks_;
};

/// Whole nanoseconds, so that it does not matter from where step ends are counted.
std::shared_ptr<const StepCurve> whole_nanoseconds() {
  auto curve = std::make_shared<KneeCurve>();
  curve->per_pair = 0;
  return curve;
}

}  // namespace

TEST_CASE("an executor that takes as long as the curve says gives the same run, on 200 random worlds") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SimulationSpec by_curve = random_world(seed), by_executor = random_world(seed);
    std::vector<std::shared_ptr<CurveExecutor>> executors;
    for (std::size_t p = 0; p < by_curve.pools.size(); ++p) {
      by_curve.pools[p].curve = by_executor.pools[p].curve = whole_nanoseconds();
      executors.push_back(std::make_shared<CurveExecutor>(whole_nanoseconds()));
      by_executor.pools[p].executor = executors.back();
    }
    INFO("world " << seed);
    const std::string expected = fingerprint_of(std::move(by_curve), true);
    const std::string got = fingerprint_of(std::move(by_executor), false);
    if (got != expected) FAIL_CHECK(first_difference(got, expected));
    for (const auto& executor : executors) {
      CHECK(executor->faults == 0);
      CHECK(executor->held() == 0);
    }
  }
}
