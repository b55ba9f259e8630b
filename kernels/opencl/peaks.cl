// SPDX-License-Identifier: Apache-2.0
// Products and sums in registers: eight chains of sixteen numbers that stay near one.
__kernel void multiply_add(__global float* out, float factor, float addend, int rounds) {
  float16 x[8];
  for (int i = 0; i < 8; ++i) x[i] = (float16)(1 + get_global_id(0) % 8 * 0.125f + i);
  for (int r = 0; r < rounds; ++r)
    for (int i = 0; i < 8; ++i) x[i] = mad(x[i], factor, addend);
  const float16 all = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
  const float8 half_of_all = all.lo + all.hi;
  const float4 quarter = half_of_all.lo + half_of_all.hi;
  out[get_global_id(0)] = quarter.x + quarter.y + quarter.z + quarter.w;
}

// A group of 64 items reads `rounds` times 4 KiB in order. The barrier keeps them side by side where items run one
// after the other.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void read_in_order(__global const float* in,
                                                                            __global float* out, int rounds) {
  float4 all = 0;
  for (int r = 0; r < rounds; ++r) {
    __global const float* from = in + (get_group_id(0) * (long)rounds + r) * 1024;
    for (int i = 0; i < 4; ++i) all += vload4(64 * i + get_local_id(0), from);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = all.x + all.y + all.z + all.w;
}
