// SPDX-License-Identifier: Apache-2.0
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>

#include "kernels/hip/device.h"
#include "kernels/hip/elements.hiph"
#include "kernels/hip/mfma.h"
#include "kernels/hip/portable.h"

// Four waves share a row; each lane takes four neighbouring elements at once where the row's length allows, else one.
// What needs a sum over the row reads it twice. Sums go over the 64 lanes by shuffles, over the four waves through LDS.
namespace poolcast::hip {
namespace {

constexpr int kThreads = 256;
constexpr int kWaves = kThreads / kWave;

/// Over the lanes of the wave, the same in each.
template <class Combine>
__device__ inline float over_wave(float x, Combine combine) {
  for (int flip = kWave / 2; flip > 0; flip /= 2) {
    x = combine(x, __shfl_xor(x, flip));
  }
  return x;
}

struct LargestAndSum {
  float largest, sum;  // sum of exp(x - largest)
};

/// Both rescaled to the larger of the two; one alone may be of nothing.
__device__ inline LargestAndSum joined(const LargestAndSum& a, const LargestAndSum& b) {
  const float largest = fmaxf(a.largest, b.largest);
  const auto kept = [&](const LargestAndSum& one) {
    return one.largest == largest ? one.sum : one.sum * __expf(one.largest - largest);
  };
  return {largest, kept(a) + kept(b)};
}

template <class Element, int kAtOnce>
__device__ inline LargestAndSum largest_and_sum(const Element* row, int columns) {
  __shared__ LargestAndSum of_waves[kWaves];
  const int thread = static_cast<int>(threadIdx.x);
  LargestAndSum own = {-INFINITY, 0};
  for (int i = thread * kAtOnce; i < columns; i += kThreads * kAtOnce) {
    const auto pack = *reinterpret_cast<const Pack<Element, kAtOnce>*>(row + i);
    float most = to_float(pack.of[0]), sum = 0;
    for (int j = 1; j < kAtOnce; ++j) {
      most = fmaxf(most, to_float(pack.of[j]));
    }
    for (int j = 0; j < kAtOnce; ++j) {
      sum += __expf(to_float(pack.of[j]) - most);
    }
    own = joined(own, {most, sum});
  }
  for (int flip = kWave / 2; flip > 0; flip /= 2) {
    own = joined(own, {__shfl_xor(own.largest, flip), __shfl_xor(own.sum, flip)});
  }
  if (thread % kWave == 0) {
    of_waves[thread / kWave] = own;
  }
  __syncthreads();
  own = of_waves[0];
  for (int wave = 1; wave < kWaves; ++wave) {
    own = joined(own, of_waves[wave]);
  }
  return own;
}

template <class Element, int kAtOnce>
__global__ void __launch_bounds__(kThreads) softmax_kernel(const Rows r) {
  const long at = static_cast<long>(blockIdx.x) * r.columns;
  const auto* row = static_cast<const Element*>(r.in) + at;
  const LargestAndSum of = largest_and_sum<Element, kAtOnce>(row, r.columns);
  const float share = 1.0f / of.sum;
  for (int i = static_cast<int>(threadIdx.x) * kAtOnce; i < r.columns; i += kThreads * kAtOnce) {
    auto pack = *reinterpret_cast<const Pack<Element, kAtOnce>*>(row + i);
    for (int j = 0; j < kAtOnce; ++j) {
      put(pack.of[j], __expf(to_float(pack.of[j]) - of.largest) * share);
    }
    *reinterpret_cast<Pack<Element, kAtOnce>*>(static_cast<Element*>(r.out) + at + i) = pack;
  }
}

template <class Element, int kAtOnce>
__global__ void __launch_bounds__(kThreads) cross_entropy_kernel(const Rows r, const int* labels) {
  const auto* row = static_cast<const Element*>(r.in) + static_cast<long>(blockIdx.x) * r.columns;
  const LargestAndSum of = largest_and_sum<Element, kAtOnce>(row, r.columns);
  if (threadIdx.x == 0) {
    static_cast<float*>(r.out)[blockIdx.x] = logf(of.sum) + (of.largest - to_float(row[labels[blockIdx.x]]));
  }
}

template <class Element, int kAtOnce>
__global__ void __launch_bounds__(kThreads) rms_norm_kernel(const Rows r, const void* weight) {
  __shared__ float of_waves[kWaves];
  const int thread = static_cast<int>(threadIdx.x);
  const long at = static_cast<long>(blockIdx.x) * r.columns;
  const auto* row = static_cast<const Element*>(r.in) + at;
  float squares = 0;
  for (int i = thread * kAtOnce; i < r.columns; i += kThreads * kAtOnce) {
    const auto pack = *reinterpret_cast<const Pack<Element, kAtOnce>*>(row + i);
    for (int j = 0; j < kAtOnce; ++j) {
      squares += to_float(pack.of[j]) * to_float(pack.of[j]);
    }
  }
  squares = over_wave(squares, [](float a, float b) { return a + b; });
  if (thread % kWave == 0) {
    of_waves[thread / kWave] = squares;
  }
  __syncthreads();
  squares = 0;
  for (int wave = 0; wave < kWaves; ++wave) {
    squares += of_waves[wave];
  }
  const float scale = rsqrtf(squares / static_cast<float>(r.columns) + 1e-6f);
  for (int i = thread * kAtOnce; i < r.columns; i += kThreads * kAtOnce) {
    auto pack = *reinterpret_cast<const Pack<Element, kAtOnce>*>(row + i);
    const auto by = *reinterpret_cast<const Pack<Element, kAtOnce>*>(static_cast<const Element*>(weight) + i);
    for (int j = 0; j < kAtOnce; ++j) {
      put(pack.of[j], to_float(pack.of[j]) * scale * to_float(by.of[j]));
    }
    *reinterpret_cast<Pack<Element, kAtOnce>*>(static_cast<Element*>(r.out) + at + i) = pack;
  }
}

/// Grid: rows, then pieces of a row.
template <class Element, int kAtOnce>
__global__ void __launch_bounds__(kThreads) silu_gate_kernel(const Rows r) {
  const auto* gates = static_cast<const Element*>(r.in) + static_cast<long>(blockIdx.x) * 2 * r.columns;
  auto* out = static_cast<Element*>(r.out) + static_cast<long>(blockIdx.x) * r.columns;
  const int thread = static_cast<int>(blockIdx.y * kThreads + threadIdx.x),
            threads = static_cast<int>(gridDim.y) * kThreads;
  for (long i = static_cast<long>(thread) * kAtOnce; i < r.columns; i += static_cast<long>(threads) * kAtOnce) {
    auto pack = *reinterpret_cast<const Pack<Element, kAtOnce>*>(gates + i);
    const auto by = *reinterpret_cast<const Pack<Element, kAtOnce>*>(gates + r.columns + i);
    for (int j = 0; j < kAtOnce; ++j) {
      const float x = to_float(pack.of[j]);
      put(pack.of[j], x / (1.0f + __expf(-x)) * to_float(by.of[j]));
    }
    *reinterpret_cast<Pack<Element, kAtOnce>*>(out + i) = pack;
  }
}

/// Rows mean nothing to it: all elements in one sequence.
template <class Element, int kAtOnce>
__global__ void __launch_bounds__(kThreads) residual_add_kernel(const Rows r, const void* addend) {
  const long elements = static_cast<long>(r.rows) * r.columns;
  for (long i = (static_cast<long>(blockIdx.x) * kThreads + threadIdx.x) * kAtOnce; i < elements;
       i += static_cast<long>(gridDim.x) * kThreads * kAtOnce) {
    auto pack = *reinterpret_cast<const Pack<Element, kAtOnce>*>(static_cast<const Element*>(r.in) + i);
    const auto by = *reinterpret_cast<const Pack<Element, kAtOnce>*>(static_cast<const Element*>(addend) + i);
    for (int j = 0; j < kAtOnce; ++j) {
      put(pack.of[j], to_float(pack.of[j]) + to_float(by.of[j]));
    }
    *reinterpret_cast<Pack<Element, kAtOnce>*>(static_cast<Element*>(r.out) + i) = pack;
  }
}

template <int kAtOnce>
struct Width {
  static constexpr int value = kAtOnce;
};

/// Calls use(element, width) with the type of an element and how many a lane takes at once.
template <class Use>
void with_element(const Rows& r, Use use) {
  const auto with_width = [&](auto element) {
    r.columns % 4 == 0 ? use(element, Width<4>{}) : use(element, Width<1>{});
  };
  r.format == Format::kBf16 ? with_width(std::uint16_t{}) : with_width(float{});
  check_launch();
}

}  // namespace

void launch_softmax(const Rows& r) {
  with_element(r, [&](auto element, auto width) {
    hipLaunchKernelGGL((softmax_kernel<decltype(element), decltype(width)::value>), dim3(static_cast<unsigned>(r.rows)),
                       dim3(kThreads), 0, nullptr, r);
  });
}

void launch_cross_entropy(const Rows& r, const int* labels) {
  with_element(r, [&](auto element, auto width) {
    hipLaunchKernelGGL((cross_entropy_kernel<decltype(element), decltype(width)::value>),
                       dim3(static_cast<unsigned>(r.rows)), dim3(kThreads), 0, nullptr, r, labels);
  });
}

void launch_rms_norm(const Rows& r, const void* weight) {
  with_element(r, [&](auto element, auto width) {
    hipLaunchKernelGGL((rms_norm_kernel<decltype(element), decltype(width)::value>),
                       dim3(static_cast<unsigned>(r.rows)), dim3(kThreads), 0, nullptr, r, weight);
  });
}

void launch_silu_gate(const Rows& r) {
  with_element(r, [&](auto element, auto width) {
    constexpr int kColumns = kThreads * decltype(width)::value;
    const dim3 grid(static_cast<unsigned>(r.rows), static_cast<unsigned>(std::min(r.columns / kColumns + 1, 64)));
    hipLaunchKernelGGL((silu_gate_kernel<decltype(element), decltype(width)::value>), grid, dim3(kThreads), 0, nullptr,
                       r);
  });
}

void launch_residual_add(const Rows& r, const void* addend) {
  with_element(r, [&](auto element, auto width) {
    const long blocks = static_cast<long>(r.rows) * r.columns / (kThreads * decltype(width)::value) + 1;
    hipLaunchKernelGGL((residual_add_kernel<decltype(element), decltype(width)::value>),
                       dim3(static_cast<unsigned>(std::min(blocks, 1L << 16))), dim3(kThreads), 0, nullptr, r, addend);
  });
}

}  // namespace poolcast::hip
