// SPDX-License-Identifier: Apache-2.0
// An item for each pair of a token's heads, tokens in the second dimension; turns are (cosine, sine) of each token and
// pair of a head.
__kernel void rotary(__global const element* in, __global const float2* turns, __global output* out, int heads,
                     int half_dim) {
  const int pair = get_global_id(0), i = pair % half_dim;
  if (pair >= heads * half_dim) return;
  const long token = get_global_id(1), at = (token * heads + pair / half_dim) * 2 * half_dim + i;
  const float2 turn = turns[token * half_dim + i];
  const float a = factor(in[at]), b = factor(in[at + half_dim]);
  out[at] = rounded(a * turn.x - b * turn.y);
  out[at + half_dim] = rounded(b * turn.x + a * turn.y);
}

// K and V of each token to its slot, which is its block * `block` + its place there; tokens in the second dimension.
__kernel void store(__global const element* k, __global const element* v, __global const long* slots,
                    __global element* k_cache, __global element* v_cache, int kv_heads, int head_dim, int block) {
  const int i = get_global_id(0), head = i / head_dim;
  if (head >= kv_heads) return;
  const long token = get_global_id(1), slot = slots[token], from = token * kv_heads * head_dim + i;
  const long to = ((slot / block * kv_heads + head) * block + slot % block) * head_dim + i % head_dim;
  k_cache[to] = k[from];
  v_cache[to] = v[from];
}

#ifdef WORD
// A group for each block of K and, in the second dimension, of V. The host defines WORD and WORDS, a block's number.
__kernel void copy_blocks(__global WORD* k, __global WORD* v, __global const int* from, __global const int* to) {
  __global WORD* cache = get_group_id(1) == 0 ? k : v;
  __global const WORD* source = cache + from[get_group_id(0)] * WORDS;
  __global WORD* target = cache + to[get_group_id(0)] * WORDS;
  for (long i = get_local_id(0); i < WORDS; i += get_local_size(0)) target[i] = source[i];
}
#endif
