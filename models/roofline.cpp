// SPDX-License-Identifier: Apache-2.0
#include "models/roofline.h"

#include <algorithm>
#include <cstdio>

#include "models/expert_skew.h"
#include "models/pipeline.h"
#include "models/roofline_terms.h"

namespace poolcast {
namespace {

double d(std::int64_t count) { return static_cast<double>(count); }

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string describe(const Layout& layout) {
  std::string text = " tp " + std::to_string(layout.tp);
  const auto more = [&](const char* degree, std::int64_t value) {
    if (value > 1) text += " " + (degree + (" " + std::to_string(value)));
  };
  more("pp", layout.pp);
  more("dp", layout.dp);
  more("ep", layout.ep);
  return text;
}

std::string describe(const Accelerator& accelerator, const TransformerShape& shape, const Layout& layout,
                     const RooflineOptions& options) {
  const Precision compute = options.compute.value_or(options.weights);
  std::string text =
      "roofline: " + shape.name + " on " + accelerator.name + describe(layout) + ", " + name(options.weights) +
      " weights, " + name(options.kv) + " KV; " + number(accelerator.require_peak(compute).value * 1e-12) +
      " TFLOP/s " + name(compute) + " x " + number(options.compute_efficiency) + " (attention " +
      name(Precision::kBf16) + " x " + number(options.attention_efficiency) + "), " +
      number(accelerator.require_memory_bandwidth().value * 1e-12) + " TB/s x " + number(options.memory_efficiency);
  if (layout.ep > 1) {
    text += ", tokens of the busiest experts x " + number(options.expert_imbalance);
    if (options.expert_skew) text += " (skew " + number(*options.expert_skew) + ")";
  }
  if (layout.tp > 1 || layout.pp > 1 || layout.experts_across_ranks()) {
    text += ", link " + number(accelerator.require_link_bandwidth().value * 1e-9) + " GB/s x " +
            number(options.link_efficiency) + " + " + number(options.link_latency.value * 1e6) + " us a hop";
  }
  if (!options.capture_sizes.empty()) {
    text += ", graphs of up to " + std::to_string(options.capture_sizes.back()) + " tokens";
  }
  return text + ", host " + number(options.host_base.value * 1e3) + " ms + " +
         number(options.host_per_request.value * 1e6) + " us a request" +
         (options.host_overlap ? " beside the device" : "");
}

class RooflineCurve final : public StepCurve {
 public:
  RooflineCurve(RooflineTerms terms, const RooflineOptions& options, std::string provenance)
      : terms_(std::move(terms)),
        rates_(terms_.attention()),
        capture_sizes_(options.capture_sizes),
        host_overlap_(options.host_overlap),
        provenance_(std::move(provenance)) {
    const auto size = static_cast<std::size_t>(options.table_tokens) + 1;
    by_tokens_.reserve(size);
    by_sampled_.reserve(size);
    by_batch_.reserve(size);
    for (Tokens n = 0; n <= options.table_tokens; ++n) {
      by_tokens_.push_back(token_terms(n));
      by_sampled_.push_back(terms_.head(n));
      by_batch_.push_back(batch_terms(n));
    }
  }

  Seconds step(const StepShape& shape) const override {
    double seconds = look_up(by_tokens_, shape.tokens, [this](Tokens n) { return token_terms(n); });
    seconds += look_up(by_sampled_, shape.sampled, [this](std::int64_t n) { return terms_.head(n); });
    const double host = terms_.host(shape.decode_requests + static_cast<std::int64_t>(shape.prefill.size()));
    if (!host_overlap_) seconds += host;
    if (shape.decode_requests > 0) {
      const DecodeLine line = attention_line(shape.decode_requests, shape.decode_context);
      seconds += line.base_s + line.slope_s_per_token * d(shape.decode_context);
    }
    for (const PrefillChunk& chunk : shape.prefill) seconds += prefill(chunk);
    return Seconds(host_overlap_ ? std::max(seconds, host) : seconds);
  }

  DecodeLine decode_line(std::int64_t requests, Tokens context) const override {
    DecodeLine line = attention_line(requests, context);
    line.base_s += look_up(by_batch_, requests, [this](std::int64_t n) { return batch_terms(n); });
    return host_overlap_ ? longer(line, {.base_s = terms_.host(requests)}, context) : line;
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
    const Tokens tokens = padded(shape.tokens);
    const double head = terms_.head(shape.sampled);
    const double device = token_terms(shape.tokens) + chunks + decode + head;
    const double host = host_overlap_ ? std::max(0.0, terms_.host(requests) - device) : terms_.host(requests);
    return {{"linear layers", Seconds(terms_.linear(tokens))},
            {"experts", Seconds(terms_.experts(tokens))},
            {"prefill attention", Seconds(chunks)},
            {"decode attention", Seconds(decode)},
            {"all-reduce", Seconds(terms_.all_reduce(tokens))},
            {"expert exchange", Seconds(terms_.exchange(tokens))},
            {"head and sampling", Seconds(head)},
            {"host", Seconds(host)}};
  }

  std::string provenance() const override { return provenance_; }

 private:
  /// The size of the captured graph that runs a step of n tokens.
  Tokens padded(Tokens n) const {
    if (n == 0 || capture_sizes_.empty() || n > capture_sizes_.back()) return n;
    return *std::lower_bound(capture_sizes_.begin(), capture_sizes_.end(), n);
  }

  double token_terms(Tokens n) const {
    const Tokens run = padded(n);
    return terms_.linear(run) + terms_.experts(run) + terms_.all_reduce(run) + terms_.exchange(run);
  }

  /// What depends on the number of requests in a decode-only step.
  double batch_terms(std::int64_t n) const {
    const double device = token_terms(n) + terms_.head(n);
    return host_overlap_ ? device : device + terms_.host(n);
  }

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
  std::vector<std::int64_t> capture_sizes_;
  bool host_overlap_;
  std::vector<double> by_tokens_;   // linear layers, experts, all-reduce, exchange
  std::vector<double> by_sampled_;  // head
  std::vector<double> by_batch_;    // a decode-only step without its attention (nor the host, where it overlaps)
  std::string provenance_;
};

std::unique_ptr<StepCurve> one_stage(const Accelerator& accelerator, const TransformerShape& shape, Layout layout,
                                     const RooflineOptions& options, std::string provenance) {
  layout.pp = 1;
  return std::make_unique<RooflineCurve>(RooflineTerms(accelerator, shape, layout, options), options,
                                         std::move(provenance));
}

/// Stages that may be the slowest: the last one, which has the head, and where layers do not come out even one of those
/// before it that have a layer more.
std::unique_ptr<StepCurve> stages(const Accelerator& accelerator, const TransformerShape& shape, const Layout& layout,
                                  const RooflineOptions& options, const std::string& provenance) {
  Pipeline pipeline;
  pipeline.stages = layout.pp;
  pipeline.micro_batch_tokens = options.micro_batch_tokens;
  pipeline.whole = one_stage(accelerator, shape, layout, options, provenance);
  TransformerShape last = stage_of(shape, layout.pp, layout.pp - 1);
  pipeline.slowest.push_back(one_stage(accelerator, last, layout, options, provenance));
  if (shape.layers % layout.pp != 0) {
    TransformerShape before = stage_of(shape, layout.pp, layout.pp - 2);
    before.vocab = 0;
    pipeline.slowest.push_back(one_stage(accelerator, before, layout, options, provenance));
  }
  const double link = accelerator.require_link_bandwidth().value * options.link_efficiency;
  pipeline.hops_base_s = d(layout.pp) * options.link_latency.value;
  pipeline.hops_per_token_s = d(layout.pp - 1) * d(shape.hidden) * bytes_per_element(Precision::kBf16) / link;
  return make_pipeline(std::move(pipeline));
}

}  // namespace

std::unique_ptr<StepCurve> make_roofline(const Accelerator& accelerator, const TransformerShape& shape,
                                         const Layout& layout, const RooflineOptions& options) {
  check_layout(shape, layout);
  RooflineOptions told = options;
  if (options.expert_skew && shape.moe)
    told.expert_imbalance = expert_imbalance(*shape.moe, layout.ep, *options.expert_skew);
  std::string provenance = describe(accelerator, shape, layout, told);
  if (layout.pp > 1) return stages(accelerator, shape, layout, options, provenance);
  return one_stage(accelerator, shape, layout, options, std::move(provenance));
}

}  // namespace poolcast
