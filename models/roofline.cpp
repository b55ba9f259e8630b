// SPDX-License-Identifier: Apache-2.0
#include "models/roofline.h"

#include <algorithm>
#include <cstdio>

#include "models/roofline_terms.h"

namespace poolcast {
namespace {

double d(std::int64_t count) { return static_cast<double>(count); }

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string describe(const Accelerator& accelerator, const TransformerShape& shape, const Layout& layout,
                     const RooflineOptions& options) {
  const Precision compute = options.compute.value_or(options.weights);
  std::string text = "roofline: " + shape.name + " on " + accelerator.name + " tp " + std::to_string(layout.tp) + ", " +
                     name(options.weights) + " weights, " + name(options.kv) + " KV; " +
                     number(accelerator.require_peak(compute).value * 1e-12) + " TFLOP/s " + name(compute) + " x " +
                     number(options.compute_efficiency) + " (attention " + name(Precision::kBf16) + " x " +
                     number(options.attention_efficiency) + "), " +
                     number(accelerator.require_memory_bandwidth().value * 1e-12) + " TB/s x " +
                     number(options.memory_efficiency);
  if (layout.tp > 1) {
    text += ", link " + number(accelerator.require_link_bandwidth().value * 1e-9) + " GB/s x " +
            number(options.link_efficiency) + " + " + number(options.link_latency.value * 1e6) + " us a hop";
  }
  return text + ", host " + number(options.host_base.value * 1e3) + " ms + " +
         number(options.host_per_request.value * 1e6) + " us a request";
}

class RooflineCurve final : public StepCurve {
 public:
  RooflineCurve(RooflineTerms terms, const AttentionRates& attention, Tokens table_tokens, std::string provenance)
      : terms_(std::move(terms)), rates_(attention), provenance_(std::move(provenance)) {
    const auto size = static_cast<std::size_t>(table_tokens) + 1;
    by_tokens_.reserve(size);
    by_sampled_.reserve(size);
    by_batch_.reserve(size);
    for (Tokens n = 0; n <= table_tokens; ++n) {
      by_tokens_.push_back(token_terms(n));
      by_sampled_.push_back(terms_.head(n));
      by_batch_.push_back(by_tokens_.back() + by_sampled_.back() + terms_.host(n));
    }
  }

  Seconds step(const StepShape& shape) const override {
    double seconds = look_up(by_tokens_, shape.tokens, [this](Tokens n) { return token_terms(n); });
    seconds += look_up(by_sampled_, shape.sampled, [this](std::int64_t n) { return terms_.head(n); });
    seconds += terms_.host(shape.decode_requests + static_cast<std::int64_t>(shape.prefill.size()));
    if (shape.decode_requests > 0) {
      const DecodeLine line = attention_line(shape.decode_requests, shape.decode_context);
      seconds += line.base_s + line.slope_s_per_token * d(shape.decode_context);
    }
    for (const PrefillChunk& chunk : shape.prefill) seconds += prefill(chunk);
    return Seconds(seconds);
  }

  DecodeLine decode_line(std::int64_t requests, Tokens context) const override {
    DecodeLine line = attention_line(requests, context);
    line.base_s += look_up(by_batch_, requests,
                           [this](std::int64_t n) { return token_terms(n) + terms_.head(n) + terms_.host(n); });
    return line;
  }

  bool in_range(const StepShape&) const override { return true; }

  std::vector<StepTerm> terms(const StepShape& shape) const override {
    double decode = 0, chunks = 0;
    if (shape.decode_requests > 0) {
      const DecodeLine line = attention_line(shape.decode_requests, shape.decode_context);
      decode = line.base_s + line.slope_s_per_token * d(shape.decode_context);
    }
    for (const PrefillChunk& chunk : shape.prefill) chunks += prefill(chunk);
    const std::int64_t requests = shape.decode_requests + static_cast<std::int64_t>(shape.prefill.size());
    return {{"linear layers", Seconds(terms_.linear(shape.tokens))},
            {"experts", Seconds(terms_.experts(shape.tokens))},
            {"prefill attention", Seconds(chunks)},
            {"decode attention", Seconds(decode)},
            {"all-reduce", Seconds(terms_.all_reduce(shape.tokens))},
            {"head and sampling", Seconds(terms_.head(shape.sampled))},
            {"host", Seconds(terms_.host(requests))}};
  }

  std::string provenance() const override { return provenance_; }

 private:
  double token_terms(Tokens n) const { return terms_.linear(n) + terms_.experts(n) + terms_.all_reduce(n); }

  template <class Compute>
  static double look_up(const std::vector<double>& table, std::int64_t n, Compute compute) {
    const auto index = static_cast<std::size_t>(n);
    return index < table.size() ? table[index] : compute(n);
  }

  /// The longer of two lines in the total context. Memory starts higher (queries and outputs move even without
  /// context), so compute can only take over from it, and only when it is the steeper one.
  DecodeLine attention_line(std::int64_t requests, Tokens context) const {
    const double io = rates_.decode_io_s * d(requests);
    if (rates_.decode_pair_s <= rates_.decode_kv_s) return {io, rates_.decode_kv_s};
    const double crossing = io / (rates_.decode_pair_s - rates_.decode_kv_s);
    if (d(context) > crossing) return {0, rates_.decode_pair_s};
    return {io, rates_.decode_kv_s, static_cast<Tokens>(std::min(crossing, 9e18))};
  }

  double prefill(const PrefillChunk& chunk) const {
    const double query = d(chunk.query);
    const double context = d(chunk.context);
    const double pairs = query * context + query * (query + 1) / 2;
    const double compute = rates_.prefill_pair_s * pairs + rates_.prefill_expand_s * context;
    const double memory = rates_.prefill_kv_s * (query + context) + rates_.prefill_io_s * query;
    return std::max(compute, memory);
  }

  RooflineTerms terms_;
  AttentionRates rates_;
  std::vector<double> by_tokens_;   // linear layers, experts, all-reduce
  std::vector<double> by_sampled_;  // head
  std::vector<double> by_batch_;    // a decode-only step without its attention
  std::string provenance_;
};

}  // namespace

std::unique_ptr<StepCurve> make_roofline(const Accelerator& accelerator, const TransformerShape& shape,
                                         const Layout& layout, const RooflineOptions& options) {
  RooflineTerms terms(accelerator, shape, layout, options);
  const AttentionRates attention = terms.attention();
  return std::make_unique<RooflineCurve>(std::move(terms), attention, options.table_tokens,
                                         describe(accelerator, shape, layout, options));
}

}  // namespace poolcast
