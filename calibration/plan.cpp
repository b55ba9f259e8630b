// SPDX-License-Identifier: Apache-2.0
#include "calibration/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/problem.h"
#include "models/error.h"
#include "models/shard.h"

namespace poolcast::calibration {
namespace {

using kernels::Operation;

/// What a part runs: an operation, its fixed dimensions in its name, and which dimensions the axes are.
struct Recipe {
  std::string text;  ///< "gemm bf16 n=4096 k=2048"
  Term term = Term::kLinear;
  double times = 1;
};

/// Powers of two from `least` to `most`, and `most`.
std::vector<std::int64_t> doubling(std::int64_t least, std::int64_t most, std::int64_t factor = 2) {
  std::vector<std::int64_t> axis;
  for (std::int64_t x = least; x < most; x *= factor) axis.push_back(x);
  axis.push_back(most);
  return axis;
}

/// The same with points between, since kernels work in blocks of rows and a line has stairs: up to 32, where decodes
/// are and a block more or less is most of the time, at every quarter, beyond at the middle.
std::vector<std::int64_t> fine(std::int64_t most) {
  std::vector<std::int64_t> axis;
  for (std::int64_t power = 1; power < most; power *= 2) {
    const std::int64_t step = std::max<std::int64_t>(1, power / (power < 32 ? 4 : 2));
    for (std::int64_t x = power; x < std::min(2 * power, most); x += step) axis.push_back(x);
  }
  axis.push_back(most);
  return axis;
}

/// A whole number inside each gap of the axis but the first.
std::vector<std::int64_t> between(const std::vector<std::int64_t>& axis) {
  std::vector<std::int64_t> middles;
  for (std::size_t i = 1; i + 1 < axis.size(); ++i) {
    const std::int64_t low = axis[i], high = axis[i + 1];
    const std::int64_t middle = low == 0 ? high / 2 : low + std::max<std::int64_t>(1, (high - low) * 2 / 5);
    if (middle > low && middle < high) middles.push_back(middle);
  }
  return middles;
}

/// Of the quantised weights, and of all else.
struct Formats {
  std::string weights, plain = "bf16";
};

Formats formats(const CurveIdentity& id, const PlanLimits& limits) {
  if (!limits.dtype.empty()) return {limits.dtype, limits.dtype};
  if (id.weights == Precision::kBf16 || id.weights == Precision::kInt8) return {name(id.weights)};
  throw ModelError(fmt::format("no kernel of {} weights can be measured; bf16 or int8", name(id.weights)));
}

std::string product(const std::string& type, const Matrix& m) {
  return fmt::format("gemm {} n={} k={}", type, static_cast<std::int64_t>(m.out), static_cast<std::int64_t>(m.in));
}

double d(std::int64_t n) { return static_cast<double>(n); }

void add_matrices(std::vector<Recipe>& list, const std::string& type, const std::vector<Matrix>& matrices,
                  double times) {
  if (times <= 0) return;
  for (const Matrix& m : matrices) list.push_back({product(type, m), Term::kLinear, times});
}

/// Elements that the gates of one token have in a dense layer and in a layer of experts, on one device.
std::vector<Recipe> gate_recipes(const CurveIdentity& id, const std::string& type) {
  const TransformerShape& s = id.shape;
  const auto gate = [&](std::int64_t columns) {
    return fmt::format("silu_gate {} columns={}", type, std::max<std::int64_t>(1, columns / id.layout.tp));
  };
  std::vector<Recipe> list;
  if (s.dense_layers() > 0) list.push_back({gate(s.intermediate), Term::kLinear, d(s.dense_layers())});
  if (s.moe) {
    const std::int64_t at_once = s.moe->experts_per_token + s.moe->shared_experts;
    list.push_back({gate(at_once * s.moe->intermediate), Term::kLinear, d(s.moe_layers())});
  }
  return list;
}

std::vector<Recipe> product_recipes(const CurveIdentity& id, const Formats& format) {
  const TransformerShape& s = id.shape;
  const std::int64_t tp = id.layout.tp;
  const std::string &type = format.weights, &plain = format.plain;
  std::vector<Recipe> list;
  add_matrices(list, type, attention_matrices(s, tp), d(s.layers));
  add_matrices(list, type, mlp_matrices(s, s.intermediate, tp), d(s.dense_layers()));
  if (s.moe) {
    add_matrices(list, plain, {{d(s.hidden), d(s.moe->experts)}}, d(s.moe_layers()));
    if (s.moe->shared_experts > 0)
      add_matrices(list, type, mlp_matrices(s, s.moe->shared_experts * s.moe->intermediate, tp), d(s.moe_layers()));
    for (const Matrix& m : expert_matrices(s, tp)) {
      list.push_back(
          {fmt::format("grouped_gemm {} experts={} top_k={} n={} k={}", type, s.moe->experts, s.moe->experts_per_token,
                       static_cast<std::int64_t>(m.out), static_cast<std::int64_t>(m.in)),
           Term::kExperts, d(s.moe_layers())});
    }
  }
  if (tp > 1) list.push_back({fmt::format("all_reduce {} ranks={}", plain, tp), Term::kAllReduce, d(2 * s.layers)});
  list.push_back({fmt::format("gemm {} n={} k={}", plain, (s.vocab + tp - 1) / tp, s.hidden), Term::kHead, 1});
  return list;
}

/// What works on rows between the products.
std::vector<Recipe> row_recipes(const CurveIdentity& id, const std::string& type) {
  const TransformerShape& s = id.shape;
  const std::int64_t heads = s.heads / id.layout.tp, kv_heads = kv_heads_per_device(s, id.layout.tp);
  std::vector<Recipe> list;
  const auto add = [&](const std::string& text, std::int64_t times) {
    list.push_back({text, Term::kLinear, d(times)});
  };
  add(fmt::format("rms_norm {} columns={}", type, s.hidden), 2 * s.layers + 1);
  add(fmt::format("rotary {} heads={} head_dim={}", type, heads + kv_heads, s.head_dim), s.layers);
  add(fmt::format("kv_store {} kv_heads={} head_dim={}", type, kv_heads, s.head_dim), s.layers);
  add(fmt::format("residual_add {} columns={}", type, s.hidden), 2 * s.layers);
  if (s.mlp_matrices == 3) {
    for (Recipe& recipe : gate_recipes(id, type)) list.push_back(std::move(recipe));
  }
  list.push_back({fmt::format("softmax fp32 columns={}", s.vocab), Term::kHead, 1});
  return list;
}

std::string operation_of(const std::string& part) { return part.substr(0, part.find(' ')); }

bool is_offered(const std::string& operation, const PlanLimits& limits) {
  return !limits.offered || limits.offered->count(operation) > 0;
}

/// In words, what of a step is no part of the plan.
std::vector<std::string> left_out(const CurveIdentity& id, const PlanLimits& limits) {
  constexpr std::pair<const char*, const char*> kWords[] = {{"rms_norm", "norms"},
                                                            {"rotary", "rotary embeddings"},
                                                            {"kv_store", "stores of new K and V"},
                                                            {"residual_add", "residual additions"},
                                                            {"silu_gate", "activation functions"},
                                                            {"softmax", "sampling"}};
  std::vector<std::string> list;
  for (const auto& [operation, words] : kWords) {
    const bool other_activation = std::string_view(operation) == "silu_gate" && id.shape.mlp_matrices != 3;
    if (other_activation || !is_offered(operation, limits)) list.emplace_back(words);
  }
  return list;
}

std::vector<Recipe> recipes(const CurveIdentity& id, const PlanLimits& limits) {
  const TransformerShape& s = id.shape;
  if (s.mla) throw ModelError("multi-head latent attention has no kernel yet, so such a model cannot be calibrated");
  if (id.kv != Precision::kBf16)
    throw ModelError(fmt::format("no kernel of a {} KV cache can be measured", name(id.kv)));
  const std::int64_t heads = s.heads / id.layout.tp, kv_heads = kv_heads_per_device(s, id.layout.tp);
  const Formats format = formats(id, limits);
  std::vector<Recipe> list = product_recipes(id, format);
  for (Recipe& recipe : row_recipes(id, format.plain)) {
    if (is_offered(operation_of(recipe.text), limits)) list.push_back(std::move(recipe));
  }
  const std::string of = fmt::format("{} heads={} kv_heads={} head_dim={}", format.plain, heads, kv_heads, s.head_dim);
  list.push_back({"prefill_attention " + of, Term::kPrefill, d(s.layers)});
  list.push_back({"decode_attention " + of, Term::kDecode, d(s.layers)});
  // Equal matrices are measured once.
  std::vector<Recipe> merged;
  for (const Recipe& recipe : list) {
    const auto same = std::find_if(merged.begin(), merged.end(),
                                   [&](const Recipe& r) { return r.text == recipe.text && r.term == recipe.term; });
    if (same == merged.end())
      merged.push_back(recipe);
    else
      same->times += recipe.times;
  }
  return merged;
}

/// The dimension of the operation that an axis stands for.
std::string dimensions(const std::string& part, const CurveIdentity& id, const Shape& x) {
  const std::string operation = operation_of(part);
  if (operation == "gemm") return fmt::format("m={}", x[0]);
  if (operation == "prefill_attention") return fmt::format("query={} context={}", x[0], x[1]);
  if (operation == "decode_attention") return fmt::format("requests={} context={}", x[0], x[1]);
  if (operation == "all_reduce") return fmt::format("elements={}", x[0] * id.shape.hidden);
  if (operation == "rms_norm" || operation == "silu_gate" || operation == "residual_add" || operation == "softmax")
    return fmt::format("rows={}", x[0]);
  return fmt::format("tokens={}", x[0]);
}

bool is_cold(const std::string& part) {
  const std::string operation = operation_of(part);
  return operation == "gemm" || operation == "grouped_gemm" || operation == "kv_store" ||
         operation.find("_attention") != std::string::npos;
}

struct Axes {
  std::vector<std::vector<std::int64_t>> fitted, held;
};

Axes axes_of(Term term, const PlanLimits& l) {
  if (term == Term::kPrefill) {
    const auto query = doubling(std::min<Tokens>(16, l.tokens), l.tokens), context = doubling(256, l.context, 4);
    std::vector<std::int64_t> before = {0};
    before.insert(before.end(), context.begin(), context.end());
    return {{query, before}, {between(query), {0, before[before.size() / 2] * 3 / 4}}};
  }
  if (term == Term::kDecode) {
    const auto requests = doubling(1, l.requests), context = doubling(std::min<Tokens>(64, l.context), l.context);
    return {{requests, context}, {between(requests), between(context)}};
  }
  const auto line = fine(term == Term::kHead ? l.requests : l.tokens);
  return {{line}, {between(line)}};
}

bool beyond_context(const Part& part, const Shape& shape, const PlanLimits& limits) {
  return part.term == Term::kPrefill && shape[0] + shape[1] > limits.context;
}

void add_points(const CurveIdentity& id, Plan& plan, std::size_t part,
                const std::vector<std::vector<std::int64_t>>& axes, bool held_out, const PlanLimits& limits) {
  const auto add = [&](const Shape& shape) {
    if (auto point = make_point(id, plan, part, shape, limits)) {
      point->held_out = held_out;
      plan.points.push_back(std::move(*point));
    } else if (!beyond_context(plan.parts[part], shape, limits)) {
      ++plan.too_large;
    }
  };
  for (const std::int64_t x : axes[0]) {
    if (axes.size() == 1) add({x});
    for (std::size_t j = 0; axes.size() > 1 && j < axes[1].size(); ++j) add({x, axes[1][j]});
  }
}

/// Every eighth point of each part, then every fourth, …: whatever was measured when a budget ends spans the axes. The
/// first and the last come first.
void coarse_first(std::vector<Point>& points) {
  std::vector<std::size_t> position(points.size());
  std::vector<std::size_t> seen, total;
  const auto count = [&](std::vector<std::size_t>& list, std::size_t part) -> std::size_t& {
    if (list.size() <= part) list.resize(part + 1, 0);
    return list[part];
  };
  for (const Point& p : points) ++count(total, p.part);
  std::vector<std::pair<std::size_t, std::size_t>> order;  // level, index
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t n = count(seen, points[i].part)++;
    std::size_t level = 0;
    if (n != 0 && n + 1 != total[points[i].part]) {
      level = 1;
      for (std::size_t step = 8; step > 1 && n % step != 0; step /= 2) ++level;
    }
    order.emplace_back(level, i);
  }
  std::stable_sort(order.begin(), order.end());
  std::vector<Point> sorted;
  for (const auto& [level, i] : order) sorted.push_back(std::move(points[i]));
  points = std::move(sorted);
}

}  // namespace

std::optional<Point> make_point(const CurveIdentity& id, const Plan& plan, std::size_t part, const Shape& shape,
                                const PlanLimits& limits) {
  const std::string& of = plan.parts[part].name;
  if (beyond_context(plan.parts[part], shape, limits)) return std::nullopt;
  const auto made = kernels::parse_problem(of + " " + dimensions(of, id, shape));
  if (!made.problem) throw ModelError(fmt::format("{}: {}", of, made.error));
  if (kernels::bytes(*made.problem).value > limits.bytes) return std::nullopt;
  Point point;
  point.part = part;
  point.shape = shape;
  point.problem = kernels::to_text(*made.problem);
  point.cold = is_cold(of);
  return point;
}

Plan make_plan(const CurveIdentity& identity, const PlanLimits& limits) {
  check_layout(identity.shape, identity.layout);
  Plan plan;
  plan.left_out = left_out(identity, limits);
  for (const Recipe& recipe : recipes(identity, limits)) plan.parts.push_back({recipe.text, recipe.term, recipe.times});
  for (std::size_t part = 0; part < plan.parts.size(); ++part) {
    const Axes axes = axes_of(plan.parts[part].term, limits);
    add_points(identity, plan, part, axes.fitted, false, limits);
    add_points(identity, plan, part, axes.held, true, limits);
  }
  coarse_first(plan.points);
  return plan;
}

}  // namespace poolcast::calibration
