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
    int count = _mm512_reduce_add_epi32(_mm512_add_epi32(q[0], q[1]));
    out->scale = most / 127.0f;
    out->total = out->scale * (float)count;
    out->less = -128 * count;
  }
}

inline __m512i four_of(const int8_t* q) { return _mm512_set1_epi32(load<int32_t>(q)); }

// Blocks of a group with a byte for each value, unsigned as one side of a product is to be.
struct UnpackedFour {
  __m512i q[8];
  f32xN d, m;
};

struct UnpackedEight {
  __m512i q[8];  // counted from -128
  f32xN d;
};

inline UnpackedFour unpack(const FourBits& w) {
  __m512i low = _mm512_set1_epi8(15);
  UnpackedFour out;
  for (int j = 0; j < 4; j++) {
    __m512i both = _mm512_loadu_si512(w.q[j]);
    out.q[j] = _mm512_and_si512(both, low);
    out.q[4 + j] = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
  }
  out.d = halves(w.d), out.m = halves(w.m);
  return out;
}

inline UnpackedEight unpack(const EightBits& w) {
  __m512i top = _mm512_set1_epi8((char)0x80);
  UnpackedEight out;
  for (int j = 0; j < 8; j++) out.q[j] = _mm512_xor_si512(_mm512_loadu_si512(w.q[j]), top);
  out.d = halves(w.d);
  return out;
}

inline const UnpackedFour& unpack(const UnpackedFour& w) { return w; }
inline const UnpackedEight& unpack(const UnpackedEight& w) { return w; }

template <int Tokens>
inline void add_products(const __m512i* w, const Rounded* x, int stride, __m512i* sums) {
  for (int j = 0; j < 8; j++)
    for (int t = 0; t < Tokens; t++)
      sums[t] = _mm512_dpbusd_epi32(sums[t], w[j], four_of(x[(size_t)t * stride].q + 4 * j));
}

template <int Tokens>
inline void add_block(const UnpackedFour& w, const Rounded* x, int stride, f32xN* acc) {
  __m512i sums[Tokens] = {};
  add_products<Tokens>(w.q, x, stride, sums);
  for (int t = 0; t < Tokens; t++) {
    const Rounded& at = x[(size_t)t * stride];
    acc[t] += floats((i32xN)sums[t]) * (w.d * at.scale) + w.m * at.total;
  }
}

template <int Tokens>
inline void add_block(const UnpackedEight& w, const Rounded* x, int stride, f32xN* acc) {
  __m512i sums[Tokens];
  for (int t = 0; t < Tokens; t++) sums[t] = _mm512_set1_epi32(x[(size_t)t * stride].less);
  add_products<Tokens>(w.q, x, stride, sums);
  for (int t = 0; t < Tokens; t++)
    acc[t] += floats((i32xN)sums[t]) * (w.d * x[(size_t)t * stride].scale);
}

}  // namespace
