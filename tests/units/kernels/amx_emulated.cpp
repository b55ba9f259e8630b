// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "kernels/attention/amx_decode_tiles.h"
#include "kernels/attention/amx_prefill_tiles.h"
#include "kernels/attention/attention_case.h"
#include "kernels/gemm/amx.h"
#include "kernels/gemm/amx_panel.h"
#include "kernels/gemm/gemm_case.h"
#include "kernels/gemm/panel_weight.h"
#include "kernels/kernel.h"
#include "tests/support/emulated_tiles.h"

using namespace poolcast::kernels;

namespace {

PanelFormat emulated_panels(DType dtype) {
  PanelFormat format = amx_panels(dtype);
  format.multiply =
      dtype == DType::kBf16 ? tile_panels<EmulatedTiles, MultiplyBf16> : tile_panels<EmulatedTiles, MultiplyInt8>;
  return format;
}

}  // namespace

TEST_CASE("the GEMM for AMX agrees with the reference when its tiles are emulated") {
  Team team(2);
  for (const char* format : {"bf16", "int8"})
    for (const char* shape : {"m=1 n=1 k=1", "m=16 n=32 k=32", "m=17 n=33 k=65", "m=45 n=300 k=100", "m=33 n=40 k=1100",
                              "m=515 n=65 k=31"}) {
      const auto problem = parse_problem(std::string("gemm ") + format + ' ' + shape).problem;
      REQUIRE(problem);
      Memory memory;
      GemmCase data(*problem, 11, memory);
      PanelWeight weight({data.dtype, data.n, data.k}, emulated_panels(data.dtype), data.b, memory);
      for (int again = 0; again < 2; ++again) {
        data.poison();
        weight.multiply(data.a, data.m, data.c, team);
        INFO(to_text(*problem));
        CHECK(data.error() <= allowed_error(*problem));
      }
    }
}

TEST_CASE("decode attention for AMX agrees with the reference when its tiles are emulated") {
  Team team(2);
  for (const char* shape :
       {"requests=1 context=1 heads=1 kv_heads=1 head_dim=32", "requests=2 context=65 heads=16 kv_heads=2 head_dim=64",
        "requests=1 context=200 heads=7 kv_heads=1 head_dim=96 block=32",
        "requests=1 context=127 heads=19 kv_heads=1 head_dim=128",
        "requests=2 context=48 heads=4 kv_heads=4 head_dim=256"}) {
    const auto problem = parse_problem(std::string("decode_attention bf16 ") + shape).problem;
    REQUIRE(problem);
    Memory memory;
    AttentionCase data(*problem, 5, memory);
    data.poison();
    tiled_decode_attention(data.cache, data.heads, data.sequences, team, tile_decode<EmulatedTiles>);
    INFO(to_text(*problem));
    CHECK(data.error() <= allowed_error(*problem));
  }
}

TEST_CASE("prefill attention for AMX agrees with the reference when its tiles are emulated") {
  Team team(2);
  for (const char* shape :
       {"query=1 heads=1 kv_heads=1 head_dim=32", "query=7 context=3 heads=6 kv_heads=2 head_dim=64",
        "query=65 context=70 heads=4 kv_heads=2 head_dim=96 block=5",
        "query=5 context=131 heads=7 kv_heads=1 head_dim=256", "query=40 heads=2 kv_heads=2 head_dim=128"}) {
    const auto problem = parse_problem(std::string("prefill_attention bf16 ") + shape).problem;
    REQUIRE(problem);
    Memory memory;
    AttentionCase data(*problem, 5, memory);
    data.poison();
    tiled_prefill_attention(data.cache, data.heads, data.sequences, team, tile_prefill<EmulatedTiles>);
    INFO(to_text(*problem));
    CHECK(data.error() <= allowed_error(*problem));
  }
}
