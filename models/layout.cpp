// SPDX-License-Identifier: Apache-2.0
#include "models/layout.h"

#include <string>

#include "models/error.h"
#include "models/transformer.h"

namespace poolcast {
namespace {

void check_divides(const TransformerShape& shape, std::int64_t tp, std::int64_t count, const char* what) {
  if (count % tp == 0) return;
  throw UnsupportedLayout("tp " + std::to_string(tp) + " does not divide the " + std::to_string(count) + " " + what +
                          " of " + shape.name);
}

}  // namespace

void check_layout(const TransformerShape& shape, const Layout& layout) {
  if (layout.tp < 1) throw UnsupportedLayout("tp must be at least 1");
  if (layout.pp < 1) throw UnsupportedLayout("pp must be at least 1");
  if (layout.pp > 1) throw UnsupportedLayout("pipeline parallelism (pp above 1) is not modelled yet");
  check_divides(shape, layout.tp, shape.heads, "attention heads");
  if (shape.dense_layers() > 0) check_divides(shape, layout.tp, shape.intermediate, "columns of the MLP");
  if (shape.moe_layers() > 0) check_divides(shape, layout.tp, shape.moe->intermediate, "columns of an expert");
  // KV heads are cut or, when there are fewer than devices, each is held by tp / kv_heads devices.
  if (!shape.mla && layout.tp % shape.kv_heads != 0) check_divides(shape, layout.tp, shape.kv_heads, "KV heads");
}

}  // namespace poolcast
