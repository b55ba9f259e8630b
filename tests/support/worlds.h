// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/report.h"
#include "sim/request.h"
#include "sim/simulation.h"
#include "sim/spec.h"

/// Small simulations for tests: fake curves and sources, and builders of specs.
namespace poolcast::testing {

/// Step time that is piecewise linear and convex in the decode context: base + per_token * prefill tokens
/// + per_request * decodes + per_context * context, the context term growing faster beyond `knee` per request.
struct KneeCurve : StepCurve {
  double base = 1e-3, per_token = 1e-6, per_request = 1e-5, per_context = 1e-8, beyond = 3e-8, per_pair = 1e-10;
  double knee = 1e18;

  Seconds step(const StepShape& shape) const override;
  DecodeLine decode_line(std::int64_t requests, Tokens context) const override;
  bool in_range(const StepShape& shape) const override { return shape.decode_context <= 100'000'000; }
  std::vector<StepTerm> terms(const StepShape& shape) const override { return {{"all", step(shape)}}; }
  std::string provenance() const override { return "fake: knee"; }
};

/// Brings a given list of arrivals, which must be in order of time.
class ListSource : public Source {
 public:
  explicit ListSource(std::vector<Arrival> arrivals) : arrivals_(std::move(arrivals)) {}
  SimTime peek() override { return next_ < arrivals_.size() ? arrivals_[next_].intended : kNever; }
  Arrival pop() override {
    arrivals_[next_].row = next_;
    return arrivals_[next_++];
  }

 private:
  std::vector<Arrival> arrivals_;
  std::size_t next_ = 0;
};

/// Keeps every record.
struct Recorder : Observer {
  std::vector<RequestRecord> records;
  void request_ended(const RequestRecord& record) override { records.push_back(record); }
};

/// One model, one class, one pool of `replicas` with this curve; no source yet.
SimulationSpec one_pool(std::shared_ptr<const StepCurve> curve, std::int32_t replicas = 1);
/// A fixed step of `seconds`, whatever it holds.
std::shared_ptr<const StepCurve> fixed_step(double seconds);

/// Runs a world; its records by row.
std::vector<RequestRecord> records_by_row(SimulationSpec spec, Report* report = nullptr);

void add_list(SimulationSpec& spec, std::vector<Arrival> arrivals);
Arrival arrival(double at_s, std::int64_t prompt, std::int64_t output, std::int32_t priority = 0);

/// A random world, the same for the same seed: tiny to roomy caches, storms, priorities, ties, long prompts, several
/// pools and classes, deadlines, capped clients.
SimulationSpec random_world(std::uint64_t seed);
/// The same with prefix caches, on most pools, and requests that share prefixes and quote each other's outputs.
SimulationSpec random_prefix_world(std::uint64_t seed);
/// The same with steps of whole milliseconds, so that their ends meet the instants of arrivals, delays and scrapes.
SimulationSpec whole_milliseconds(std::uint64_t seed);
/// The same with some pools that only prefill and some that only decode, over links that they share.
SimulationSpec random_disaggregated_world(std::uint64_t seed);

/// Gives the vLLM pools of a world a `stream_interval` above 1, most of them.
void send_in_bundles(SimulationSpec& spec, std::uint64_t seed);

/// The same with pipelines and data-parallel ranks on most pools, and vLLM's own balancer among the policies.
SimulationSpec random_layout_world(std::uint64_t seed);

/// Lets the vLLM pools of a world plan ahead; every third world has steps of whole milliseconds, so that arrivals meet
/// their ends.
void plan_ahead(SimulationSpec& spec, std::uint64_t seed);
/// Gives the vLLM pools of a world speculative decoding.
void speculate(SimulationSpec& spec, std::uint64_t seed);

/// Lets the vLLM pools of a world keep KV on their hosts.
void offload(SimulationSpec& spec, std::uint64_t seed);

/// Every figure of a report and of its records that must not depend on how the run was cut into leaps, as text.
std::string fingerprint(const Report& report, const std::vector<RequestRecord>& records);
/// Runs a world, in leaps or in single steps, and takes its fingerprint.
std::string fingerprint_of(SimulationSpec spec, bool stepwise, Report* report = nullptr);
/// The first line in which the fingerprints of leaps and of single steps differ, for a message of readable length.
std::string first_difference(const std::string& leap, const std::string& stepwise);

}  // namespace poolcast::testing
