// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layout.h"
#include "models/precision.h"
#include "models/units.h"
#include "scenarios/yaml.h"
#include "sim/gate_spec.h"
#include "sim/request.h"

/// What a service contract promises, and what the catalog knows of an implementation, as plain values. A contract never
/// promises that two implementations give equal tokens, latency or cost.
namespace poolcast {

/// Of one request, in tokens.
struct LengthLimits {
  std::int64_t context = INT64_MAX;  ///< prompt plus output
  std::int64_t input = INT64_MAX;
  std::int64_t output = INT64_MAX;

  bool operator==(const LengthLimits&) const = default;
};

/// Where requests of a class may be seen: in these regions, and by these pools. An empty list leaves it open.
struct DataHandling {
  std::string name;
  std::vector<std::string> regions, pools;
  YamlNode at;
};

/// What a client is told of a request that did not complete.
struct ErrorCategory {
  std::string name;
  std::vector<Reason> reasons;
  bool retry = false;  ///< it may send the request again
};

/// The economics gate. The cost of an implementation is that of one replica which is always busy with requests alike:
///
///   seconds per request = ( step(prefill of the prompt) + output * step(batch decodes at prompt + output / 2) / batch
///   )
///                         / data-parallel ranks
///   $ per million output tokens = price of a replica per hour / 3600 * seconds per request / output * 10^6
///
/// by the pool's own curve, with at most as many decodes as its engine runs. Idle time comes on top of it in a run.
struct CostRule {
  std::int64_t prompt_tokens = 1024, output_tokens = 256, batch = 32;
  std::optional<Dollars> per_million_tokens;  ///< at most
  std::optional<double> margin;               ///< at most so much above the cost of `incumbent`
  std::string incumbent;                      ///< a pool
  YamlNode at;
};

struct ServiceContract {
  std::string schema;             ///< of a request, by reference
  std::optional<bool> streaming;  ///< nothing: it promises neither
  std::optional<bool> cancellation;
  std::vector<DataHandling> data_handling;
  std::vector<ErrorCategory> errors;  ///< a reason in none of them may be tried again
  std::vector<std::string> metadata;  ///< what an answer tells of who served it
  std::optional<CostRule> cost;
  std::string compatibility_pool;  ///< empty: none

  /// The stated category by which a request that failed for this reason is not sent again; null: none.
  const ErrorCategory* barring_retry(Reason reason) const;
};

/// What `metadata` may name: pool, artifact, version, status, accelerator, region.
const std::vector<std::string_view>& metadata_names();

struct Artifact {
  std::string name;
  std::string digest;  ///< "sha256:" and 64 hexadecimal digits; empty: not stated
  std::optional<Precision> precision;
  std::optional<Layout> layout;  ///< that it was built for
  std::string sbom;              ///< software bill of materials, by reference

  bool operator==(const Artifact&) const = default;
};

/// One run of an evaluation suite.
struct EvaluationResult {
  std::string suite;  ///< empty: that of the model
  std::optional<double> score;
  std::optional<std::int64_t> samples;
  std::optional<double> threshold;  ///< its own, beside that of the model
  std::string date;

  bool operator==(const EvaluationResult&) const = default;
};

/// What happened to an implementation, and when.
struct HistoryEntry {
  std::string date, event;

  bool operator==(const HistoryEntry&) const = default;
};

/// The newest result of a suite, by date, then by place in the list; null when there is none. The model's own suite is
/// `suite`; a result that names no suite is one of it.
const EvaluationResult* newest_result(const std::vector<EvaluationResult>& results, const std::string& suite);

/// Why a score does not pass: kEvaluationMissing, kEvaluationSamples, kBelowThreshold, kNotConfident; kNone when it
/// does. `result` may be null.
Reason judge_evaluation(const EvaluationResult* result, double threshold, double confidence);

/// The lower end of Wilson's interval of the score; nothing without a score that is a share of samples.
std::optional<double> score_bound(const EvaluationResult* result, double confidence);

}  // namespace poolcast
