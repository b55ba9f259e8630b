// SPDX-License-Identifier: Apache-2.0
#include "kernels/opencl/launches.h"

#include <string>
#include <vector>

#include "kernels/opencl/sources.h"

namespace poolcast::kernels {
namespace {

std::string format_option(DType dtype) {
  return dtype == DType::kFp32 ? "-DFP32" : dtype == DType::kBf16 ? "-DBF16" : "-DINT8";
}

std::int64_t up_to_whole(std::int64_t n, std::int64_t group) { return (n + group - 1) / group * group; }

void input_numbers(OpenClRun& run, const std::vector<std::int32_t>& numbers) {
  run.input(numbers.data(), static_cast<std::int64_t>(numbers.size() * sizeof(std::int32_t)));
}

std::int64_t bytes_of_a_sum(DType dtype) { return dtype == DType::kInt8 ? 4 : bytes_per_element(dtype); }

/// A tile has four times as many: no more than the product has, where that is few.
std::int64_t rows_of_an_item(std::int64_t rows) { return rows <= 4 ? 1 : rows <= 16 ? 4 : rows <= 32 ? 8 : 16; }

std::string product_options(DType dtype, std::int64_t rows) {
  return format_option(dtype) + " -DROWS=" + std::to_string(rows);
}

/// Expert, first row and end of the expert of each tile.
std::vector<std::int32_t> tiles_of(const Routing& routing, std::int64_t rows) {
  std::vector<std::int32_t> tiles;
  for (std::size_t expert = 0; expert + 1 < routing.first_row.size(); ++expert)
    for (std::int64_t row = routing.first_row[expert]; row < routing.first_row[expert + 1]; row += rows)
      for (std::int64_t number : {static_cast<std::int64_t>(expert), row, routing.first_row[expert + 1]})
        tiles.push_back(static_cast<std::int32_t>(number));
  return tiles;
}

/// Q, K, V, the blocks and the output: the arguments that both attentions begin with.
void begin_attention(AttentionCase& data, OpenClRun& run, const char* source, const char* kernel) {
  const KvCache& cache = data.cache;
  const std::int64_t element = bytes_per_element(cache.dtype);
  const std::int64_t q_bytes = data.requests * data.query * data.heads * cache.head_dim * element;
  const std::int64_t kv_bytes = data.cache_blocks * cache.kv_heads * cache.block * cache.head_dim * element;
  run.build(source,
            format_option(cache.dtype) + " -DGROUP=" + std::to_string(data.heads / cache.kv_heads) +
                " -DHEAD_DIM=" + std::to_string(cache.head_dim),
            kernel);
  run.input(data.q, q_bytes);
  run.input(cache.k, kv_bytes);
  run.input(cache.v, kv_bytes);
  input_numbers(run, data.blocks);
  run.output(data.out, q_bytes);
}

}  // namespace

void opencl_gemm(GemmCase& data, OpenClRun& run) {
  const bool few = data.m <= 16;
  const std::int64_t element = bytes_per_element(data.dtype), rows = few ? data.m : rows_of_an_item(data.m);
  const std::int64_t across = data.n < 16384 ? 16 : 64;  // wide rows of B: fewer pages; narrow ones: more groups
  if (few)
    run.build(kOpenClGemm, product_options(data.dtype, rows) + " -DACROSS=" + std::to_string(across), "gemm_few");
  else
    run.build(kOpenClGemm, product_options(data.dtype, rows), "gemm");
  run.input(data.a, data.m * data.k * element);
  run.input(data.b, data.k * data.n * element);
  run.output(data.c, data.m * data.n * bytes_of_a_sum(data.dtype));
  for (std::int64_t size : {data.m, data.n, data.k}) run.number(size);
  if (few)
    run.range(up_to_whole(data.n, 4 * across) / 4, 256 / across, across, 256 / across);
  else
    run.range(up_to_whole(data.n, 64) / 4, up_to_whole(data.m, 4 * rows) / rows, 16, 4);
}

void opencl_grouped_gemm(GroupedCase& data, OpenClRun& run) {
  const std::int64_t element = bytes_per_element(data.dtype), made = data.routing.first_row.back();
  const std::int64_t rows = rows_of_an_item((made + data.experts - 1) / data.experts);
  const std::vector<std::int32_t> tiles = tiles_of(data.routing, 4 * rows);
  run.build(kOpenClGemm, product_options(data.dtype, rows), "grouped_gemm");
  run.input(data.rows, data.tokens * data.k * element);
  run.input(data.weights, data.experts * data.k * data.n * element);
  input_numbers(run, data.routing.token_of);
  input_numbers(run, tiles);
  run.output(data.c, made * data.n * bytes_of_a_sum(data.dtype));
  for (std::int64_t size : {data.n, data.k}) run.number(size);
  run.range(up_to_whole(data.n, 64) / 4, static_cast<std::int64_t>(tiles.size() / 3) * 4, 16, 4);
}

void opencl_prefill(AttentionCase& data, OpenClRun& run) {
  const KvCache& cache = data.cache;
  begin_attention(data, run, kOpenClPrefill, "prefill");
  for (std::int64_t number : {data.query, data.total, cache.kv_heads, cache.block}) run.number(number);
  const std::int64_t rows = data.query * (data.heads / cache.kv_heads);
  run.range(up_to_whole(rows, 32) / 2, 4 * cache.kv_heads, 16, 4);
}

void opencl_decode(AttentionCase& data, OpenClRun& run) {
  const KvCache& cache = data.cache;
  begin_attention(data, run, kOpenClDecode, "decode");
  for (std::int64_t number : {data.total, cache.kv_heads, cache.block, data.cache_blocks / data.requests})
    run.number(number);
  run.range(64 * data.requests * cache.kv_heads, 1, 64, 1);
}

void opencl_rows(RowCase& data, OpenClRun& run) {
  const std::int64_t element = bytes_per_element(data.dtype), bytes = data.task.rows * data.task.columns * element;
  run.build(kOpenClRows, format_option(data.dtype), std::string(name(data.operation)));  // named alike
  run.input(data.task.in, data.operation == Operation::kSiluGate ? 2 * bytes : bytes);
  if (data.operation == Operation::kRmsNorm) run.input(data.task.weight, data.task.columns * element);
  if (data.operation == Operation::kCrossEntropy) run.input(data.task.labels, data.task.rows * 4);
  if (data.operation == Operation::kResidualAdd) run.input(data.task.addend, bytes);
  run.output(data.task.out, data.operation == Operation::kCrossEntropy ? data.task.rows * 4 : bytes);
  run.number(data.task.columns);
  if (data.operation == Operation::kRmsNorm) run.number(kRmsEpsilon);
  run.range(64 * data.task.rows, 1, 64, 1);
}

void opencl_rotary(RotaryCase& data, OpenClRun& run) {
  const RotaryTask& task = data.task;
  const std::int64_t bytes = task.tokens * task.heads * task.head_dim * bytes_per_element(data.dtype);
  run.build(kOpenClMoves, format_option(data.dtype), "rotary");
  run.input(task.in, bytes);
  run.input(task.turns, task.tokens * task.head_dim * 4);
  run.output(task.out, bytes);
  run.number(task.heads);
  run.number(task.head_dim / 2);
  run.range(up_to_whole(task.heads * task.head_dim / 2, 64), task.tokens, 64, 1);
}

void opencl_store(KvStoreCase& data, OpenClRun& run) {
  const KvStoreTask& task = data.task;
  const std::int64_t token_bytes = task.kv_heads * task.head_bytes,
                     cache_bytes = data.blocks * task.block * token_bytes;
  const std::int64_t head_dim = task.head_bytes / bytes_per_element(data.dtype);
  run.build(kOpenClMoves, format_option(data.dtype), "store");
  run.input(task.k, task.tokens * token_bytes);
  run.input(task.v, task.tokens * token_bytes);
  run.input(task.slots, task.tokens * 8);
  run.output(task.k_cache, cache_bytes);
  run.output(task.v_cache, cache_bytes);
  for (std::int64_t number : {task.kv_heads, head_dim, task.block}) run.number(number);
  run.range(up_to_whole(task.kv_heads * head_dim, 64), task.tokens, 64, 1);
}

void opencl_copy_blocks(KvCopyCase& data, OpenClRun& run) {
  const std::int64_t word = data.block_bytes % 16 == 0 ? 16 : 1;
  run.build(kOpenClMoves,
            format_option(data.dtype) + " -DWORD=" + (word == 16 ? "uint4" : "uchar") +
                " -DWORDS=" + std::to_string(data.block_bytes / word) + "L",
            "copy_blocks");
  run.output(data.k, 2 * data.blocks * data.block_bytes);
  run.output(data.v, 2 * data.blocks * data.block_bytes);
  input_numbers(run, data.from);
  input_numbers(run, data.to);
  run.range(64 * data.blocks, 2, 64, 1);
}

}  // namespace poolcast::kernels
