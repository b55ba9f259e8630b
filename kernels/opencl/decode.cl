// SPDX-License-Identifier: Apache-2.0
// One group of 64 items for each request and KV head, all GROUP query heads together: an item scores a token, then sums
// its share of the outputs. The host defines GROUP and HEAD_DIM.
#define ITEMS 64
#define OWN ((HEAD_DIM + ITEMS - 1) / ITEMS)

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void decode(
    __global const element* q, __global const element* k, __global const element* v, __global const int* blocks,
    __global output* out, int total, int kv_heads, int block, int blocks_of_request) {
  __local float query[GROUP][HEAD_DIM];
  __local float weight[GROUP][ITEMS];
  __local long row[ITEMS];
  const int item = get_local_id(0), kv_head = get_group_id(0) % kv_heads, request = get_group_id(0) / kv_heads;
  const long first = ((long)request * kv_heads + kv_head) * GROUP * HEAD_DIM;
  for (int i = item; i < GROUP * HEAD_DIM; i += ITEMS)
    query[i / HEAD_DIM][i % HEAD_DIM] = factor(q[first + i]) * rsqrt((float)HEAD_DIM);
  float sums[GROUP][OWN], most[GROUP], all[GROUP];
  for (int g = 0; g < GROUP; ++g) {
    most[g] = -INFINITY;
    all[g] = 0;
    for (int i = 0; i < OWN; ++i) sums[g][i] = 0;
  }
  for (int token = 0; token < total; token += ITEMS) {
    const int t = token + item, count = min(ITEMS, total - token);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < count) {
      row[item] = (((long)blocks[request * blocks_of_request + t / block] * kv_heads + kv_head) * block + t % block) *
                  HEAD_DIM;
      float score[GROUP];
      for (int g = 0; g < GROUP; ++g) score[g] = 0;
      for (int i = 0; i < HEAD_DIM; ++i) {
        const float key = factor(k[row[item] + i]);
        for (int g = 0; g < GROUP; ++g) score[g] += query[g][i] * key;
      }
      for (int g = 0; g < GROUP; ++g) weight[g][item] = score[g];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int g = 0; g < GROUP; ++g) {
      float greatest = most[g];
      for (int i = 0; i < count; ++i) greatest = fmax(greatest, weight[g][i]);
      const float shrink = exp(most[g] - greatest);
      most[g] = greatest;
      all[g] *= shrink;
      for (int i = 0; i < OWN; ++i) sums[g][i] *= shrink;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int g = 0; g < GROUP; ++g)
      if (item < count) weight[g][item] = exp(weight[g][item] - most[g]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < OWN; ++j) {
        const int d = item + ITEMS * j;
        const float value = d < HEAD_DIM ? factor(v[row[i] + d]) : 0;
        for (int g = 0; g < GROUP; ++g) sums[g][j] += weight[g][i] * value;
      }
    for (int g = 0; g < GROUP; ++g)
      for (int i = 0; i < count; ++i) all[g] += weight[g][i];
  }
  for (int g = 0; g < GROUP; ++g)
    for (int j = 0; j < OWN; ++j)
      if (item + ITEMS * j < HEAD_DIM) out[first + g * HEAD_DIM + item + ITEMS * j] = rounded(sums[g][j] / all[g]);
}
