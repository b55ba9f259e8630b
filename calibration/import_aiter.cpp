// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "calibration/csv_table.h"
#include "calibration/import.h"
#include "models/shard.h"
#include "scenarios/error.h"

namespace poolcast::calibration {
namespace {

/// How often a step multiplies by a matrix of this size; 1 where the model has none, so that the table is kept.
double times_of(const CurveIdentity& id, std::int64_t n, std::int64_t k) {
  double times = 0;
  const auto count = [&](const std::vector<Matrix>& matrices, std::int64_t layers) {
    for (const Matrix& m : matrices)
      times += m.out == static_cast<double>(n) && m.in == static_cast<double>(k) ? static_cast<double>(layers) : 0;
  };
  count(attention_matrices(id.shape, id.layout.tp), id.shape.layers);
  count(mlp_matrices(id.shape, id.shape.intermediate, id.layout.tp), id.shape.dense_layers());
  return times > 0 ? times : 1;
}

/// A row says the format of its weights in a column of its own or in the name of its kernel ("a8w8_blockscale…": fp8).
Precision weights_of(const CsvTable& rows) {
  if (rows.has("q_dtype_w")) {
    const std::string_view type = rows.text(rows.column("q_dtype_w"));
    if (type == "torch.int8") return Precision::kInt8;
    if (type.rfind("torch.float8", 0) == 0) return Precision::kFp8;
  }
  return rows.text(rows.column("kernelName")).rfind("a8w8", 0) == 0 ? Precision::kFp8 : Precision::kBf16;
}

}  // namespace

Calibration import_aiter(const std::string& source, const CurveIdentity& identity) {
  Calibration c = imported(identity, source);
  CsvTable rows(source);
  const std::size_t m = rows.column("M"), n = rows.column("N"), k = rows.column("K"), us = rows.column("us"),
                    gfx = rows.column("gfx"), kernel = rows.column("kernelName");
  std::string others;
  while (rows.next()) {
    if (const Precision is = weights_of(rows); is != identity.weights) {
      others = fmt::format(" of {} weights, but of {}", name(identity.weights), name(is));
      continue;
    }
    const std::int64_t out = rows.size(n), in = rows.size(k);
    c.head.identity.device = rows.text(gfx);
    const std::size_t part =
        add_part(c, fmt::format("gemm n={} k={}", out, in), Term::kLinear, times_of(identity, out, in));
    if (rows.number(us) == 0) continue;  // not measured
    add_point(c, part, {rows.size(m)}, rows.time(us, 1e-6), rows.text(kernel));
  }
  if (c.points.empty()) throw ConfigError(Location{source}, "", "has no rows" + others);
  c.head.identity.implementation = "aiter, best kernel of each shape";
  c.provenance["published"] = "ROCm/aiter@e404860 (MIT)";
  c.provenance["note"] = "the fastest of many kernels for each shape: optimistic";
  hold_out(c);
  return c;
}

}  // namespace poolcast::calibration
