// SPDX-License-Identifier: Apache-2.0
// One group of 64 items for each request and KV head, all GROUP query heads together, 64 tokens at a time: an item
// scores a token, then sums 4 outputs of each 64 over a quarter of the tokens. The host defines GROUP and HEAD_DIM.
#define ITEMS 64
#define WHOLE (HEAD_DIM / 4 * 4)
#define FOURS ((HEAD_DIM + 63) / 64)

float4 four(__global const element* from) {
  return (float4)(factor(from[0]), factor(from[1]), factor(from[2]), factor(from[3]));
}

/// Elements d to d + 3 of a row, zero from its end on.
float4 four_of_row(__global const element* row, int d) {
  if (d + 3 < HEAD_DIM) return four(row + d);
  return (float4)(d < HEAD_DIM ? factor(row[d]) : 0, d + 1 < HEAD_DIM ? factor(row[d + 1]) : 0,
                  d + 2 < HEAD_DIM ? factor(row[d + 2]) : 0, 0);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void decode(
    __global const element* q, __global const element* k, __global const element* v, __global const int* blocks,
    __global output* out, int total, int kv_heads, int block, int blocks_of_request) {
  __local float query[GROUP][HEAD_DIM];
  __local float weight[GROUP][ITEMS];
  __local float most[GROUP], all[GROUP], shrink[GROUP];
  __local float parts[4][FOURS * 64];
  __local long row[ITEMS];
  const int item = get_local_id(0), kv_head = get_group_id(0) % kv_heads, request = get_group_id(0) / kv_heads;
  const int x = item % 16, quarter = item / 16;
  const long first = ((long)request * kv_heads + kv_head) * GROUP * HEAD_DIM;
  for (int i = item; i < GROUP * HEAD_DIM; i += ITEMS)
    query[i / HEAD_DIM][i % HEAD_DIM] = factor(q[first + i]) * rsqrt((float)HEAD_DIM);
  for (int g = item; g < GROUP; g += ITEMS) {
    most[g] = -INFINITY;
    all[g] = 0;
  }
  float4 sums[GROUP][FOURS];
  for (int g = 0; g < GROUP; ++g)
    for (int j = 0; j < FOURS; ++j) sums[g][j] = 0;
  for (int token = 0; token < total; token += ITEMS) {
    const int t = token + item, count = min(ITEMS, total - token);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < count) {
      row[item] = (((long)blocks[request * blocks_of_request + t / block] * kv_heads + kv_head) * block + t % block) *
                  HEAD_DIM;
      float4 score[GROUP];
      for (int g = 0; g < GROUP; ++g) score[g] = 0;
      for (int d = 0; d < WHOLE; d += 4) {
        const float4 key = four(k + row[item] + d);
        for (int g = 0; g < GROUP; ++g) score[g] += vload4(0, query[g] + d) * key;
      }
      for (int g = 0; g < GROUP; ++g) {
        float sum = score[g].x + score[g].y + score[g].z + score[g].w;
        for (int d = WHOLE; d < HEAD_DIM; ++d) sum += query[g][d] * factor(k[row[item] + d]);
        weight[g][item] = sum;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int g = item; g < GROUP; g += ITEMS) {
      float greatest = most[g];
      for (int i = 0; i < count; ++i) greatest = fmax(greatest, weight[g][i]);
      shrink[g] = exp(most[g] - greatest);
      most[g] = greatest;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int g = 0; g < GROUP; ++g)
      if (item < count) weight[g][item] = exp(weight[g][item] - most[g]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int g = item; g < GROUP; g += ITEMS) {
      all[g] *= shrink[g];
      for (int i = 0; i < count; ++i) all[g] += weight[g][i];
    }
    for (int g = 0; g < GROUP; ++g)
      for (int j = 0; j < FOURS; ++j) sums[g][j] *= shrink[g];
    for (int i = quarter * 16; i < min(quarter * 16 + 16, count); ++i)
      for (int j = 0; j < FOURS; ++j) {
        const float4 value = four_of_row(v + row[i], 64 * j + 4 * x);
        for (int g = 0; g < GROUP; ++g) sums[g][j] += weight[g][i] * value;
      }
  }
  for (int g = 0; g < GROUP; ++g) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < FOURS; ++j) vstore4(sums[g][j], x + 16 * j, parts[quarter]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = item; d < HEAD_DIM; d += ITEMS)
      out[first + g * HEAD_DIM + d] = rounded((parts[0][d] + parts[1][d] + parts[2][d] + parts[3][d]) / all[g]);
  }
}
