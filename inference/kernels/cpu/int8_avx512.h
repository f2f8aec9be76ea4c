// Rounding and products in AVX-512 with VNNI, which adds four products of bytes to a sum of 32 bits.

#pragma once

#define PARLEY_INT8

namespace {

constexpr int kTokens = 8;  // at once: their sums stay in registers

inline void round_row(const float* x, Rounded* out, int K) {
  for (int b = 0; b < K / 32; b++, out++) {
    f32xN v[2] = {load<f32xN>(x + b * 32), load<f32xN>(x + b * 32 + 16)};
    __m512 size = _mm512_max_ps(_mm512_abs_ps((__m512)v[0]), _mm512_abs_ps((__m512)v[1]));
    float most = _mm512_reduce_max_ps(size);
    float inverse = most > 0 ? 127.0f / most : 0.0f;
    __m512i q[2];
    for (int j = 0; j < 2; j++) {
      q[j] = _mm512_cvtps_epi32((__m512)(v[j] * inverse));
      _mm_storeu_si128((__m128i*)(out->q + 16 * j), _mm512_cvtepi32_epi8(q[j]));
    }
    const int first = _mm512_reduce_add_epi32(q[0]), second = _mm512_reduce_add_epi32(q[1]);
    out->scale = most / 127.0f;
    out->total = out->scale * (float)(first + second);
    out->less = -128 * (first + second);
    out->less_of_half[0] = -32 * first;
    out->less_of_half[1] = -32 * second;
  }
}

inline __m512i four_of(const int8_t* q) { return _mm512_set1_epi32(load<int32_t>(q)); }

// A sub-block of a group with a byte for each value, unsigned as one side of a product is to be.
struct UnpackedNibbles {  // value = d * q + m
  __m512i q[8];
  f32xN d, m;
};

struct UnpackedSix {  // value = d * (q - 32), d of either half
  __m512i q[8];
  f32xN d[2];
};

struct UnpackedEight {  // value = d * (q - 128)
  __m512i q[8];
  f32xN d;
};

inline void unpack_nibbles(const Part* from, __m512i* q) {
  const __m512i low = _mm512_set1_epi8(15);
  for (int j = 0; j < 4; j++) {
    __m512i both = _mm512_loadu_si512(from[j]);
    q[j] = _mm512_and_si512(both, low);
    q[4 + j] = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
  }
}

// q | (bits shifted by `Left`, to the right where it is negative) & mask.
template <int Left>
inline __m512i with_bits(__m512i q, __m512i bits, __m512i mask) {
  if constexpr (Left > 0) bits = _mm512_slli_epi16(bits, Left);
  if constexpr (Left < 0) bits = _mm512_srli_epi16(bits, -Left);
  return _mm512_ternarylogic_epi32(q, bits, mask, 0xf8);
}

inline void add_one_bit(const Part& high, __m512i* q) {
  const __m512i bits = _mm512_loadu_si512(high), mask = _mm512_set1_epi8(16);
  q[0] = with_bits<4>(q[0], bits, mask), q[1] = with_bits<3>(q[1], bits, mask);
  q[2] = with_bits<2>(q[2], bits, mask), q[3] = with_bits<1>(q[3], bits, mask);
  q[4] = with_bits<0>(q[4], bits, mask), q[5] = with_bits<-1>(q[5], bits, mask);
  q[6] = with_bits<-2>(q[6], bits, mask), q[7] = with_bits<-3>(q[7], bits, mask);
}

inline void add_two_bits(const Part* high, __m512i* q) {
  const __m512i mask = _mm512_set1_epi8(48);
  for (int half = 0; half < 2; half++, q += 4) {
    const __m512i bits = _mm512_loadu_si512(high[half]);
    q[0] = with_bits<4>(q[0], bits, mask), q[1] = with_bits<2>(q[1], bits, mask);
    q[2] = with_bits<0>(q[2], bits, mask), q[3] = with_bits<-2>(q[3], bits, mask);
  }
}

inline UnpackedNibbles unpack(const FourBits& w, const Scales& scales, int) {
  UnpackedNibbles out;
  unpack_nibbles(w.q, out.q);
  out.d = scales.d, out.m = scales.m;
  return out;
}

inline UnpackedNibbles unpack(const FiveBits& w, const Scales& scales, int) {
  UnpackedNibbles out;
  unpack_nibbles(w.q, out.q);
  add_one_bit(w.high, out.q);
  out.d = scales.d, out.m = scales.m;
  return out;
}

inline UnpackedNibbles unpack(const FourBitsK& w, const Scales& scales, int sub) {
  UnpackedNibbles out;
  unpack_nibbles(w.q[sub], out.q);
  const Scales own = w.of_sub_block(scales, sub);
  out.d = own.d, out.m = own.m;
  return out;
}

inline UnpackedNibbles unpack(const FiveBitsK& w, const Scales& scales, int sub) {
  UnpackedNibbles out;
  unpack_nibbles(w.q[sub], out.q);
  add_one_bit(w.high[sub], out.q);
  const Scales own = w.of_sub_block(scales, sub);
  out.d = own.d, out.m = own.m;
  return out;
}

inline UnpackedSix unpack(const SixBitsK& w, const Scales& scales, int sub) {
  UnpackedSix out;
  unpack_nibbles(w.q[sub], out.q);
  add_two_bits(w.high[sub], out.q);
  for (int half = 0; half < 2; half++) out.d[half] = w.of_half(scales, 2 * sub + half);
  return out;
}

inline UnpackedEight unpack(const EightBits& w, const Scales& scales, int) {
  UnpackedEight out;
  const __m512i top = _mm512_set1_epi8((char)0x80);
  for (int j = 0; j < 8; j++) out.q[j] = _mm512_xor_si512(_mm512_loadu_si512(w.q[j]), top);
  out.d = scales.d;
  return out;
}

// sums += parts [begin, end) of the weights by the tokens.
template <int Tokens>
inline void add_products(const __m512i* w, int begin, int end, const Rounded* x, int stride,
                         __m512i* sums) {
  for (int j = begin; j < end; j++)
    for (int t = 0; t < Tokens; t++)
      sums[t] = _mm512_dpbusd_epi32(sums[t], w[j], four_of(x[(size_t)t * stride].q + 4 * j));
}

template <int Tokens>
inline void add_sub_block(const UnpackedNibbles& w, const Rounded* x, int stride, f32xN* acc) {
  __m512i sums[Tokens] = {};
  add_products<Tokens>(w.q, 0, 8, x, stride, sums);
  for (int t = 0; t < Tokens; t++) {
    const Rounded& at = x[(size_t)t * stride];
    acc[t] = fused(floats((i32xN)sums[t]), w.d * at.scale, acc[t]);
    acc[t] = fused(w.m, splat(at.total), acc[t]);
  }
}

template <int Tokens>
inline void add_sub_block(const UnpackedSix& w, const Rounded* x, int stride, f32xN* acc) {
  for (int half = 0; half < 2; half++) {
    __m512i sums[Tokens];
    for (int t = 0; t < Tokens; t++)
      sums[t] = _mm512_set1_epi32(x[(size_t)t * stride].less_of_half[half]);
    add_products<Tokens>(w.q, 4 * half, 4 * half + 4, x, stride, sums);
    for (int t = 0; t < Tokens; t++)
      acc[t] = fused(floats((i32xN)sums[t]), w.d[half] * x[(size_t)t * stride].scale, acc[t]);
  }
}

template <int Tokens>
inline void add_sub_block(const UnpackedEight& w, const Rounded* x, int stride, f32xN* acc) {
  __m512i sums[Tokens];
  for (int t = 0; t < Tokens; t++) sums[t] = _mm512_set1_epi32(x[(size_t)t * stride].less);
  add_products<Tokens>(w.q, 0, 8, x, stride, sums);
  for (int t = 0; t < Tokens; t++)
    acc[t] = fused(floats((i32xN)sums[t]), w.d * x[(size_t)t * stride].scale, acc[t]);
}

}  // namespace
