// SPDX-License-Identifier: Apache-2.0
// C[m,n] = A[m,k] B[k,n]. A group of 16 x 16 items makes 64 x 64 outputs, each item 4 x 4 of them, from tiles of A and B
// in local memory.
#define TILE 64
#define DEPTH 16
#define OWN 4

__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void gemm(__global const element* a, __global const element* b,
                                                                    __global output* c, int m, int n, int k) {
  __local sum tile_a[DEPTH][TILE];
  __local sum tile_b[DEPTH][TILE];
  const int x = get_local_id(0), y = get_local_id(1);
  const int first_row = get_group_id(1) * TILE, first_column = get_group_id(0) * TILE;
  sum sums[OWN][OWN];
  for (int i = 0; i < OWN; ++i)
    for (int j = 0; j < OWN; ++j) sums[i][j] = 0;
  for (int depth = 0; depth < k; depth += DEPTH) {
    for (int i = 0; i < OWN; ++i) {
      const int row = first_row + y + 16 * i, column = first_column + x + 16 * i;
      tile_a[x][y + 16 * i] = row < m && depth + x < k ? factor(a[(long)row * k + depth + x]) : 0;
      tile_b[y][x + 16 * i] = column < n && depth + y < k ? factor(b[(long)(depth + y) * n + column]) : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 0; d < DEPTH; ++d)
      for (int i = 0; i < OWN; ++i)
        for (int j = 0; j < OWN; ++j) sums[i][j] += tile_a[d][y + 16 * i] * tile_b[d][x + 16 * j];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < OWN; ++i)
    for (int j = 0; j < OWN; ++j) {
      const int row = first_row + y + 16 * i, column = first_column + x + 16 * j;
      if (row < m && column < n) c[(long)row * n + column] = rounded(sums[i][j]);
    }
}
