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

}  // namespace

Calibration import_aiter(const std::string& source, const CurveIdentity& identity) {
  Calibration c = imported(identity, source);
  CsvTable rows(source);
  const std::size_t m = rows.column("M"), n = rows.column("N"), k = rows.column("K"), us = rows.column("us"),
                    gfx = rows.column("gfx"), kernel = rows.column("kernelName");
  while (rows.next()) {
    const std::int64_t out = rows.integer(n), in = rows.integer(k);
    c.head.identity.device = rows.text(gfx);
    const std::size_t part =
        add_part(c, fmt::format("gemm n={} k={}", out, in), Term::kLinear, times_of(identity, out, in));
    const double seconds = rows.number(us) * 1e-6;
    if (seconds > 0) add_point(c, part, {rows.integer(m)}, seconds, rows.text(kernel));
  }
  if (c.points.empty()) throw ConfigError(Location{source}, "", "has no rows");
  c.head.identity.implementation = "aiter, best kernel of each shape";
  c.provenance["published"] = "ROCm/aiter@e404860 (MIT)";
  c.provenance["note"] = "the fastest of many kernels for each shape: optimistic";
  hold_out(c);
  return c;
}

}  // namespace poolcast::calibration
