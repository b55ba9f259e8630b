// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "calibration/csv_table.h"
#include "calibration/import.h"
#include "scenarios/error.h"

namespace poolcast::calibration {
namespace {

constexpr std::string_view kEnd = "_attention.csv";

/// Times of a layer in one step; embedding and the last norm come once.
std::map<std::string, double, std::less<>> dense_layers(double n) {
  return {{"layernorm", 2 * n}, {"qkv_proj", n},  {"rotary_emb", n}, {"o_proj", n},         {"gate_up_proj", n},
          {"act_fn", n},        {"down_proj", n}, {"embedding", 1},  {"final_layernorm", 1}};
}

void read_dense(Calibration& c, const std::string& path, double n) {
  CsvTable rows(path);
  const std::size_t layer = rows.column("layer"), tokens = rows.column("tokens"), time = rows.column("time_us");
  const auto known = dense_layers(n);
  while (rows.next()) {
    const auto found = known.find(rows.text(layer));
    if (found == known.end()) rows.fail("unknown layer " + quote(rows.text(layer)));
    add_point(c, add_part(c, found->first, Term::kLinear, found->second), {rows.size(tokens)}, rows.time(time, 1e-6),
              "vllm");
  }
}

void read_per_sequence(Calibration& c, const std::string& path) {
  CsvTable rows(path);
  const std::size_t layer = rows.column("layer"), sequences = rows.column("sequences"), time = rows.column("time_us");
  while (rows.next()) {
    add_point(c, add_part(c, std::string(rows.text(layer)), Term::kHead, 1), {rows.size(sequences)},
              rows.time(time, 1e-6), "vllm");
  }
}

/// Chunk and decodes of one step are one kernel here.
void read_attention(Calibration& c, const std::string& path, double n) {
  CsvTable rows(path);
  const std::size_t columns[] = {rows.column("prefill_chunk"), rows.column("kv_prefill"), rows.column("n_decode"),
                                 rows.column("kv_decode")};
  const std::size_t time = rows.column("time_us");
  const std::size_t prefill = add_part(c, "prefill attention", Term::kPrefill, n);
  const std::size_t decode = add_part(c, "decode attention", Term::kDecode, n);
  const std::size_t mixed = add_part(c, "attention of chunk and decodes", Term::kMixed, n);
  while (rows.next()) {
    Shape x{};
    for (std::size_t a = 0; a < 4; ++a) x[a] = rows.size(columns[a], 0);
    const double seconds = rows.time(time, 1e-6);
    if (x[2] == 0)
      add_point(c, prefill, {x[0], x[1]}, seconds, "vllm");
    else if (x[0] == 0)
      add_point(c, decode, {x[2], x[3]}, seconds, "vllm");
    else
      add_point(c, mixed, x, seconds, "vllm");
  }
}

/// The tables do not say what they were measured on; their names do ("…_meta-llama_Llama-3.1-8B_bf16_tp1").
void check_name(const std::string& source, const std::string& of, const CurveIdentity& identity) {
  const auto has = [&](std::string word) {
    const auto same = [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    return std::search(of.begin(), of.end(), word.begin(), word.end(), same) != of.end();
  };
  for (const std::string& word : {identity.shape.name, fmt::format("_{}_", name(identity.weights))}) {
    if (!has(word))
      throw ConfigError(Location{source}, "", fmt::format("is of something else: {} is not in its name", quote(word)));
  }
}

/// One of the published files has a second, coarser grid between the powers of two: all of it is held out. A file
/// without one is held out by axis.
void hold_out_second_grid(Calibration& c) {
  const auto on_grid = [](std::int64_t x) { return (x & (x - 1)) == 0; };
  bool second = false;
  for (Point& p : c.points) {
    if (axes(c.parts[p.part].term) < 2) continue;
    for (const std::int64_t x : p.shape) p.held_out = p.held_out || !on_grid(x);
    second = second || p.held_out;
  }
  Calibration lines = c;
  hold_out(lines);
  for (std::size_t i = 0; i < c.points.size(); ++i) {
    if (!second || axes(c.parts[c.points[i].part].term) == 1) c.points[i].held_out = lines.points[i].held_out;
  }
}

}  // namespace

Calibration import_vllm_kernels(const std::string& source, const CurveIdentity& identity) {
  if (source.size() < kEnd.size() || source.compare(source.size() - kEnd.size(), kEnd.size(), kEnd) != 0)
    throw ConfigError(Location{source}, "", "is no ..._tpN_attention.csv");
  const std::string prefix = source.substr(0, source.size() - kEnd.size());
  const std::string tp = fmt::format("_tp{}", identity.layout.tp);
  if (prefix.size() < tp.size() || prefix.compare(prefix.size() - tp.size(), tp.size(), tp) != 0)
    throw ConfigError(Location{source}, "", fmt::format("is of another layout than tp={}", identity.layout.tp));
  check_name(source, prefix.substr(prefix.find_last_of('/') + 1), identity);
  Calibration c = imported(identity, source);
  c.head.identity.device = prefix.substr(prefix.find_last_of('/') + 1);
  c.head.identity.implementation = "vllm 0.19.0";
  c.provenance["published"] = "casys-kaist/LLMServingSim@5daddb2 (MIT)";
  const auto n = static_cast<double>(identity.shape.layers);
  read_dense(c, prefix + "_dense.csv", n);
  read_per_sequence(c, prefix + "_per_sequence.csv");
  read_attention(c, source, n);
  hold_out_second_grid(c);
  return c;
}

}  // namespace poolcast::calibration
