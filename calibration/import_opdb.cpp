// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "calibration/csv_table.h"
#include "calibration/grid.h"
#include "calibration/import.h"
#include "calibration/samples.h"
#include "models/shard.h"
#include "scenarios/error.h"

namespace poolcast::calibration {
namespace {

using Size = std::pair<std::int64_t, std::int64_t>;  // n, k
using ByRows = std::map<std::int64_t, double>;       // m -> s

double d(std::int64_t x) { return static_cast<double>(x); }

/// The one file of the folder whose name begins so; nothing when there is none.
std::optional<std::string> table(const std::string& folder, const std::string& begin) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().rfind(begin, 0) == 0) found.push_back(entry.path().string());
  }
  if (error) throw FileError(Location{folder}, "", "cannot be opened as a folder");
  std::sort(found.begin(), found.end());
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::string needed(const std::string& folder, const std::string& begin) {
  const auto found = table(folder, begin);
  if (!found) throw ConfigError(Location{folder}, "", fmt::format("has no table {}…csv", begin));
  return *found;
}

const char* weight_type(const CurveIdentity& id) {
  if (id.weights == Precision::kBf16) return "bfloat16";
  if (id.weights == Precision::kFp8) return "fp8";
  throw ConfigError(fmt::format("the operation tables have no {} weights; bf16 or fp8", name(id.weights)));
}

/// Products of all sizes in the table, and between sizes by the straight lines in n and in k.
class Gemms {
 public:
  Gemms(Calibration& c, const std::string& path, std::string_view type) {
    CsvTable rows(path);
    const std::size_t dtype = rows.column("gemm_dtype"), m = rows.column("m"), n = rows.column("n"),
                      k = rows.column("k"), ms = rows.column("latency"), device = rows.column("device"),
                      framework = rows.column("framework"), version = rows.column("version");
    while (rows.next()) {
      if (rows.text(dtype) != type) continue;
      c.head.identity.device = rows.text(device);
      c.head.identity.implementation = fmt::format("{} {}", rows.text(framework), rows.text(version));
      by_size_[{rows.size(n), rows.size(k)}][rows.size(m)] = rows.time(ms, 1e-3);
    }
    for (const auto& [size, times] : by_size_) {
      n_.insert(size.first);
      k_.insert(size.second);
    }
    if (n_.size() < 2 || k_.size() < 2)
      throw ConfigError(Location{path}, "", fmt::format("has no grid of GEMMs in {}", type));
  }

  bool has(const Size& size) const { return by_size_.count(size) > 0; }

  ByRows at(const Size& size) const {
    if (has(size)) return by_size_.at(size);
    return between(size, n_, k_);
  }

  /// How far off that is, where the table can tell: each inner size predicted from those around it.
  std::vector<double> errors() const {
    std::vector<double> list;
    for (const auto& [size, times] : by_size_) {
      if (size.first < 1024 || size.second < 1024) continue;  // smaller ones are no layers
      std::set<std::int64_t> n = n_, k = k_;
      n.erase(size.first);
      k.erase(size.second);
      const ByRows predicted = between(size, n, k);
      for (const auto& [m, seconds] : predicted) {
        const auto is = times.find(m);
        if (is != times.end() && size.first < *n_.rbegin() && size.second < *k_.rbegin())
          list.push_back(std::abs(seconds / is->second - 1));
      }
    }
    return list;
  }

 private:
  /// The values on both sides; beyond the last one, it and the last that is at most half of it, because a line through
  /// two neighbours would carry their noise far out.
  static Size around(const std::set<std::int64_t>& axis, std::int64_t x) {
    auto high = axis.lower_bound(x);
    if (high == axis.end()) {
      --high;
      const auto half = axis.upper_bound(*high / 2);
      return {half == axis.begin() ? *half : *std::prev(half), *high};
    }
    if (high == axis.begin()) ++high;
    return {*std::prev(high), *high};
  }

  ByRows between(const Size& size, const std::set<std::int64_t>& ns, const std::set<std::int64_t>& ks) const {
    ByRows result;
    const auto [n0, n1] = around(ns, size.first);
    const auto [k0, k1] = around(ks, size.second);
    const double u = (d(size.first) - d(n0)) / d(n1 - n0), v = (d(size.second) - d(k0)) / d(k1 - k0);
    const Size corners[] = {{n0, k0}, {n0, k1}, {n1, k0}, {n1, k1}};
    const double weights[] = {(1 - u) * (1 - v), (1 - u) * v, u * (1 - v), u * v};
    const auto first = by_size_.find(corners[0]);
    if (first == by_size_.end()) return result;
    for (const auto& [m, unused] : first->second) {
      double sum = 0;
      bool whole = true;
      for (std::size_t i = 0; i < 4; ++i) {
        if (weights[i] == 0) continue;
        const auto corner = by_size_.find(corners[i]);
        const auto seconds = corner == by_size_.end() ? ByRows::const_iterator() : corner->second.find(m);
        whole = whole && corner != by_size_.end() && seconds != corner->second.end();
        if (whole) sum += weights[i] * seconds->second;
      }
      if (whole && sum > 0) result[m] = sum;
    }
    return result;
  }

  std::map<Size, ByRows> by_size_;
  std::set<std::int64_t> n_, k_;
};

void add_gemms(Calibration& c, const std::string& folder) {
  const CurveIdentity id = c.head.identity;
  const std::string path = needed(folder, "gemm_perf");
  Gemms quantised(c, path, weight_type(id));
  std::optional<Gemms> plain;  // the head stays bf16
  if (id.weights != Precision::kBf16) plain.emplace(c, path, "bfloat16");
  std::vector<std::string> guessed;
  const auto add = [&](const Gemms& gemms, const Matrix& m, Term term, double times) {
    const Size size = {static_cast<std::int64_t>(m.out), static_cast<std::int64_t>(m.in)};
    const std::string part = fmt::format("gemm n={} k={}", size.first, size.second);
    if (times <= 0) return;
    const bool new_one =
        std::none_of(c.parts.begin(), c.parts.end(), [&](const Part& p) { return p.name == part && p.term == term; });
    const std::size_t index = add_part(c, part, term, 0);
    c.parts[index].times += times;
    if (!new_one) return;
    for (const auto& [rows, seconds] : gemms.at(size))
      add_point(c, index, {rows}, seconds, gemms.has(size) ? "table" : "between sizes");
    if (!gemms.has(size)) guessed.push_back(part);
  };
  for (const Matrix& m : attention_matrices(id.shape, id.layout.tp))
    add(quantised, m, Term::kLinear, d(id.shape.layers));
  for (const Matrix& m : mlp_matrices(id.shape, id.shape.intermediate, id.layout.tp))
    add(quantised, m, Term::kLinear, d(id.shape.dense_layers()));
  add(plain ? *plain : quantised, {d(id.shape.hidden), d(id.shape.vocab / id.layout.tp)}, Term::kHead, 1);
  std::string note = "no norms, rotary, activations and sampling in the tables";
  if (!guessed.empty()) {
    const std::vector<double> errors = quantised.errors();
    note += fmt::format("; {} lie between or beyond measured sizes, ", fmt::join(guessed, ", "));
    note += errors.empty()
                ? "and how far off that is cannot be told"
                : fmt::format("which is off by {:.1f} % (median) and {:.1f} % (p95) where the tables can tell",
                              100 * quantile(errors, 0.5), 100 * quantile(errors, 0.95));
  }
  c.provenance["note"] = note;
}

void add_attention(Calibration& c, const std::string& folder, const char* begin, bool prefill) {
  const CurveIdentity& id = c.head.identity;
  const std::string path = needed(folder, begin);
  const std::int64_t heads = id.shape.heads / id.layout.tp, kv_heads = kv_heads_per_device(id.shape, id.layout.tp);
  CsvTable rows(path);
  const std::size_t q = rows.column("num_heads"), kv = rows.column("num_key_value_heads"),
                    dim = rows.column("head_dim"), type = rows.column("kv_cache_dtype"),
                    batch = rows.column("batch_size"), isl = rows.column("isl"), step = rows.column("step"),
                    ms = rows.column("latency"), kernel = rows.column("kernel_source"),
                    compute = rows.column("attn_dtype");
  const bool windows = rows.has("window_size");
  const std::size_t window = windows ? rows.column("window_size") : 0;
  const std::size_t part = add_part(c, prefill ? "prefill attention" : "decode attention",
                                    prefill ? Term::kPrefill : Term::kDecode, d(id.shape.layers));
  const std::size_t before = c.points.size();
  while (rows.next()) {
    if (rows.integer(q) != heads || rows.integer(kv) != kv_heads || rows.integer(dim) != id.shape.head_dim) continue;
    if (windows && rows.integer(window) != 0) continue;
    if (rows.text(compute) != "bfloat16" || rows.text(type) != (id.kv == Precision::kBf16 ? "bfloat16" : "fp8"))
      continue;
    if (prefill && rows.integer(batch) != 1) continue;
    const Shape shape = prefill ? Shape{rows.size(isl), rows.size(step, 0)}
                                : Shape{rows.size(batch), rows.size(isl) + rows.size(step, 0)};
    add_point(c, part, shape, rows.time(ms, 1e-3), rows.text(kernel));
  }
  if (c.points.size() == before)
    throw ConfigError(Location{path}, "",
                      fmt::format("has no attention of {} heads, {} KV heads and head dimension {}", heads, kv_heads,
                                  id.shape.head_dim));
}

void add_experts(Calibration& c, const std::string& folder) {
  const CurveIdentity& id = c.head.identity;
  if (!id.shape.moe) return;
  const MoeShape& moe = *id.shape.moe;
  const std::string path = needed(folder, "moe_perf");
  CsvTable rows(path);
  const std::size_t type = rows.column("moe_dtype"), tokens = rows.column("num_tokens"),
                    hidden = rows.column("hidden_size"), inter = rows.column("inter_size"), top = rows.column("topk"),
                    experts = rows.column("num_experts"), tp = rows.column("moe_tp_size"),
                    ep = rows.column("moe_ep_size"), distribution = rows.column("distribution"),
                    ms = rows.column("latency");
  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> found;
  while (rows.next()) {
    if (rows.integer(hidden) != id.shape.hidden || rows.integer(inter) != moe.intermediate) continue;
    if (rows.integer(top) != moe.experts_per_token || rows.integer(experts) != moe.experts) continue;
    if (rows.integer(tp) != id.layout.tp || rows.integer(ep) != 1 || rows.text(type) != weight_type(id)) continue;
    found[std::string(rows.text(distribution))].emplace_back(rows.size(tokens), rows.time(ms, 1e-3));
  }
  if (found.empty()) throw ConfigError(Location{path}, "", "has no mixture of experts of these sizes and this layout");
  // "balanced" comes first by name; power laws where there is nothing else.
  const auto& [name, times] = *found.begin();
  const std::size_t part = add_part(c, "experts, " + name, Term::kExperts, d(id.shape.moe_layers()));
  for (const auto& [n, seconds] : times) add_point(c, part, {n}, seconds, "table");
}

/// Message sizes are numbers of elements: counted as bytes, none of these links would reach half of its rate.
void add_all_reduce(Calibration& c, const std::string& folder) {
  const CurveIdentity& id = c.head.identity;
  if (id.layout.tp < 2) return;
  const std::string path = needed(folder, "custom_allreduce_perf");
  CsvTable rows(path);
  const std::size_t devices = rows.column("num_gpus"), size = rows.column("message_size"), ms = rows.column("latency");
  Grid grid{{{}}, {}};
  std::map<std::int64_t, double> times;
  while (rows.next()) {
    if (rows.integer(devices) == id.layout.tp) times[rows.size(size)] = rows.time(ms, 1e-3);
  }
  if (times.size() < 2)
    throw ConfigError(Location{path}, "", fmt::format("has no all-reduce of {} devices", id.layout.tp));
  for (const auto& [elements, seconds] : times) {
    grid.axes[0].push_back(elements);
    grid.values.push_back(seconds);
  }
  const std::size_t part = add_part(c, "all-reduce", Term::kAllReduce, d(2 * id.shape.layers));
  for (std::int64_t tokens = 1; tokens * id.shape.hidden <= grid.axes[0].back(); tokens *= 2) {
    const std::int64_t elements[] = {tokens * id.shape.hidden};
    add_point(c, part, {tokens}, grid.at(elements), "table");
  }
}

}  // namespace

Calibration import_opdb(const std::string& source, const CurveIdentity& identity) {
  Calibration c = imported(identity, source);
  c.provenance["published"] = "ai-dynamo/aiconfigurator@095f58a (Apache-2.0)";
  add_gemms(c, source);
  add_attention(c, source, "context_attention_perf", true);
  add_attention(c, source, "generation_attention_perf", false);
  add_experts(c, source);
  add_all_reduce(c, source);
  hold_out(c);
  return c;
}

}  // namespace poolcast::calibration
