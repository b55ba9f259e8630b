// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "calibration/csv_table.h"
#include "calibration/import.h"
#include "scenarios/error.h"

namespace poolcast::calibration {
namespace {

struct Layer {
  Term term;
  double times;
};

/// layers.csv has no up_proj below 313 tokens; it is gate_proj over again, which is counted twice.
std::map<std::string, Layer, std::less<>> layers(double n) {
  return {{"input_layernorm", {Term::kLinear, n}},
          {"post_layernorm", {Term::kLinear, n}},
          {"rope", {Term::kLinear, n}},
          {"q_proj", {Term::kLinear, n}},
          {"o_proj", {Term::kLinear, n}},
          {"gate_proj", {Term::kLinear, 2 * n}},
          {"down_proj", {Term::kLinear, n}},
          {"embedding", {Term::kLinear, 1}},
          {"final_layernorm", {Term::kLinear, 1}},
          {"lm_head", {Term::kHead, 1}}};
}

/// The tables do not say what they were measured on, but where they were published does.
CurveIdentity llama_8b() {
  CurveIdentity id;
  id.shape.layers = 32;
  id.shape.hidden = 4096;
  id.shape.heads = 32;
  id.shape.kv_heads = 8;
  id.shape.head_dim = 128;
  id.shape.intermediate = 14336;
  id.shape.vocab = 128256;
  return id;
}

}  // namespace

Calibration import_tpu_v6e(const std::string& source, const CurveIdentity& identity) {
  if (identity.layout.tp != 1) throw ConfigError(Location{source}, "", "holds one device, tp=1, and no other layout");
  const std::string differences =
      what_differs(llama_8b(), identity.shape, identity.layout, identity.weights, identity.kv);
  if (!differences.empty()) throw ConfigError(Location{source}, "", "was measured for Llama-3.1-8B: " + differences);
  Calibration c = imported(identity, source);
  c.head.identity.device = "TPU v6e";
  c.head.identity.implementation = "xla";
  c.provenance["note"] = "gate_proj counted twice for up_proj; no k_proj, v_proj and activation in the source";
  c.provenance["published"] = "casys-kaist/LLMServingSim@5daddb2 (MIT), Llama-3.1-8B";

  CsvTable layer_rows(source + "/layers.csv");
  const auto known = layers(static_cast<double>(identity.shape.layers));
  const std::size_t name = layer_rows.column("layer_name"), input = layer_rows.column("input"),
                    latency = layer_rows.column("latency(ns)");
  while (layer_rows.next()) {
    const auto layer = known.find(layer_rows.text(name));
    if (layer == known.end()) continue;
    const std::size_t part = add_part(c, layer->first, layer->second.term, layer->second.times);
    add_point(c, part, {layer_rows.size(input)}, layer_rows.time(latency, 1e-9), "xla");
  }

  CsvTable rows(source + "/attention.csv");
  const std::size_t chunk = rows.column("prefill_chunk_size"), kv = rows.column("kv_cache_size"),
                    batch = rows.column("batch_size"), kind = rows.column("is_prefill"), p50 = rows.column("p50_ns");
  const double n = static_cast<double>(identity.shape.layers);
  const std::size_t prefill = add_part(c, "prefill attention", Term::kPrefill, n);
  const std::size_t decode = add_part(c, "decode attention", Term::kDecode, n);
  while (rows.next()) {
    const bool is_prefill = rows.text(kind) == "True";
    const Shape shape = {rows.size(is_prefill ? chunk : batch), rows.size(kv, 0)};
    add_point(c, is_prefill ? prefill : decode, shape, rows.time(p50, 1e-9), "xla");
  }
  hold_out(c);
  return c;
}

}  // namespace poolcast::calibration
