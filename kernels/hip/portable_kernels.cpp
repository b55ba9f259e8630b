// SPDX-License-Identifier: Apache-2.0
#include "kernels/hip/portable_kernels.h"

#include "kernels/hip/device_run.h"
#include "kernels/hip/portable.h"
#include "kernels/moves/kv_store.h"
#include "kernels/moves/move_case.h"
#include "kernels/rows/row_case.h"

namespace poolcast::hip {
namespace {

using kernels::DeviceKind;
using kernels::DType;
using kernels::Kernel;
using kernels::KernelProblem;
using kernels::KvCopyCase;
using kernels::KvStoreCase;
using kernels::Operation;
using kernels::RotaryCase;
using kernels::RowCase;

Format format_of(DType dtype) { return dtype == DType::kBf16 ? Format::kBf16 : Format::kFp32; }

Rows rows_of(const RowCase& data, DeviceRun& run) {
  const std::int64_t bytes = data.task.rows * data.task.columns * kernels::bytes_per_element(data.dtype);
  const bool losses = data.operation == Operation::kCrossEntropy, gates = data.operation == Operation::kSiluGate;
  Rows r;
  r.in = run.input(data.task.in, gates ? 2 * bytes : bytes);
  r.out = run.output(data.task.out, losses ? data.task.rows * 4 : bytes);
  r.rows = static_cast<int>(data.task.rows);
  r.columns = static_cast<int>(data.task.columns);
  r.format = format_of(data.dtype);
  return r;
}

void softmax(RowCase& data, DeviceRun& run) {
  run.launch = [rows = rows_of(data, run)] { launch_softmax(rows); };
}

void cross_entropy(RowCase& data, DeviceRun& run) {
  const auto* labels = static_cast<const int*>(run.input(data.task.labels, data.task.rows * 4));
  run.launch = [rows = rows_of(data, run), labels] { launch_cross_entropy(rows, labels); };
}

void rms_norm(RowCase& data, DeviceRun& run) {
  const void* weight = run.input(data.task.weight, data.task.columns * kernels::bytes_per_element(data.dtype));
  run.launch = [rows = rows_of(data, run), weight] { launch_rms_norm(rows, weight); };
}

void silu_gate(RowCase& data, DeviceRun& run) {
  run.launch = [rows = rows_of(data, run)] { launch_silu_gate(rows); };
}

void residual_add(RowCase& data, DeviceRun& run) {
  const std::int64_t bytes = data.task.rows * data.task.columns * kernels::bytes_per_element(data.dtype);
  const void* addend = run.input(data.task.addend, bytes);
  run.launch = [rows = rows_of(data, run), addend] { launch_residual_add(rows, addend); };
}

void rotary(RotaryCase& data, DeviceRun& run) {
  const kernels::RotaryTask& task = data.task;
  const std::int64_t bytes = task.tokens * task.heads * task.head_dim * kernels::bytes_per_element(data.dtype);
  Rotary r;
  r.in = run.input(task.in, bytes);
  r.out = run.output(task.out, bytes);
  r.turns = static_cast<const float*>(run.input(task.turns, task.tokens * task.head_dim * 4));
  r.tokens = static_cast<int>(task.tokens);
  r.heads = static_cast<int>(task.heads);
  r.head_dim = static_cast<int>(task.head_dim);
  r.format = format_of(data.dtype);
  run.launch = [r] { launch_rotary(r); };
}

void store(KvStoreCase& data, DeviceRun& run) {
  const kernels::KvStoreTask& task = data.task;
  const std::int64_t token_bytes = task.kv_heads * task.head_bytes, cache_tokens = data.blocks * task.block;
  TokenStore s;
  s.k = run.input(task.k, task.tokens * token_bytes);
  s.v = run.input(task.v, task.tokens * token_bytes);
  s.keys = run.output(task.k_cache, cache_tokens * token_bytes);
  s.values = run.output(task.v_cache, cache_tokens * token_bytes);
  s.slots = run.input(data.slots);
  s.tokens = static_cast<int>(task.tokens);
  s.kv_heads = static_cast<int>(task.kv_heads);
  s.head_bytes = static_cast<int>(task.head_bytes);
  s.block = static_cast<int>(task.block);
  run.launch = [s] { launch_store(s); };
}

void copy_blocks(KvCopyCase& data, DeviceRun& run) {
  BlockCopy c;
  c.keys = run.output(data.k, 2 * data.blocks * data.block_bytes);
  c.values = run.output(data.v, 2 * data.blocks * data.block_bytes);
  c.from = run.input(data.from);
  c.to = run.input(data.to);
  c.count = static_cast<int>(data.blocks);
  c.block_bytes = data.block_bytes;
  run.launch = [c] { launch_block_copy(c); };
}

/// A block of threads for each of `across`, and a grid has at most 2^32 - 1 threads.
std::string why_not_across(const KernelProblem& problem, const char* across) {
  const std::string why = why_not_here(problem);
  if (!why.empty() || problem.dim(across) < (1 << 24)) return why;
  return std::string(across) + " must be less than 2^24";
}
std::string why_not_rows(const KernelProblem& problem) { return why_not_across(problem, "rows"); }
std::string why_not_tokens(const KernelProblem& problem) { return why_not_across(problem, "tokens"); }
std::string why_not_blocks(const KernelProblem& problem) { return why_not_across(problem, "blocks"); }

constexpr Kernel kPortableKernels[] = {
    {Operation::kSoftmax, "hip_portable", DeviceKind::kHip,
     "SIMT, four waves a row, running maximum and sum by shuffles over 64 lanes", why_not_rows,
     prepare<RowCase, softmax>},
    {Operation::kCrossEntropy, "hip_portable", DeviceKind::kHip,
     "SIMT, four waves a row, running maximum and sum by shuffles over 64 lanes", why_not_rows,
     prepare<RowCase, cross_entropy>},
    {Operation::kRmsNorm, "hip_portable", DeviceKind::kHip, "SIMT, four waves a row, sums by shuffles over 64 lanes",
     why_not_rows, prepare<RowCase, rms_norm>},
    {Operation::kSiluGate, "hip_portable", DeviceKind::kHip, "SIMT, four elements a lane", why_not_rows,
     prepare<RowCase, silu_gate>},
    {Operation::kResidualAdd, "hip_portable", DeviceKind::kHip, "SIMT, four elements a lane", why_not_rows,
     prepare<RowCase, residual_add>},
    {Operation::kRotary, "hip_portable", DeviceKind::kHip, "SIMT, four waves a token, cosines and sines from a table",
     why_not_tokens, prepare<RotaryCase, rotary>},
    {Operation::kKvStore, "hip_portable", DeviceKind::kHip, "SIMT, four waves a token's K or V, 16 bytes a lane",
     why_not_tokens, prepare<KvStoreCase, store>},
    {Operation::kKvCopy, "hip_portable", DeviceKind::kHip, "SIMT, four waves a block of K or V, 16 bytes a lane",
     why_not_blocks, prepare<KvCopyCase, copy_blocks>},
};

}  // namespace

std::span<const Kernel> portable_kernels() { return kPortableKernels; }

}  // namespace poolcast::hip
