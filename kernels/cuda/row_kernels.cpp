// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/row_kernels.h"

#include "kernels/cuda/device_run.h"
#include "kernels/cuda/portable.h"
#include "kernels/rows/row_case.h"

namespace poolcast::cuda {
namespace {

using kernels::DeviceKind;
using kernels::Kernel;
using kernels::Operation;
using kernels::RotaryCase;
using kernels::RowCase;

std::size_t bytes_of(std::int64_t elements, kernels::DType dtype) {
  return static_cast<std::size_t>(elements) * static_cast<std::size_t>(kernels::bytes_per_element(dtype));
}

Rows rows_of(const RowCase& data, DeviceRun& run) {
  const std::int64_t elements = data.task.rows * data.task.columns;
  const std::size_t out_bytes = data.operation == Operation::kCrossEntropy
                                    ? static_cast<std::size_t>(data.task.rows) * sizeof(float)
                                    : bytes_of(elements, data.dtype);
  const std::int64_t inputs = data.operation == Operation::kSiluGate ? 2 * elements : elements;
  return {run.input(data.task.in, bytes_of(inputs, data.dtype)), run.output(data.task.out, out_bytes),
          static_cast<int>(data.task.rows), static_cast<int>(data.task.columns), kind_of(data.dtype)};
}

void softmax(RowCase& data, DeviceRun& run) {
  run.launch = [rows = rows_of(data, run)] { launch_softmax(rows, nullptr); };
}

void cross_entropy(RowCase& data, DeviceRun& run) {
  const auto* labels = static_cast<const int*>(
      run.input(data.task.labels, static_cast<std::size_t>(data.task.rows) * sizeof(std::int32_t)));
  run.launch = [rows = rows_of(data, run), labels] { launch_cross_entropy(rows, labels, nullptr); };
}

void rms_norm(RowCase& data, DeviceRun& run) {
  const void* weight = run.input(data.task.weight, bytes_of(data.task.columns, data.dtype));
  run.launch = [rows = rows_of(data, run), weight] { launch_rms_norm(rows, weight, nullptr); };
}

void silu_gate(RowCase& data, DeviceRun& run) {
  run.launch = [rows = rows_of(data, run)] { launch_silu_gate(rows, nullptr); };
}

void residual_add(RowCase& data, DeviceRun& run) {
  const void* addend = run.input(data.task.addend, bytes_of(data.task.rows * data.task.columns, data.dtype));
  run.launch = [rows = rows_of(data, run), addend] { launch_residual_add(rows, addend, nullptr); };
}

void rotary(RotaryCase& data, DeviceRun& run) {
  const kernels::RotaryTask& task = data.task;
  const std::size_t bytes = bytes_of(task.tokens * task.heads * task.head_dim, data.dtype);
  Rotary r;
  r.in = run.input(task.in, bytes);
  r.out = run.output(task.out, bytes);
  r.turns = static_cast<const float*>(
      run.input(task.turns, static_cast<std::size_t>(task.tokens * task.head_dim) * sizeof(float)));
  r.tokens = static_cast<int>(task.tokens);
  r.heads = static_cast<int>(task.heads);
  r.head_dim = static_cast<int>(task.head_dim);
  r.kind = kind_of(data.dtype);
  run.launch = [r] { launch_rotary(r, nullptr); };
}

constexpr Kernel kRowKernels[] = {
    {Operation::kSoftmax, "cuda_portable", DeviceKind::kCuda, "SIMT, a block a row, running maximum and sum",
     why_not_here, prepare<RowCase, softmax>},
    {Operation::kCrossEntropy, "cuda_portable", DeviceKind::kCuda, "SIMT, a block a row, running maximum and sum",
     why_not_here, prepare<RowCase, cross_entropy>},
    {Operation::kRmsNorm, "cuda_portable", DeviceKind::kCuda, "SIMT, a block a row", why_not_here,
     prepare<RowCase, rms_norm>},
    {Operation::kSiluGate, "cuda_portable", DeviceKind::kCuda, "SIMT, a block a row", why_not_here,
     prepare<RowCase, silu_gate>},
    {Operation::kResidualAdd, "cuda_portable", DeviceKind::kCuda, "SIMT, a block a row", why_not_here,
     prepare<RowCase, residual_add>},
    {Operation::kRotary, "cuda_portable", DeviceKind::kCuda, "SIMT, a thread a pair, cosines and sines from a table",
     why_not_here, prepare<RotaryCase, rotary>},
};

}  // namespace

std::span<const Kernel> row_kernels() { return kRowKernels; }

}  // namespace poolcast::cuda
