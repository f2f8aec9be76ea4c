// Products with activations rounded to int8: only where asked for, since it is not the float32
// model any more. Activations are blocks of 32 with a scale each, off by at most 1/254 of the
// block's largest; weights are those of the file.

#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "blocks.h"

namespace {

// 32 activations: x = scale * q.
struct Rounded {
  int8_t q[32];
  float scale;
  float total;  // scale * sum(q): what the constant of a weight block is multiplied with
  int32_t less;  // -128 * sum(q): what is too much where weights are counted from -128
};

}  // namespace

#if defined(PARLEY_AVX512)
#include "int8_avx512.h"
#elif defined(__AVX2__) && defined(__F16C__)
#include "int8_avx2.h"
#endif

namespace {

#ifdef PARLEY_INT8
constexpr bool kHasInt8 = true;

template <class Block>
using Unpacked = std::decay_t<decltype(unpack(std::declval<Block>()))>;

// A group of rows, unpacked or not, by `Tokens` tokens.
template <int Tokens, class Block>
inline void dot_group(const Block* rows, const Rounded* x, float* y, int N, int blocks) {
  f32xN acc[Tokens] = {};
  for (int b = 0; b < blocks; b++) add_block<Tokens>(unpack(rows[b]), x + b, blocks, acc);
  for (int t = 0; t < Tokens; t++) std::memcpy(y + (size_t)t * N, &acc[t], sizeof acc[t]);
}

// The same by `count` tokens, `Tokens` at most.
template <int Tokens, class Block>
inline void dot_group_few(int count, const Block* rows, const Rounded* x, float* y, int N,
                          int blocks) {
  if (count == Tokens)
    dot_group<Tokens>(rows, x, y, N, blocks);
  else if constexpr (Tokens > 1)
    dot_group_few<Tokens - 1>(count, rows, x, y, N, blocks);
}

template <class Block>
inline void dot_group_all(const Block* rows, const Rounded* x, float* y, int M, int N, int blocks) {
  for (int m = 0; m < M; m += kTokens)
    dot_group_few<kTokens>(M - m < kTokens ? M - m : kTokens, rows, x + (size_t)m * blocks,
                           y + (size_t)m * N, N, blocks);
}

// Columns [from, to) of y (M, N) = x @ weight^T: multiples of a group. For many tokens a group is
// unpacked once, into the cache.
template <class Block>
inline void int8_part(const Block* weight, const Rounded* x, float* y, int M, int N, int blocks,
                      int from, int to) {
  const bool many = M > 2 * kTokens;
  std::vector<Unpacked<Block>> unpacked(many ? blocks : 0);
  for (int n = from; n < to; n += kGroup) {
    const Block* rows = weight + (size_t)n / kGroup * blocks;
    for (int b = 0; many && b < blocks; b++) unpacked[b] = unpack(rows[b]);
    if (many)
      dot_group_all(unpacked.data(), x, y + n, M, N, blocks);
    else
      dot_group_all(rows, x, y + n, M, N, blocks);
  }
}

// y (M, N) = x (M, K) @ weight^T, N a multiple of a group.
template <class Block>
void multiply_int8(const Block* weight, const float* x, float* y, int M, int N, int K) {
  constexpr int kRows = 2 * kGroup;  // that a thread takes at once
  int blocks = K / 32;
  std::vector<Rounded> rounded((size_t)M * blocks);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int m = 0; m < M; m++) round_row(x + (size_t)m * K, &rounded[(size_t)m * blocks], K);
#pragma omp for schedule(dynamic)
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
