// SPDX-License-Identifier: Apache-2.0
// A group of 64 items for each row.
#define ITEMS 64

float sum_of_group(float mine, __local float* shared) {
  const int item = get_local_id(0);
  shared[item] = mine;
  for (int width = ITEMS / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width) shared[item] += shared[item + width];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const float all = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return all;
}

float greatest_of_group(float mine, __local float* shared) {
  const int item = get_local_id(0);
  shared[item] = mine;
  for (int width = ITEMS / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width) shared[item] = fmax(shared[item], shared[item + width]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const float greatest = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return greatest;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void softmax(__global const element* in,
                                                                         __global output* out, int columns) {
  __local float shared[ITEMS];
  __global const element* x = in + get_group_id(0) * (long)columns;
  __global output* y = out + get_group_id(0) * (long)columns;
  float most = -INFINITY, total = 0;
  for (int i = get_local_id(0); i < columns; i += ITEMS) most = fmax(most, factor(x[i]));
  most = greatest_of_group(most, shared);
  for (int i = get_local_id(0); i < columns; i += ITEMS) total += exp(factor(x[i]) - most);
  const float scale = 1 / sum_of_group(total, shared);
  for (int i = get_local_id(0); i < columns; i += ITEMS) y[i] = rounded(exp(factor(x[i]) - most) * scale);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void rms_norm(__global const element* in,
                                                                          __global const element* weight,
                                                                          __global output* out, int columns,
                                                                          float epsilon) {
  __local float shared[ITEMS];
  __global const element* x = in + get_group_id(0) * (long)columns;
  __global output* y = out + get_group_id(0) * (long)columns;
  float squares = 0;
  for (int i = get_local_id(0); i < columns; i += ITEMS) squares += factor(x[i]) * factor(x[i]);
  const float scale = rsqrt(sum_of_group(squares, shared) / columns + epsilon);
  for (int i = get_local_id(0); i < columns; i += ITEMS) y[i] = rounded(factor(x[i]) * scale * factor(weight[i]));
}

// log(sum(exp(x))) - x[label] of each row.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void cross_entropy(__global const element* in,
                                                                               __global const int* labels,
                                                                               __global float* out, int columns) {
  __local float shared[ITEMS];
  __global const element* x = in + get_group_id(0) * (long)columns;
  float most = -INFINITY, total = 0;
  for (int i = get_local_id(0); i < columns; i += ITEMS) most = fmax(most, factor(x[i]));
  most = greatest_of_group(most, shared);
  for (int i = get_local_id(0); i < columns; i += ITEMS) total += exp(factor(x[i]) - most);
  total = sum_of_group(total, shared);
  if (get_local_id(0) == 0) out[get_group_id(0)] = log(total) + most - factor(x[labels[get_group_id(0)]]);
}

// A row has its gates, then as many factors.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void silu_gate(__global const element* in,
                                                                           __global output* out, int columns) {
  __global const element* gate = in + get_group_id(0) * 2L * columns;
  __global output* y = out + get_group_id(0) * (long)columns;
  for (int i = get_local_id(0); i < columns; i += ITEMS)
    y[i] = rounded(factor(gate[i]) / (1 + exp(-factor(gate[i]))) * factor(gate[columns + i]));
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void residual_add(__global const element* in,
                                                                              __global const element* addend,
                                                                              __global output* out, int columns) {
  const long row = get_group_id(0) * (long)columns;
  for (int i = get_local_id(0); i < columns; i += ITEMS)
    out[row + i] = rounded(factor(in[row + i]) + factor(addend[row + i]));
}
