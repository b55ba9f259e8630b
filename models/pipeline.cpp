// SPDX-License-Identifier: Apache-2.0
#include "models/pipeline.h"

#include <algorithm>
#include <utility>

namespace poolcast {
namespace {

double d(std::int64_t count) { return static_cast<double>(count); }

constexpr Tokens kNoEnd = std::numeric_limits<Tokens>::max();

/// A micro-batch of a step.
struct MicroBatch {
  StepShape shape;
  std::vector<PrefillChunk> chunks;
};

/// The micro-batch that the n-th part of a step falls to: forth and back.
std::size_t deal(std::size_t n, std::size_t stages) {
  const std::size_t place = n % (2 * stages);
  return place < stages ? place : 2 * stages - 1 - place;
}

/// The n-th of `parts` nearly equal shares of `all`; the last ones are the larger ones.
std::int64_t share(std::int64_t all, std::int64_t n, std::int64_t parts) { return (all + n) / parts; }

std::vector<MicroBatch> micro_batches(const StepShape& step, std::int64_t stages, Tokens most) {
  std::vector<MicroBatch> list(static_cast<std::size_t>(stages));
  for (std::size_t i = 0; i < step.prefill.size(); ++i) {
    PrefillChunk left = step.prefill[i];
    for (std::size_t part = 0; left.query > 0; ++part) {
      const Tokens now = std::min(left.query, most);
      list[deal(i + part, list.size())].chunks.push_back({now, left.context});
      left = {left.query - now, left.context + now};
    }
  }
  const std::int64_t prompts = std::max<std::int64_t>(0, step.sampled - step.decode_requests);
  for (std::int64_t n = 0; n < stages; ++n) {
    MicroBatch& batch = list[static_cast<std::size_t>(n)];
    StepShape& shape = batch.shape;
    shape.decode_requests = share(step.decode_requests, n, stages);
    if (shape.decode_requests > 0) {  // rounded up, so that a step with prefill is no shorter than one without
      shape.decode_context =
          (step.decode_context * shape.decode_requests + step.decode_requests - 1) / step.decode_requests;
    }
    shape.tokens = shape.decode_requests;
    for (const PrefillChunk& chunk : batch.chunks) shape.tokens += chunk.query;
    shape.sampled = shape.decode_requests + share(prompts, stages - 1 - n, stages);
    shape.prefill = batch.chunks;
  }
  std::erase_if(list, [](const MicroBatch& batch) { return batch.shape.tokens == 0; });
  return list;
}

/// How a decode-only step of `requests` requests is split: into `larger` micro-batches of `size` + 1 and `smaller` ones
/// of `size`.
struct Split {
  std::int64_t size = 0, larger = 0, smaller = 0;

  Split(std::int64_t requests, std::int64_t stages) : size(requests / stages), larger(requests % stages) {
    smaller = size > 0 ? stages - larger : 0;
  }
  std::int64_t largest() const { return larger > 0 ? size + 1 : size; }
};

/// The time of a micro-batch of `part` of the `requests` requests, as a line in the context of all of them.
DecodeLine line_of(const StepCurve& curve, std::int64_t part, std::int64_t requests, Tokens context) {
  DecodeLine line = curve.decode_line(part, context / requests * part + context % requests * part / requests);
  line.slope_s_per_token *= d(part) / d(requests);
  if (line.last_context < kNoEnd / requests - 1) {
    line.last_context = ((line.last_context + 1) * requests - 1) / part;
  } else {
    line.last_context = kNoEnd;
  }
  return line;
}

/// The time of all micro-batches one after another.
DecodeLine sum_of(const StepCurve& curve, const Split& split, std::int64_t requests, Tokens context) {
  DecodeLine sum;
  const auto add = [&](std::int64_t part, std::int64_t times) {
    if (times == 0) return;
    const DecodeLine line = line_of(curve, part, requests, context);
    sum.base_s += d(times) * line.base_s;
    sum.slope_s_per_token += d(times) * line.slope_s_per_token;
    sum.last_context = std::min(sum.last_context, line.last_context);
  };
  add(split.size + 1, split.larger);
  add(split.size, split.smaller);
  return sum;
}

bool decode_only(const StepShape& shape) { return shape.prefill.empty() && shape.tokens == shape.decode_requests; }

/// The time for which an average stage works.
class BusyCurve final : public StepCurve {
 public:
  explicit BusyCurve(const Pipeline& pipeline) : p_(pipeline) {}

  Seconds step(const StepShape& shape) const override {
    if (decode_only(shape))
      return Seconds(decode_line(shape.decode_requests, shape.decode_context).at(shape.decode_context));
    double work = 0;
    for (const MicroBatch& batch : micro_batches(shape, p_.stages, p_.micro_batch_tokens)) {
      work += p_.whole->step(batch.shape).value;
    }
    return Seconds(work / d(p_.stages));
  }

  DecodeLine decode_line(std::int64_t requests, Tokens context) const override {
    DecodeLine line = sum_of(*p_.whole, Split(requests, p_.stages), requests, context);
    line.base_s /= d(p_.stages);
    line.slope_s_per_token /= d(p_.stages);
    return line;
  }

  bool in_range(const StepShape& shape) const override { return p_.whole->in_range(shape); }
  std::vector<StepTerm> terms(const StepShape& shape) const override { return {{"work of a stage", step(shape)}}; }
  std::string provenance() const override { return p_.whole->provenance(); }

 private:
  const Pipeline& p_;
};

class PipelineCurve final : public StepCurve {
 public:
  explicit PipelineCurve(Pipeline pipeline) : p_(std::move(pipeline)), busy_(p_) {}

  Seconds step(const StepShape& shape) const override {
    if (decode_only(shape))
      return Seconds(decode_line(shape.decode_requests, shape.decode_context).at(shape.decode_context));
    const std::vector<MicroBatch> batches = micro_batches(shape, p_.stages, p_.micro_batch_tokens);
    double round = 0;
    for (const MicroBatch& batch : batches) {
      round = std::max(round, p_.whole->step(batch.shape).value + hops(batch.shape.tokens));
    }
    for (const auto& stage : p_.slowest) {
      double work = 0;
      for (const MicroBatch& batch : batches) work += stage->step(batch.shape).value;
      round = std::max(round, work);
    }
    return Seconds(round);
  }

  DecodeLine decode_line(std::int64_t requests, Tokens context) const override {
    const Split split(requests, p_.stages);
    DecodeLine round = line_of(*p_.whole, split.largest(), requests, context);
    round.base_s += hops(split.largest());
    for (const auto& stage : p_.slowest) round = longer(round, sum_of(*stage, split, requests, context), context);
    round.last_context = std::min(round.last_context, busy_.decode_line(requests, context).last_context);
    return round;
  }

  bool in_range(const StepShape& shape) const override { return p_.whole->in_range(shape); }

  /// What an average stage does, and how long it stands idle.
  std::vector<StepTerm> terms(const StepShape& shape) const override {
    std::vector<StepTerm> sum;
    double all = 0;
    for (const MicroBatch& batch : micro_batches(shape, p_.stages, p_.micro_batch_tokens)) {
      const std::vector<StepTerm> terms = p_.whole->terms(batch.shape);
      sum.resize(terms.size());
      for (std::size_t i = 0; i < terms.size(); ++i) {
        sum[i] = {terms[i].name, sum[i].seconds + terms[i].seconds};
        all += terms[i].seconds.value;
      }
    }
    // Contexts of micro-batches are whole numbers here and shares in `busy`.
    const double work = busy_.step(shape).value;
    for (StepTerm& term : sum) term.seconds = term.seconds * (work / all);
    sum.push_back({"pipeline bubble", Seconds(std::max(0.0, step(shape).value - work))});
    return sum;
  }

  const StepCurve* busy() const override { return &busy_; }
  std::string provenance() const override { return p_.whole->provenance(); }

 private:
  double hops(Tokens tokens) const { return p_.hops_base_s + p_.hops_per_token_s * d(tokens); }

  Pipeline p_;
  BusyCurve busy_;
};

}  // namespace

std::unique_ptr<StepCurve> make_pipeline(Pipeline pipeline) {
  return std::make_unique<PipelineCurve>(std::move(pipeline));
}

}  // namespace poolcast
