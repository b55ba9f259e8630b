// SPDX-License-Identifier: Apache-2.0
#include "models/kernel_tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace poolcast {
namespace {

/// Where x lies on an axis: between points `low` and `low + 1`, at this share of the way; the share goes beyond 1 (or
/// stays 0 below the first point).
struct Place {
  std::size_t low = 0;
  double share = 0;
};

Place place(const std::vector<std::int64_t>& axis, double x) {
  if (axis.size() < 2 || x <= static_cast<double>(axis.front())) return {};
  const auto above = std::upper_bound(
      axis.begin(), axis.end(), x, [](double value, std::int64_t point) { return value < static_cast<double>(point); });
  const std::size_t low = std::min<std::size_t>(static_cast<std::size_t>(above - axis.begin()), axis.size() - 1) - 1;
  const auto a = static_cast<double>(axis[low]), b = static_cast<double>(axis[low + 1]);
  return {low, (x - a) / (b - a)};
}

double d(std::int64_t count) { return static_cast<double>(count); }

double between(double a, double b, double share) { return a + (b - a) * share; }

/// Makes `values` of this shape never fall along axis `axis`.
void smooth(std::vector<double>& values, const std::vector<std::size_t>& shape, std::size_t axis) {
  std::size_t stride = 1;
  for (std::size_t a = axis + 1; a < shape.size(); ++a) stride *= shape[a];
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i / stride % shape[axis] > 0) values[i] = std::max(values[i], values[i - stride]);
  }
}

class KernelTableCurve final : public StepCurve {
 public:
  explicit KernelTableCurve(KernelTables tables) : t_(std::move(tables)), a_(t_.attention) {
    for (KernelLine* line : {&t_.layer, &t_.once, &t_.per_sequence, &t_.experts, &t_.all_reduce}) {
      smooth(line->seconds, {line->at.size()}, 0);
    }
    const std::vector<std::size_t> prefill = {a_.chunk.size(), a_.context.size()};
    const std::vector<std::size_t> decode = {a_.requests.size(), a_.kv.size()};
    const std::vector<std::size_t> mixed = {prefill[0], prefill[1], decode[0], decode[1]};
    for (std::size_t axis = 0; axis < 2; ++axis) smooth(a_.prefill, prefill, axis);
    for (std::size_t axis = 0; axis < 2; ++axis) smooth(a_.decode, decode, axis);
    for (std::size_t axis = 0; axis < 4 && !a_.mixed.empty(); ++axis) smooth(a_.mixed, mixed, axis);
  }

  Seconds step(const StepShape& shape) const override {
    return Seconds(by_tokens(shape.tokens) + head(shape.sampled) + layers() * attention(shape) + host(requests(shape)));
  }

  DecodeLine decode_line(std::int64_t requests, Tokens context) const override {
    const auto n = static_cast<double>(requests);
    const Place row = place(a_.requests, n);
    const Place column = place(a_.kv, static_cast<double>(context) / n);
    // Below the first point of the axis attention is constant, between two points it is linear in the mean context.
    const bool flat = static_cast<double>(context) <= static_cast<double>(a_.kv.front()) * n;
    const double low = decode_at(row, {column.low, 0}), high = flat ? low : decode_at(row, {column.low, 1});
    const auto a = static_cast<double>(a_.kv[column.low]), b = static_cast<double>(a_.kv[column.low + 1]);
    DecodeLine line;
    const double slope = (high - low) / (b - a);
    line.slope_s_per_token = layers() * slope / n;
    line.base_s = by_tokens(requests) + head(requests) + host(requests) + layers() * (low - slope * a);
    const std::int64_t border = flat ? a_.kv.front() : a_.kv[column.low + 1];
    const bool last = column.low + 2 == a_.kv.size() && context > a_.kv.back() * requests;
    if (!last) line.last_context = border * requests;
    for (const double limit : {d(t_.range.decode_kv) * n, d(t_.range.decode_context)}) {
      if (d(context) <= limit && limit < d(line.last_context)) line.last_context = static_cast<Tokens>(limit);
    }
    return line;
  }

  bool in_range(const StepShape& shape) const override {
    const MeasuredRange& r = t_.range;
    if (shape.tokens > r.tokens || shape.sampled > r.sampled || shape.decode_requests > r.decode_requests) return false;
    if (shape.decode_context > r.decode_context) return false;
    if (d(shape.decode_context) > d(r.decode_kv) * d(shape.decode_requests)) return false;
    for (const PrefillChunk& c : shape.prefill) {
      if (c.query > r.chunk || c.context > r.prefill_context || c.query + c.context > r.prefill_end) return false;
    }
    if (shape.tokens > t_.layer.at.back() || shape.decode_requests > a_.requests.back()) return false;
    if (shape.sampled > t_.per_sequence.at.back()) return false;
    if (shape.decode_context > a_.kv.back() * shape.decode_requests) return false;
    return std::all_of(shape.prefill.begin(), shape.prefill.end(), [this](const PrefillChunk& c) {
      return c.query <= a_.chunk.back() && c.context <= a_.context.back();
    });
  }

  std::vector<StepTerm> terms(const StepShape& shape) const override {
    const double n = padded(shape.tokens);
    return {{"linear layers", Seconds(linear(n))},
            {"experts", Seconds(line(t_.experts, n))},
            {"all-reduce", Seconds(line(t_.all_reduce, n))},
            {"attention", Seconds(layers() * attention(shape))},
            {"head and sampler", Seconds(head(shape.sampled))},
            {"host", Seconds(host(requests(shape)))}};
  }

  std::string provenance() const override { return t_.kind + ": " + t_.source; }

 private:
  double layers() const { return d(t_.layers); }
  static std::int64_t requests(const StepShape& shape) {
    return shape.decode_requests + static_cast<std::int64_t>(shape.prefill.size());
  }
  double host(std::int64_t requests) const { return t_.host.value + t_.host_per_request.value * d(requests); }

  double padded(Tokens tokens) const {
    const auto& sizes = t_.capture_sizes;
    const auto size = std::lower_bound(sizes.begin(), sizes.end(), tokens);
    return d(size == sizes.end() ? tokens : *size);
  }
  static double line(const KernelLine& line, double x) { return line.at.empty() ? 0 : line(x); }
  double linear(double tokens) const { return layers() * t_.layer(tokens) + line(t_.once, tokens); }
  double by_tokens(Tokens tokens) const {
    const double n = padded(tokens);
    return linear(n) + line(t_.experts, n) + line(t_.all_reduce, n);
  }
  double head(std::int64_t sampled) const { return sampled == 0 ? 0 : t_.per_sequence(static_cast<double>(sampled)); }

  double prefill_at(const Place& c, const Place& k) const {
    const auto value = [&](std::size_t i, std::size_t j) { return a_.prefill[i * a_.context.size() + j]; };
    return between(between(value(c.low, k.low), value(c.low, k.low + 1), k.share),
                   between(value(c.low + 1, k.low), value(c.low + 1, k.low + 1), k.share), c.share);
  }
  double decode_at(const Place& n, const Place& k) const {
    const auto value = [&](std::size_t i, std::size_t j) { return a_.decode[i * a_.kv.size() + j]; };
    return between(between(value(n.low, k.low), value(n.low, k.low + 1), k.share),
                   between(value(n.low + 1, k.low), value(n.low + 1, k.low + 1), k.share), n.share);
  }
  double mixed_at(const Place (&at)[4]) const {
    double sum = 0;
    for (unsigned corner = 0; corner < 16; ++corner) {
      double weight = 1;
      std::size_t index = 0;
      const std::size_t sizes[] = {a_.chunk.size(), a_.context.size(), a_.requests.size(), a_.kv.size()};
      for (unsigned axis = 0; axis < 4; ++axis) {
        const bool high = (corner >> axis) & 1u;
        weight *= high ? at[axis].share : 1 - at[axis].share;
        index = index * sizes[axis] + at[axis].low + (high ? 1 : 0);
      }
      if (weight != 0) sum += weight * a_.mixed[index];
    }
    return sum;
  }

  /// One layer. The chunks of a step as one whose work, chunk * (context + chunk / 2), is theirs together.
  double attention(const StepShape& shape) const {
    const auto n = static_cast<double>(shape.decode_requests);
    const Place row = place(a_.requests, n);
    const Place column = n > 0 ? place(a_.kv, static_cast<double>(shape.decode_context) / n) : Place{};
    if (shape.prefill.empty()) return decode_at(row, column);

    double tokens = 0, work = 0, alone = 0;
    for (const PrefillChunk& c : shape.prefill) {
      const auto q = static_cast<double>(c.query), k = static_cast<double>(c.context);
      tokens += q;
      work += q * (k + q / 2);
      alone += prefill_at(place(a_.chunk, q), place(a_.context, k));
    }
    const double context = std::max(0.0, work / tokens - tokens / 2);
    const Place chunk = place(a_.chunk, tokens), before = place(a_.context, context);
    const double together = prefill_at(chunk, before);
    const double launches = static_cast<double>(shape.prefill.size() - 1) * a_.prefill.front();
    const double prefill = shape.prefill.size() == 1 ? together : std::max(alone - launches, a_.prefill.front());
    if (shape.decode_requests == 0) return prefill;
    const double decode = decode_at(row, column);
    const double mixed = a_.mixed.empty()
                             ? (1 + a_.mixed_prefill_share) * prefill + (1 + a_.mixed_decode_share) * decode
                             : mixed_at({chunk, before, row, column}) + prefill - together;
    return std::max(mixed, std::max(prefill, decode));
  }

  KernelTables t_;
  AttentionTable& a_;
};

}  // namespace

double KernelLine::operator()(double x) const {
  const Place p = place(at, x);
  return at.size() == 1 ? seconds.front() : between(seconds[p.low], seconds[p.low + 1], p.share);
}

std::shared_ptr<const StepCurve> make_kernel_table_curve(KernelTables tables) {
  return std::make_shared<KernelTableCurve>(std::move(tables));
}

}  // namespace poolcast
