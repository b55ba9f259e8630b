// SPDX-License-Identifier: Apache-2.0
#include "sim/routing/expression_fields.h"

#include <limits>

namespace poolcast::routing {
namespace {

using Indices = std::span<const std::uint32_t>;

template <auto kColumn>
void read_column(const Endpoints& endpoints, Indices candidates, double* values) {
  const auto& column = endpoints.*kColumn;
  for (std::size_t i = 0; i < candidates.size(); ++i) values[i] = static_cast<double>(column[candidates[i]]);
}

template <auto kMember>
void read_prefix(const Endpoints& endpoints, Indices candidates, double* values) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    values[i] = static_cast<double>(endpoints.prefix[candidates[i]].*kMember);
  }
}

void read_share(const Endpoints& endpoints, Indices candidates, double* values) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const PrefixMatch& m = endpoints.prefix[candidates[i]];
    values[i] = m.total_blocks > 0 ? static_cast<double>(m.match_blocks) / static_cast<double>(m.total_blocks) : 0;
  }
}

void read_busy(const Endpoints& endpoints, Indices candidates, double* values) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    values[i] = endpoints.busy.empty() ? 0 : endpoints.busy[candidates[i]];
  }
}

/// Without predictions there is no value.
template <auto kMember>
void read_prediction(const Endpoints& endpoints, Indices candidates, double* values) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool known = !endpoints.latency.empty() && endpoints.latency[candidates[i]].known;
    values[i] = known ? endpoints.latency[candidates[i]].*kMember : std::numeric_limits<double>::quiet_NaN();
  }
}

double limit_of(std::int64_t tokens) {
  return tokens == INT64_MAX ? std::numeric_limits<double>::infinity() : static_cast<double>(tokens);
}

}  // namespace

const std::vector<RequestField>& request_fields() {
  static const std::vector<RequestField> kFields = {
      {"output_tokens", [](const RequestView& r) { return static_cast<double>(r.output_tokens); }},
      {"priority", [](const RequestView& r) { return static_cast<double>(r.priority); }},
      {"prompt_tokens", [](const RequestView& r) { return static_cast<double>(r.prompt_tokens); }},
  };
  return kFields;
}

const std::vector<RequestField>& model_fields() {
  static const std::vector<RequestField> kFields = {
      {"context_limit", [](const RequestView& r) { return limit_of(r.model_context_limit); }},
      {"output_limit", [](const RequestView& r) { return limit_of(r.model_output_limit); }},
  };
  return kFields;
}

const std::vector<EndpointField>& endpoint_fields() {
  static const std::vector<EndpointField> kFields = {
      {"busy", read_busy},
      {"in_flight_requests", read_column<&Endpoints::in_flight_requests>},
      {"in_flight_tokens", read_column<&Endpoints::in_flight_tokens>},
      {"kv_usage", read_column<&Endpoints::kv_usage>},
      {"match_blocks", read_prefix<&PrefixMatch::match_blocks>},
      {"metric_age_ms", read_column<&Endpoints::metric_age_ms>},
      {"predicted_tpot_ms", read_prediction<&LatencyPrediction::tpot_ms>},
      {"predicted_ttft_ms", read_prediction<&LatencyPrediction::ttft_ms>},
      {"prefix_share", read_share},
      {"running", read_column<&Endpoints::running>},
      {"total_blocks", read_prefix<&PrefixMatch::total_blocks>},
      {"tpot_headroom_ms", read_prediction<&LatencyPrediction::tpot_headroom_ms>},
      {"ttft_headroom_ms", read_prediction<&LatencyPrediction::ttft_headroom_ms>},
      {"uncached_tokens", read_column<&Endpoints::uncached_tokens>},
      {"waiting", read_column<&Endpoints::waiting>},
  };
  return kFields;
}

}  // namespace poolcast::routing
