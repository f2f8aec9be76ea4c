// Products of float32 activations with a quantized matrix: y (M, N) = x (M, K) @ weight^T, where N
// is a multiple of a group.
//
// A few tokens meet the weight as it is unpacked, in registers. For many, a part of it is unpacked
// into the first-level cache, once for all of them: blocking after Goto and van de Geijn 2008
// (Anatomy of high-performance matrix multiplication).

#pragma once

#include <vector>

#include "blocks.h"
#include "tile.h"

namespace {

constexpr int kFewTokens = 8;  // whose sums stay in registers
// k of a panel, which lies in the first-level cache.
template <class Block>
constexpr int kDepth = Block::kSubBlocks == 1 ? 192 : kValues<Block>;

// A group of rows by `Tokens` tokens. Several sums run side by side, so that additions do not wait
// for one another.
template <int Tokens, class Block>
inline void dot_few(const Block* rows, const float* x, float* y, int N, int K) {
  constexpr int kSums = Tokens == 1 ? 4 : Tokens <= 4 ? 2 : 1;
  f32xN acc[Tokens][kSums] = {};
  for (int b = 0; b < K / kValues<Block>; b++, x += kValues<Block>)
    rows[b].each([&](int k, f32xN w) {
      for (int t = 0; t < Tokens; t++) acc[t][k % kSums] = fused(w, splat(x[(size_t)t * K + k]), acc[t][k % kSums]);
    });
  for (int t = 0; t < Tokens; t++) {
    f32xN total = acc[t][0];
    for (int s = 1; s < kSums; s++) total += acc[t][s];
    std::memcpy(y + (size_t)t * N, &total, sizeof total);
  }
}

template <class Block, int Most = kFewTokens>
inline void dot_group(int tokens, const Block* rows, const float* x, float* y, int N, int K) {
  if (tokens == Most)
    dot_few<Most>(rows, x, y, N, K);
  else if constexpr (Most > 1)
    dot_group<Block, Most - 1>(tokens, rows, x, y, N, K);
}

// V groups of rows by all tokens, over a panel (kDepth, V vectors) at a time.
template <int V, class Block>
inline void panel_part(const Block* rows, const float* x, float* y, int M, int N, int K,
                       float* panel) {
  constexpr int kSize = kValues<Block>;
  for (int begin = 0; begin < K; begin += kDepth<Block>) {
    int end = begin + kDepth<Block> < K ? begin + kDepth<Block> : K;
    for (int v = 0; v < V; v++)
      for (int b = begin / kSize; b < end / kSize; b++) {
        float* to = panel + ((size_t)b * kSize - begin) * V * kLanes + v * kLanes;
        rows[(size_t)v * (K / kSize) + b].each(
            [&](int k, f32xN w) { std::memcpy(to + (size_t)k * V * kLanes, &w, sizeof w); });
      }
    for (int m = 0; m < M; m += kTileRows)
      multiply_rows<V>(M - m, x + (size_t)m * K + begin, K, panel, V * kLanes, y + (size_t)m * N, N,
                       end - begin, begin == 0);
  }
}

// Columns [from, to) of y (M, N): multiples of a group, counted from the weight's first row.
template <class Block>
inline void float_part(const Block* weight, const float* x, float* y, int M, int N, int K,
                       int from, int to) {
  size_t row = K / kValues<Block>;
  int n = from;
  if (M > kFewTokens) {
    alignas(64) float panel[kDepth<Block> * kPanel];
    for (; n + kPanel <= to; n += kPanel)
      panel_part<2>(weight + n / kGroup * row, x, y + n, M, N, K, panel);
    for (; n < to; n += kGroup)
      panel_part<1>(weight + n / kGroup * row, x, y + n, M, N, K, panel);
  }
  for (; n < to; n += kGroup) dot_group(M, weight + n / kGroup * row, x, y + n, N, K);
}

}  // namespace
