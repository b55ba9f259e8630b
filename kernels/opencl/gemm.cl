// SPDX-License-Identifier: Apache-2.0
// C = A B. A group of 16 x 4 items makes a tile of 4 ROWS x 64 outputs, each item ROWS x 4 of them, from slices of A
// and B in local memory. The host defines ROWS, few where C has few rows.
#define LINES 4
#define TILE (LINES * ROWS)
#define WIDE 64
#define DEPTH 32

/// Rows `first_row` to `end_row` at most of C[..,n], from column `first_column` on. Row i of C is made from row i of
/// A[..,k], or from row token_of[i].
void multiply(__global const element* a, __global const int* token_of, __global const element* b, __global output* c,
              int first_row, int end_row, int first_column, int n, int k, __local sum (*tile_a)[DEPTH],
              __local sum (*tile_b)[WIDE]) {
  const int x = get_local_id(0), y = get_local_id(1), item = y * 16 + x, column = first_column + item;
  sum4 sums[ROWS];
  for (int i = 0; i < ROWS; ++i) sums[i] = 0;
  for (int depth = 0; depth < k; depth += DEPTH) {
    for (int i = item; i < TILE * DEPTH; i += WIDE) {
      const int r = i / DEPTH, d = depth + i % DEPTH, row = first_row + r;
      const bool inside = row < end_row && d < k;
      tile_a[r][i % DEPTH] = inside ? factor(a[(long)(token_of ? token_of[row] : row) * k + d]) : 0;
    }
    for (int d = 0; d < DEPTH; ++d)
      tile_b[d][item] = depth + d < k && column < n ? factor(b[(long)(depth + d) * n + column]) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 0; d < DEPTH; ++d) {
      const sum4 factors = vload4(x, tile_b[d]);
      for (int i = 0; i < ROWS; ++i) sums[i] += tile_a[y * ROWS + i][d] * factors;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < ROWS; ++i) {
    const int row = first_row + y * ROWS + i;
    sum values[4];
    vstore4(sums[i], 0, values);
    for (int j = 0; j < 4; ++j)
      if (row < end_row && first_column + 4 * x + j < n)
        c[(long)row * n + first_column + 4 * x + j] = rounded(values[j]);
  }
}

__kernel __attribute__((reqd_work_group_size(16, LINES, 1))) void gemm(__global const element* a,
                                                                       __global const element* b, __global output* c,
                                                                       int m, int n, int k) {
  __local sum tile_a[TILE][DEPTH];
  __local sum tile_b[DEPTH][WIDE];
  multiply(a, 0, b, c, get_group_id(1) * TILE, m, get_group_id(0) * WIDE, n, k, tile_a, tile_b);
}

/// Each expert has rows of C of its own; `tiles` says of each tile its expert, its first row and where the expert ends.
__kernel __attribute__((reqd_work_group_size(16, LINES, 1))) void grouped_gemm(
    __global const element* rows, __global const element* weights, __global const int* token_of,
    __global const int* tiles, __global output* c, int n, int k) {
  __local sum tile_a[TILE][DEPTH];
  __local sum tile_b[DEPTH][WIDE];
  __global const int* tile = tiles + 3 * get_group_id(1);
  multiply(rows, token_of, weights + (long)tile[0] * k * n, c, tile[1], tile[2], get_group_id(0) * WIDE, n, k, tile_a,
           tile_b);
}

#ifdef ACROSS
/// The same for up to 16 rows of C, which ROWS then are: nothing is read twice, so only sums go through local memory. A
/// group of 256 items makes ROWS x 4 ACROSS outputs; each line of ACROSS items takes four rows of B in every 4 PARTS.
/// The barrier after them is for CPUs, whose items run one after the other: it keeps them side by side.
#define PARTS (256 / ACROSS)
__kernel __attribute__((reqd_work_group_size(ACROSS, PARTS, 1))) void gemm_few(__global const element* a,
                                                                               __global const element* b,
                                                                               __global output* c, int m, int n,
                                                                               int k) {
  __local sum parts[PARTS][4 * ACROSS];
  const int x = get_local_id(0), y = get_local_id(1), first_column = get_group_id(0) * 4 * ACROSS;
  sum4 sums[ROWS];
  for (int i = 0; i < ROWS; ++i) sums[i] = 0;
  for (int depth = 0; depth < k; depth += 4 * PARTS) {
    for (int d = depth + 4 * y; d < min(depth + 4 * y + 4, k); ++d) {
      sum factors[4];
      for (int j = 0; j < 4; ++j) {
        const int column = first_column + 4 * x + j;
        factors[j] = column < n ? factor(b[(long)d * n + column]) : 0;
      }
      for (int i = 0; i < ROWS; ++i) sums[i] += factor(a[(long)i * k + d]) * vload4(0, factors);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < ROWS; ++i) {
    barrier(CLK_LOCAL_MEM_FENCE);
    vstore4(sums[i], x, parts[y]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = y * ACROSS + x; j < 4 * ACROSS; j += 256) {
      sum all = 0;
      for (int line = 0; line < PARTS; ++line) all += parts[line][j];
      if (first_column + j < n) c[(long)i * n + first_column + j] = rounded(all);
    }
  }
}
#endif
