// SPDX-License-Identifier: Apache-2.0
#include "models/layout.h"

#include <string>

#include "models/error.h"
#include "models/transformer.h"

namespace poolcast {
namespace {

[[noreturn]] void fail(const std::string& why) { throw UnsupportedLayout(why); }

void check_divides(const TransformerShape& shape, const char* degree, std::int64_t parts, std::int64_t count,
                   const char* what) {
  if (count % parts == 0) return;
  fail(std::string(degree) + " " + std::to_string(parts) + " does not divide the " + std::to_string(count) + " " +
       what + " of " + shape.name);
}

void check_experts(const TransformerShape& shape, const Layout& layout) {
  if (layout.ep == 1) return;
  if (shape.moe_layers() == 0)
    fail("ep " + std::to_string(layout.ep) + " needs experts, and " + shape.name + " has none");
  if (layout.tp % layout.ep != 0 && layout.ep != layout.tp * layout.dp) {
    fail("ep " + std::to_string(layout.ep) + " must divide tp (" + std::to_string(layout.tp) + ") or be tp * dp (" +
         std::to_string(layout.tp * layout.dp) + ")");
  }
  check_divides(shape, "ep", layout.ep, shape.moe->experts, "experts");
}

}  // namespace

void check_layout(const TransformerShape& shape, const Layout& layout) {
  if (layout.tp < 1) fail("tp must be at least 1");
  if (layout.pp < 1) fail("pp must be at least 1");
  if (layout.dp < 1) fail("dp must be at least 1");
  if (layout.ep < 1) fail("ep must be at least 1");
  if (layout.pp > shape.layers) {
    fail("pp " + std::to_string(layout.pp) + " is above the " + std::to_string(shape.layers) + " layers of " +
         shape.name);
  }
  check_divides(shape, "tp", layout.tp, shape.heads, "attention heads");
  if (shape.dense_layers() > 0) check_divides(shape, "tp", layout.tp, shape.intermediate, "columns of the MLP");
  check_experts(shape, layout);
  if (shape.moe_layers() > 0) {
    check_divides(shape, "tp", layout.expert_tp(), shape.moe->intermediate, "columns of an expert");
  }
  // KV heads are cut or, when there are fewer than devices, each is held by tp / kv_heads devices.
  if (!shape.mla && layout.tp % shape.kv_heads != 0) {
    check_divides(shape, "tp", layout.tp, shape.kv_heads, "KV heads");
  }
}

std::int64_t stage_layers(std::int64_t layers, std::int64_t pp, std::int64_t stage) {
  const std::int64_t rest = layers % pp;
  const std::int64_t from_back = pp - 1 - stage;  // 0 = the last
  return layers / pp + (from_back >= 1 && from_back <= rest ? 1 : 0);
}

}  // namespace poolcast
