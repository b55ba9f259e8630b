// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "calibration/csv_table.h"
#include "calibration/import.h"
#include "scenarios/error.h"

namespace poolcast::calibration {
namespace {

/// What the profile was taken of must be the model: rows of others are an error, not left out, as files hold one model.
void check(CsvTable& rows, const char* column, std::int64_t wanted) {
  const std::int64_t is = rows.integer(rows.column(column));
  if (is != wanted)
    rows.fail(fmt::format("the profile is of another model: {} is {} instead of {}", column, is, wanted));
}

void read_mlp(Calibration& c, CsvTable& rows) {
  const TransformerShape& s = c.head.identity.shape;
  const auto n = static_cast<double>(s.layers);
  struct Layer {
    const char* name;
    double times;
  };
  const Layer kLayers[] = {{"emb", 1},         {"input_layernorm", n}, {"attn_pre_proj", n},
                           {"attn_rope", n},   {"attn_post_proj", n},  {"post_attention_layernorm", n},
                           {"mlp_up_proj", n}, {"mlp_act", n},         {"mlp_down_proj", n},
                           {"add", 2 * n}};
  const std::size_t tokens = rows.column("num_tokens"), tp = rows.column("num_tensor_parallel_workers");
  while (rows.next()) {
    check(rows, "n_embd", s.hidden);
    check(rows, "n_expanded_embd", s.intermediate);
    check(rows, "n_head", s.heads);
    if (rows.integer(tp) != c.head.identity.layout.tp) continue;
    for (const Layer& layer : kLayers) {
      const std::size_t median = rows.column(fmt::format("time_stats.{}.median", layer.name));
      add_point(c, add_part(c, layer.name, Term::kLinear, layer.times), {rows.size(tokens)}, rows.time(median, 1e-3),
                "vllm");
    }
  }
}

void read_attention(Calibration& c, CsvTable& rows) {
  const TransformerShape& s = c.head.identity.shape;
  const auto n = static_cast<double>(s.layers);
  const std::size_t prefill = add_part(c, "prefill attention", Term::kPrefill, n);
  const std::size_t decode = add_part(c, "decode attention", Term::kDecode, n);
  const std::size_t tp = rows.column("num_tensor_parallel_workers"), kind = rows.column("is_prefill"),
                    chunk = rows.column("prefill_chunk_size"), kv = rows.column("kv_cache_size"),
                    batch = rows.column("batch_size"), prefill_ms = rows.column("time_stats.attn_prefill.median"),
                    decode_ms = rows.column("time_stats.attn_decode.median"),
                    backend = rows.column("attention_backend");
  while (rows.next()) {
    check(rows, "n_embd", s.hidden);
    check(rows, "n_q_head", s.heads);
    check(rows, "n_kv_head", s.kv_heads);
    if (rows.integer(tp) != c.head.identity.layout.tp) continue;
    const bool is_prefill = rows.text(kind) == "True";
    if (is_prefill && rows.integer(batch) != 1) continue;
    const Shape shape = {rows.size(is_prefill ? chunk : batch), rows.size(kv, 0)};
    const std::size_t column = is_prefill ? prefill_ms : decode_ms;
    if (rows.number(column) == 0) continue;  // not measured
    add_point(c, is_prefill ? prefill : decode, shape, rows.time(column, 1e-3), rows.text(backend));
  }
}

}  // namespace

Calibration import_vidur(const std::string& source, const CurveIdentity& identity) {
  Calibration c = imported(identity, source);
  CsvTable rows(source);
  c.head.identity.device = "as in " + c.provenance["source"];
  c.head.identity.implementation = "vllm, profiled by vidur";
  c.provenance["published"] = "microsoft/vidur (MIT)";
  if (rows.has("time_stats.mlp_up_proj.median"))
    read_mlp(c, rows);
  else if (rows.has("time_stats.attn_decode.median"))
    read_attention(c, rows);
  else
    throw ConfigError(Location{source, 1, 1}, "", "is neither an MLP nor an attention profile of vidur");
  if (c.points.empty()) throw ConfigError(Location{source}, "", fmt::format("has no row of tp={}", identity.layout.tp));
  hold_out(c);
  return c;
}

}  // namespace poolcast::calibration
