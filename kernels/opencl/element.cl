// SPDX-License-Identifier: Apache-2.0
// What all kernels here share. The host defines BF16, FP32 or INT8.
#ifdef FP32
typedef float element;
typedef float sum;
typedef float4 sum4;
typedef float output;
float factor(element x) { return x; }
output rounded(float x) { return x; }
#endif
#ifdef BF16
typedef ushort element;
typedef float sum;
typedef float4 sum4;
typedef ushort output;
float factor(element x) { return as_float((uint)x << 16); }
output rounded(float x) {  // to nearest, ties to even
  const uint bits = as_uint(x);
  return (ushort)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
#endif
#ifdef INT8
typedef char element;
typedef int sum;
typedef int4 sum4;
typedef int output;
int factor(element x) { return x; }
output rounded(int x) { return x; }
#endif
