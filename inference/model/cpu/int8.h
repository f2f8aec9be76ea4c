// Products with activations rounded to int8: only where asked for, since it is not the float32
// model any more. Activations are blocks of 32 with a scale each, off by at most 1/254 of the
// block's largest; weights are those of the file.
//
// Eight rows of the weight lie side by side, four bytes of each in turn, so that one
// instruction multiplies 32 bytes and its sums are those of eight outputs: no horizontal
// sums, and a block's eight scales are one vector.

#pragma once

#include "vectors.h"

#include <vector>

namespace {

constexpr int kGroup = 8;  // rows of the weight side by side

// Blocks of eight rows. Byte 4 r + i of part j is row r's value at k = 4 j + i.
struct FourBits {
  _Float16 d[kGroup], m[kGroup];
  uint8_t q[4][32];  // low halves: parts 0 to 3, high halves: parts 4 to 7
};

struct EightBits {
  _Float16 d[kGroup];
  int8_t q[8][32];
};

static_assert(sizeof(FourBits) == 160 && sizeof(EightBits) == 272);

// 32 activations: x = scale * q.
struct Rounded {
  int8_t q[32];
  float scale;
  float total;  // scale * sum(q): what the constant of a weight block is multiplied with
};

#if defined(__AVX2__) && defined(__F16C__)
constexpr bool kHasInt8 = true;

inline void round_row(const float* x, Rounded* out, int K) {
  for (int b = 0; b < K / 32; b++, out++) {
    f32x8 v[4], largest = {};
    for (int j = 0; j < 4; j++) {
      v[j] = load<f32x8>(x + b * 32 + 8 * j);
      f32x8 size = v[j] < 0 ? -v[j] : v[j];
      largest = size > largest ? size : largest;
    }
    float most = 0;
    for (int i = 0; i < 8; i++) most = largest[i] > most ? largest[i] : most;
    float inverse = most > 0 ? 127.0f / most : 0.0f;
    __m256i count = _mm256_setzero_si256();
    for (int j = 0; j < 4; j++) {
      __m256i q = _mm256_cvtps_epi32((__m256)(v[j] * inverse));
      count = _mm256_add_epi32(count, q);
      for (int i = 0; i < 8; i++) out->q[8 * j + i] = (int8_t)((i32x8)q)[i];
    }
    out->scale = most / 127.0f;
    out->total = out->scale * sum(floats((i32x8)count));
  }
}

inline __m256i four_of(const int8_t* q) { return _mm256_set1_epi32(load<int32_t>(q)); }

template <int Tokens>
inline void add_block(const FourBits& w, const Rounded* x, int stride, f32x8* acc) {
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
  f32x8 d = halves(w.d), m = halves(w.m);
  for (int t = 0; t < Tokens; t++) {
    const Rounded& at = x[(size_t)t * stride];
    acc[t] += floats((i32x8)_mm256_madd_epi16(pairs[t], ones)) * (d * at.scale) + m * at.total;
  }
}

template <int Tokens>
inline void add_block(const EightBits& w, const Rounded* x, int stride, f32x8* acc) {
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
  f32x8 d = halves(w.d);
  for (int t = 0; t < Tokens; t++)
    acc[t] += floats((i32x8)sums[t]) * (d * x[(size_t)t * stride].scale);
}

template <int Tokens, class Block>
inline void eight_rows(const Block* rows, const Rounded* x, float* y, int N, int blocks) {
  f32x8 acc[Tokens] = {};
  for (int b = 0; b < blocks; b++) add_block<Tokens>(rows[b], x + b, blocks, acc);
  for (int t = 0; t < Tokens; t++) std::memcpy(y + (size_t)t * N, &acc[t], sizeof acc[t]);
}

constexpr int kCacheBytes = 24 * 1024;  // of rounded activations beside the weight's blocks

// Columns [from, to) of y (M, N) = x @ weight^T: multiples of eight.
template <class Block>
inline void int8_part(const Block* weight, const Rounded* x, float* y, int M, int N, int blocks,
                      int from, int to) {
  int fitting = kCacheBytes / (blocks * (int)sizeof(Rounded)) / 4 * 4;
  int step = fitting > 4 ? fitting : 4;
  for (int begin = 0; begin < M; begin += step) {
    int end = begin + step < M ? begin + step : M;
    for (int n = from; n < to; n += kGroup) {
      const Block* rows = weight + (size_t)n / kGroup * blocks;
      int m = begin;
      for (; m + 4 <= end; m += 4)
        eight_rows<4>(rows, x + (size_t)m * blocks, y + (size_t)m * N + n, N, blocks);
      const Rounded* rest = x + (size_t)m * blocks;
      float* to_rest = y + (size_t)m * N + n;
      if (end - m == 3) eight_rows<3>(rows, rest, to_rest, N, blocks);
      if (end - m == 2) eight_rows<2>(rows, rest, to_rest, N, blocks);
      if (end - m == 1) eight_rows<1>(rows, rest, to_rest, N, blocks);
    }
  }
}

// y (M, N) = x (M, K) @ weight^T, N a multiple of eight.
template <class Block>
void multiply_int8(const Block* weight, const float* x, float* y, int M, int N, int K) {
  constexpr int kRows = 2 * kGroup;  // that a thread takes at once
  int blocks = K / 32;
  std::vector<Rounded> rounded((size_t)M * blocks);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int m = 0; m < M; m++) round_row(x + (size_t)m * K, &rounded[(size_t)m * blocks], K);
#pragma omp for schedule(dynamic, 4)
    for (int n = 0; n < (N + kRows - 1) / kRows; n++)
      int8_part(weight, rounded.data(), y, M, N, blocks, n * kRows,
                (n + 1) * kRows < N ? (n + 1) * kRows : N);
  }
}
#else
constexpr bool kHasInt8 = false;

inline void round_row(const float*, Rounded*, int) {}

template <class Block>
void int8_part(const Block*, const Rounded*, float*, int, int, int, int, int) {}

template <class Block>
void multiply_int8(const Block*, const float*, float*, int, int, int) {}
#endif

}  // namespace
