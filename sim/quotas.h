// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/gateway_report.h"
#include "sim/gateway_rules.h"
#include "sim/request.h"

namespace poolcast {

/// Counts what passes the gateway against its quotas (QuotaSpec).
class Quotas {
 public:
  explicit Quotas(const std::vector<QuotaSpec>& specs) : states_(specs.begin(), specs.end()) {}

  bool any() const { return !states_.empty(); }

  /// What becomes of a request, by the strictest of the quotas that it is beyond of.
  struct Verdict {
    bool beyond = false;
    QuotaSpec::Beyond what = QuotaSpec::Beyond::kReject;
  };
  /// A request comes to the gateway. One that is rejected uses up nothing.
  Verdict arrived(const RequestRecord& request, SimTime now);
  /// A try that brought a token has ended.
  void ended(const RequestRecord& request, SimTime now);

  std::vector<QuotaReport> report() const;

 private:
  struct State {
    explicit State(const QuotaSpec& s) : spec(s) {}
    QuotaSpec spec;
    std::int64_t interval = 0;  ///< ordinal
    std::int64_t used = 0;      ///< in it
    QuotaReport report;
  };
  static bool applies(const QuotaSpec& spec, const RequestRecord& request);
  static void advance(State& state, SimTime now);

  std::vector<State> states_;
};

}  // namespace poolcast
