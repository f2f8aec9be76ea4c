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
constexpr int kDepth = 192;    // k of a panel: it lies in the first-level cache

// A group of rows by `Tokens` tokens. Several sums run side by side, so that additions do not wait
// for one another.
template <int Tokens, class Block>
inline void dot_few(const Block* rows, const float* x, float* y, int N, int K) {
  constexpr int kSums = Tokens == 1 ? 4 : Tokens <= 4 ? 2 : 1;
  f32xN acc[Tokens][kSums] = {};
  for (int b = 0; b < K / kBlock; b++, x += kBlock)
    rows[b].each([&](int k, f32xN w) {
      for (int t = 0; t < Tokens; t++) acc[t][k % kSums] += w * x[(size_t)t * K + k];
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
  for (int begin = 0; begin < K; begin += kDepth) {
    int end = begin + kDepth < K ? begin + kDepth : K;
    for (int v = 0; v < V; v++)
      for (int b = begin / kBlock; b < end / kBlock; b++) {
        float* to = panel + ((size_t)b * kBlock - begin) * V * kLanes + v * kLanes;
        rows[(size_t)v * (K / kBlock) + b].each(
            [&](int k, f32xN w) { std::memcpy(to + (size_t)k * V * kLanes, &w, sizeof w); });
      }
    for (int m = 0; m < M; m += kTileRows)
      multiply_rows<V>(M - m, x + (size_t)m * K + begin, K, panel, V * kLanes, y + (size_t)m * N, N,
                       end - begin, begin == 0);
  }
}

// Columns [from, to) of y: multiples of a group.
template <class Block>
inline void float_part(const Block* weight, const float* x, float* y, int M, int N, int K,
                       int from, int to) {
  size_t row = K / kBlock;
  int n = from;
  if (M > kFewTokens) {
    alignas(64) float panel[kDepth * kPanel];
    for (; n + kPanel <= to; n += kPanel)
      panel_part<2>(weight + n / kGroup * row, x, y + n, M, N, K, panel);
    for (; n < to; n += kGroup)
      panel_part<1>(weight + n / kGroup * row, x, y + n, M, N, K, panel);
  }
  for (; n < to; n += kGroup) dot_group(M, weight + n / kGroup * row, x, y + n, N, K);
}

template <class Block>
void multiply(const Block* weight, const float* x, float* y, int M, int N, int K) {
  constexpr int kRows = kPanel;  // that a thread takes at once
#pragma omp parallel for schedule(dynamic)
  for (int n = 0; n < (N + kRows - 1) / kRows; n++)
    float_part(weight, x, y, M, N, K, n * kRows, (n + 1) * kRows < N ? (n + 1) * kRows : N);
}

}  // namespace
