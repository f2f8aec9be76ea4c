// As span_exact.h, but what enters both products is rounded to bfloat16, of which an instruction multiplies
// twice as many; sums are float32. For models whose activations are rounded anyhow.

#pragma once

#include "span_exact.h"

#if defined(PARLEY_AVX512) && defined(__AVX512BF16__)
#define PARLEY_BFLOAT16
#endif

namespace {

#ifdef PARLEY_BFLOAT16
constexpr bool kHasBFloat16 = true;

// y (a tile's rows, `Vectors` vectors) = x (rows, depth) @ panel (depth, vectors), added to what is there unless
// `First`; a number of x and of the panel is a pair of bfloat16. It fills the registers, so it is never
// inlined, and its loops are unrolled by hand: else GCC 12 keeps the sums in memory.
template <int Vectors, bool First>
__attribute__((noinline)) void multiply_pairs(const uint32_t* x, size_t x_stride, const uint32_t* panel,
                                              size_t panel_stride, float* y, size_t y_stride, int depth) {
  __m512 acc[kTileRows][Vectors];
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; r++)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; v++)
      acc[r][v] = First ? _mm512_setzero_ps() : _mm512_loadu_ps(y + r * y_stride + v * kLanes);
  for (int k = 0; k < depth; k++) {
    __m512i columns[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; v++) columns[v] = _mm512_loadu_si512(panel + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kTileRows; r++) {
      const __m512i row = _mm512_set1_epi32(x[r * x_stride + k]);
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; v++)
        acc[r][v] = _mm512_dpbf16_ps(acc[r][v], (__m512bh)row, (__m512bh)columns[v]);
    }
    panel += panel_stride;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; r++)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; v++) _mm512_storeu_ps(y + r * y_stride + v * kLanes, acc[r][v]);
}

// 2^x for x <= 0, within 4e-6 of it; 0 for what is far below, and a NaN stays one.
inline __m512 power_of_two(__m512 x) {
  x = _mm512_max_ps(_mm512_set1_ps(-1000.0f), x);
  const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 r = _mm512_sub_ps(x, whole);
  __m512 p = _mm512_set1_ps(0.00958285f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.05590643f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.24024099f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.69312419f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  return _mm512_scalef_ps(p, whole);
}

// A number is a pair of bfloat16: of queries and keys two dimensions of a token, of values a dimension of
// two tokens. Keys of a block lie as [D / 2][token], its values as [token / 2][D].
struct BFloat16Span {
  typedef uint32_t Number;
  static constexpr int kValues = 2;
  static constexpr int kTotals = kLanes;
  static constexpr int kVectors = kSpanKeys / kLanes;

  // Scores are logarithms to base two.
  static void put_query(const float* from, uint32_t* to, int D) {
    const __m512 scale = _mm512_set1_ps(1.44269504f / std::sqrt((float)D));
    for (int d = 0; d < D; d += kLanes) {
      const __m256bh pairs = _mm512_cvtneps_pbh(_mm512_mul_ps(_mm512_loadu_ps(from + d), scale));
      std::memcpy(to + d / 2, &pairs, sizeof pairs);
    }
  }
  static void put_key(const float* row, int token, uint32_t* keys, int D) {
    for (int d = 0; d < D; d += kLanes) {
      const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_loadu_ps(row + d));
      uint32_t pairs[kLanes / 2];
      std::memcpy(pairs, &rounded, sizeof rounded);
      for (int i = 0; i < kLanes / 2; i++) keys[(size_t)(d / 2 + i) * kSpanKeys + token] = pairs[i];
    }
  }
  // Tokens come in order: the first of two clears the place of the second.
  static void put_value(const float* row, int token, uint32_t* values, int D) {
    uint32_t* to = values + (size_t)(token / 2) * D;
    for (int d = 0; d < D; d += kLanes) {
      const __m512i v = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(row + d)));
      const __m512i pairs =
          token % 2 ? _mm512_or_si512(_mm512_loadu_si512(to + d), _mm512_slli_epi32(v, 16)) : v;
      _mm512_storeu_si512(to + d, pairs);
    }
  }

  static void score(const uint32_t* queries, const uint32_t* keys, float* scores, int D) {
    multiply_pairs<kVectors, true>(queries, D / 2, keys, kSpanKeys, scores, kSpanKeys, D / 2);
  }

  // As in float32. Weights are left as pairs at the beginning of the row's scores, and `total` is the sum
  // of what they were rounded to, a vector of parts of it.
  static void weigh(float* scores, int low, int high, float* largest, float* total, float* sums, int D) {
    if (low >= high) {
      std::memset(scores, 0, sizeof(uint32_t) * kSpanKeys / 2);
      return;
    }
    __m512 s[kVectors];
    static_assert(kSpanKeys == 64 && kVectors == 4, "a bit for each key");
    const uint64_t counting = ~0ull >> (kSpanKeys - (high - low)) << low;
    for (int v = 0; v < kVectors; v++)
      s[v] = _mm512_mask_loadu_ps(_mm512_set1_ps(-INFINITY), (__mmask16)(counting >> (v * kLanes)),
                                  scores + v * kLanes);
    const __m512 either = _mm512_max_ps(_mm512_max_ps(s[0], s[1]), _mm512_max_ps(s[2], s[3]));
    const float most = _mm512_reduce_max_ps(either);
    if (most > *largest) {
      const __m512 by = _mm512_set1_ps(std::exp2(*largest - most));
      _mm512_storeu_ps(total, _mm512_mul_ps(_mm512_loadu_ps(total), by));
      for (int d = 0; d < D; d += kLanes)
        _mm512_storeu_ps(sums + d, _mm512_mul_ps(_mm512_loadu_ps(sums + d), by));
      *largest = most;
    }
    const __m512 top = _mm512_set1_ps(*largest);
    const __m512bh ones = (__m512bh)_mm512_set1_epi32(0x3f803f80);
    __m512 added = _mm512_loadu_ps(total);
    for (int v = 0; v < kVectors; v += 2) {
      const __m512bh pairs = _mm512_cvtne2ps_pbh(power_of_two(_mm512_sub_ps(s[v + 1], top)),
                                                 power_of_two(_mm512_sub_ps(s[v], top)));
      std::memcpy(scores + v / 2 * kLanes, &pairs, sizeof pairs);
      added = _mm512_dpbf16_ps(added, pairs, ones);
    }
    _mm512_storeu_ps(total, added);
  }
  static float total(const float* of) { return _mm512_reduce_add_ps(_mm512_loadu_ps(of)); }

  static void gather(const float* weights, const uint32_t* values, float* sums, int D) {
    const auto* x = (const uint32_t*)weights;
    int d = 0;
    for (; d + 4 * kLanes <= D; d += 4 * kLanes)
      multiply_pairs<4, false>(x, kSpanKeys, values + d, D, sums + d, D, kSpanKeys / 2);
    for (; d + 2 * kLanes <= D; d += 2 * kLanes)
      multiply_pairs<2, false>(x, kSpanKeys, values + d, D, sums + d, D, kSpanKeys / 2);
    if (d < D) multiply_pairs<1, false>(x, kSpanKeys, values + d, D, sums + d, D, kSpanKeys / 2);
  }
};

#else
constexpr bool kHasBFloat16 = false;
typedef ExactSpan BFloat16Span;
#endif

}  // namespace
