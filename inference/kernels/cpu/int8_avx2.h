// Rounding and products in AVX2, which multiplies bytes into sums of 16 bits.

#pragma once

#define PARLEY_INT8

namespace {

constexpr int kTokens = 4;  // at once: their sums stay in registers

inline void round_row(const float* x, Rounded* out, int K) {
  for (int b = 0; b < K / 32; b++, out++) {
    f32xN v[4], largest = {};
    for (int j = 0; j < 4; j++) {
      v[j] = load<f32xN>(x + b * 32 + 8 * j);
      f32xN size = v[j] < 0 ? -v[j] : v[j];
      largest = size > largest ? size : largest;
    }
    float most = greatest(largest);
    float inverse = most > 0 ? 127.0f / most : 0.0f;
    __m256i count = _mm256_setzero_si256();
    for (int j = 0; j < 4; j++) {
      __m256i q = _mm256_cvtps_epi32((__m256)(v[j] * inverse));
      count = _mm256_add_epi32(count, q);
      for (int i = 0; i < 8; i++) out->q[8 * j + i] = (int8_t)((i32xN)q)[i];
    }
    out->scale = most / 127.0f;
    out->total = out->scale * sum(floats((i32xN)count));
    out->less = 0;
  }
}

inline __m256i four_of(const int8_t* q) { return _mm256_set1_epi32(load<int32_t>(q)); }

// A block's bytes are taken apart as they are multiplied.
template <class Block>
inline const Block& unpack(const Block& w) {
  return w;
}

template <int Tokens>
inline void add_block(const FourBits& w, const Rounded* x, int stride, f32xN* acc) {
  __m256i ones = _mm256_set1_epi16(1), low = _mm256_set1_epi8(15);
  __m256i pairs[Tokens] = {};  // 16 sums of 15 * 127 at most: no overflow in 16 bits
  for (int j = 0; j < 4; j++) {
    __m256i both = _mm256_loadu_si256((const __m256i*)w.q[j]);
    __m256i first = _mm256_and_si256(both, low);
    __m256i second = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
    for (int t = 0; t < Tokens; t++) {
      const int8_t* q = x[(size_t)t * stride].q;
      __m256i one = _mm256_maddubs_epi16(first, four_of(q + 4 * j));
      __m256i other = _mm256_maddubs_epi16(second, four_of(q + 16 + 4 * j));
      pairs[t] = _mm256_add_epi16(pairs[t], _mm256_add_epi16(one, other));
      asm("" : "+x"(pairs[t]));  // or GCC adds up all parts at the end, from memory
    }
  }
  f32xN d = halves(w.d), m = halves(w.m);
  for (int t = 0; t < Tokens; t++) {
    const Rounded& at = x[(size_t)t * stride];
    acc[t] += floats((i32xN)_mm256_madd_epi16(pairs[t], ones)) * (d * at.scale) + m * at.total;
  }
}

template <int Tokens>
inline void add_block(const EightBits& w, const Rounded* x, int stride, f32xN* acc) {
  __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[Tokens] = {};
  for (int j = 0; j < 8; j++) {
    __m256i signs = _mm256_loadu_si256((const __m256i*)w.q[j]);
    __m256i sizes = _mm256_abs_epi8(signs);  // maddubs wants one side unsigned
    for (int t = 0; t < Tokens; t++) {
      __m256i turned = _mm256_sign_epi8(four_of(x[(size_t)t * stride].q + 4 * j), signs);
      __m256i pairs = _mm256_maddubs_epi16(sizes, turned);
      sums[t] = _mm256_add_epi32(sums[t], _mm256_madd_epi16(pairs, ones));
    }
  }
  f32xN d = halves(w.d);
  for (int t = 0; t < Tokens; t++)
    acc[t] += floats((i32xN)sums[t]) * (d * x[(size_t)t * stride].scale);
}

}  // namespace
