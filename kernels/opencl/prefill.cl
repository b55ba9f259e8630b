// SPDX-License-Identifier: Apache-2.0
// A group of 16 x 4 items for 32 rows of a KV head: row r is query token r / GROUP on the head r % GROUP of those that
// share the KV head, so K and V are read once for all of them. It goes through the tokens before and in the chunk, 64
// at a time: scores from slices of Q and K in local memory, the greatest score and the sum of each row kept up to date,
// outputs in registers. An item has 8 rows, 4 tokens of their scores and 4 of each 64 of their outputs. The host
// defines GROUP and HEAD_DIM.
#define LINES 4
#define OWN 8
#define ROWS 32
#define TILE 64  // tokens
#define ITEMS 64
#define DEPTH 16
#define FOURS ((HEAD_DIM + 63) / 64)  // groups of 4 outputs that an item has of a row
#define WIDE (FOURS * 64)
#define TOKENS (WIDE > 128 ? 4 : 8)  // of V in local memory at once
#define HALF (TILE / 2)

/// Offset of a row in Q and in the output.
long place(int row, int kv_head, int kv_heads) {
  return (((long)(row / GROUP) * kv_heads + kv_head) * GROUP + row % GROUP) * HEAD_DIM;
}

__kernel __attribute__((reqd_work_group_size(16, LINES, 1))) void prefill(
    __global const element* q, __global const element* k, __global const element* v, __global const int* blocks,
    __global output* out, int query, int total, int kv_heads, int block) {
  __local float tile_q[ROWS][DEPTH];
  __local float slice[DEPTH * TILE];  // of K, [DEPTH][TILE]; then of V, [TOKENS][WIDE]
  __local float score[ROWS][TILE];
  __local float part[ROWS][2];
  __local float most[ROWS], all[ROWS], shrink[ROWS];
  __local long at[TILE];  // of the tile's tokens in K and V
  const int x = get_local_id(0), y = get_local_id(1), item = y * 16 + x;
  const int first_row = get_group_id(0) * ROWS, kv_head = get_group_id(1), last_row = query * GROUP - 1;
  const int end = total - query + min(first_row + ROWS - 1, last_row) / GROUP + 1;  // of what any row sees
  const int row = item / 2, half_of_row = item % 2 * HALF;                          // for maximum and sum
  const int seen_by_row = total - query + min(first_row + row, last_row) / GROUP + 1;
  float4 outputs[OWN][FOURS];
  for (int i = 0; i < OWN; ++i)
    for (int j = 0; j < FOURS; ++j) outputs[i][j] = 0;
  if (item < ROWS) {
    most[item] = -INFINITY;
    all[item] = 0;
  }
  for (int token = 0; token < end; token += TILE) {
    const int t = min(token + item, total - 1);
    at[item] = (((long)blocks[t / block] * kv_heads + kv_head) * block + t % block) * HEAD_DIM;
    float4 scores[OWN];
    for (int i = 0; i < OWN; ++i) scores[i] = 0;
    for (int depth = 0; depth < HEAD_DIM; depth += DEPTH) {
      for (int i = item; i < ROWS * DEPTH; i += ITEMS) {
        const int r = i / DEPTH, d = depth + i % DEPTH;
        const long from = place(min(first_row + r, last_row), kv_head, kv_heads);
        tile_q[r][i % DEPTH] = d < HEAD_DIM ? factor(q[from + d]) * rsqrt((float)HEAD_DIM) : 0;
      }
      for (int d = 0; d < DEPTH; ++d)
        slice[d * TILE + item] = depth + d < HEAD_DIM ? factor(k[at[item] + depth + d]) : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int d = 0; d < DEPTH; ++d) {
        const float4 keys = vload4(x, slice + d * TILE);
        for (int i = 0; i < OWN; ++i) scores[i] += tile_q[y * OWN + i][d] * keys;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < OWN; ++i) vstore4(scores[i], x, score[y * OWN + i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int seen = min(seen_by_row - token, half_of_row + HALF);
    float greatest = -INFINITY, sum = 0;
    for (int i = half_of_row; i < seen; ++i) greatest = fmax(greatest, score[row][i]);
    part[row][item % 2] = greatest;
    barrier(CLK_LOCAL_MEM_FENCE);
    greatest = fmax(most[row], fmax(part[row][0], part[row][1]));
    for (int i = half_of_row; i < half_of_row + HALF; ++i) {
      const float weight = i < seen ? exp(score[row][i] - greatest) : 0;
      score[row][i] = weight;
      sum += weight;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    part[row][item % 2] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item % 2 == 0) {
      shrink[row] = exp(most[row] - greatest);
      most[row] = greatest;
      all[row] = all[row] * shrink[row] + part[row][0] + part[row][1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < OWN; ++i)
      for (int j = 0; j < FOURS; ++j) outputs[i][j] *= shrink[y * OWN + i];
    for (int first = 0; first < min(TILE, end - token); first += TOKENS) {
      for (int i = item; i < TOKENS * WIDE; i += ITEMS)
        slice[i] = i % WIDE < HEAD_DIM ? factor(v[at[first + i / WIDE] + i % WIDE]) : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int j = 0; j < FOURS; ++j)
        for (int i = 0; i < TOKENS; ++i) {
          const float4 values = vload4(x + 16 * j, slice + i * WIDE);
          for (int r = 0; r < OWN; ++r) outputs[r][j] += score[y * OWN + r][first + i] * values;
        }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  for (int i = 0; i < OWN; ++i) {
    const int r = y * OWN + i;
    if (first_row + r > last_row) continue;
    for (int j = 0; j < FOURS; ++j) {
      float values[4];
      vstore4(outputs[i][j] / all[r], 0, values);
      for (int c = 0; c < 4; ++c) {
        const int d = (x + 16 * j) * 4 + c;
        if (d < HEAD_DIM) out[place(first_row + r, kv_head, kv_heads) + d] = rounded(values[c]);
      }
    }
  }
}
