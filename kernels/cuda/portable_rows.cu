// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <cmath>

#include "kernels/cuda/checked.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/portable.h"

// A block for each row. The row is read twice: once for its sums, once for its outputs (from the caches).
namespace poolcast::cuda {
namespace {

constexpr int kThreads = 256;

struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// The same result in every thread.
template <class Combine>
__device__ float over_block(float value, Combine combine) {
  __shared__ float parts[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
  }
  __syncthreads();  // an earlier call's parts have been read
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = parts[0];
  for (int i = 1; i < kThreads / 32; ++i) {
    value = combine(value, parts[i]);
  }
  return value;
}

struct LargestAndSum {
  float largest, sum;  // sum of exp(x - largest)
};

/// Each thread keeps a running maximum and sum over its columns; then they are joined.
template <class Element>
__device__ LargestAndSum largest_and_sum(const Element* row, int columns) {
  float largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    const float x = to_float(row[i]), joint = fmaxf(largest, x);
    sum = sum * (largest == joint ? 1.0f : __expf(largest - joint)) + __expf(x - joint);
    largest = joint;
  }
  const float joint = over_block(largest, Larger{});
  return {joint, over_block(sum * (largest == joint ? 1.0f : __expf(largest - joint)), Add{})};
}

template <class Element>
__global__ void __launch_bounds__(kThreads) softmax_kernel(const Rows r) {
  const long at = static_cast<long>(blockIdx.x) * r.columns;
  const auto* row = static_cast<const Element*>(r.in) + at;
  const LargestAndSum of = largest_and_sum(row, r.columns);
  const float share = 1.0f / of.sum;
  for (int i = threadIdx.x; i < r.columns; i += kThreads) {
    put(static_cast<Element*>(r.out)[at + i], __expf(to_float(row[i]) - of.largest) * share);
  }
}

template <class Element>
__global__ void __launch_bounds__(kThreads) cross_entropy_kernel(const Rows r, const int* labels) {
  const auto* row = static_cast<const Element*>(r.in) + static_cast<long>(blockIdx.x) * r.columns;
  const LargestAndSum of = largest_and_sum(row, r.columns);
  if (threadIdx.x == 0) {
    static_cast<float*>(r.out)[blockIdx.x] = logf(of.sum) + (of.largest - to_float(row[labels[blockIdx.x]]));
  }
}

template <class Element>
__global__ void __launch_bounds__(kThreads) rms_norm_kernel(const Rows r, const void* weight) {
  const long at = static_cast<long>(blockIdx.x) * r.columns;
  const auto* row = static_cast<const Element*>(r.in) + at;
  float squares = 0;
  for (int i = threadIdx.x; i < r.columns; i += kThreads) {
    const float x = to_float(row[i]);
    squares += x * x;
  }
  const float scale = rsqrtf(over_block(squares, Add{}) / static_cast<float>(r.columns) + 1e-6f);
  for (int i = threadIdx.x; i < r.columns; i += kThreads) {
    put(static_cast<Element*>(r.out)[at + i],
        to_float(row[i]) * scale * to_float(static_cast<const Element*>(weight)[i]));
  }
}

template <class Element>
__global__ void __launch_bounds__(kThreads) silu_gate_kernel(const Rows r) {
  const long at = static_cast<long>(blockIdx.x) * r.columns;
  const auto* gates = static_cast<const Element*>(r.in) + 2 * at;
  for (int i = threadIdx.x; i < r.columns; i += kThreads) {
    const float x = to_float(gates[i]);
    put(static_cast<Element*>(r.out)[at + i], x / (1.0f + __expf(-x)) * to_float(gates[r.columns + i]));
  }
}

template <class Element>
__global__ void __launch_bounds__(kThreads) residual_add_kernel(const Rows r, const void* addend) {
  const long at = static_cast<long>(blockIdx.x) * r.columns;
  const auto *x = static_cast<const Element*>(r.in) + at, *y = static_cast<const Element*>(addend) + at;
  for (int i = threadIdx.x; i < r.columns; i += kThreads) {
    put(static_cast<Element*>(r.out)[at + i], to_float(x[i]) + to_float(y[i]));
  }
}

}  // namespace

void launch_softmax(const Rows& r, Stream stream) {
  with_float_element(r.kind, [&](auto one) { softmax_kernel<decltype(one)><<<r.rows, kThreads, 0, stream>>>(r); });
  check(cudaGetLastError());
}

void launch_cross_entropy(const Rows& r, const int* labels, Stream stream) {
  with_float_element(
      r.kind, [&](auto one) { cross_entropy_kernel<decltype(one)><<<r.rows, kThreads, 0, stream>>>(r, labels); });
  check(cudaGetLastError());
}

void launch_rms_norm(const Rows& r, const void* weight, Stream stream) {
  with_float_element(r.kind,
                     [&](auto one) { rms_norm_kernel<decltype(one)><<<r.rows, kThreads, 0, stream>>>(r, weight); });
  check(cudaGetLastError());
}

void launch_silu_gate(const Rows& r, Stream stream) {
  with_float_element(r.kind, [&](auto one) { silu_gate_kernel<decltype(one)><<<r.rows, kThreads, 0, stream>>>(r); });
  check(cudaGetLastError());
}

void launch_residual_add(const Rows& r, const void* addend, Stream stream) {
  with_float_element(
      r.kind, [&](auto one) { residual_add_kernel<decltype(one)><<<r.rows, kThreads, 0, stream>>>(r, addend); });
  check(cudaGetLastError());
}

}  // namespace poolcast::cuda
