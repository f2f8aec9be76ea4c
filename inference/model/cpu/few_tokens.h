// Products of a few rows of activations with a quantized matrix, in float32: what decoding
// needs. Weights are dequantized in registers and read once.

#pragma once

#include "blocks.h"

namespace {

// y[m][n .. n + Rows) for `Tokens` rows of x. The tile is small enough that its sums stay in
// registers, and several sums run side by side, so that additions do not wait for one another.
template <class Block, int Rows, int Tokens>
inline void dot_tile(const Block* rows, const float* x, float* y, int N, int K) {
  constexpr int Lanes = Rows * Tokens == 1 ? 4 : Rows * Tokens <= 4 ? 2 : 1;
  int blocks = K / kBlock;
  f32x8 acc[Rows][Tokens][Lanes] = {};
  for (int b = 0; b < blocks; b++) {
    const float* at = x + b * kBlock;
    f32x8 w[Rows][4];
    for (int r = 0; r < Rows; r++) rows[(size_t)r * blocks + b].unpack(w[r]);
    for (int j = 0; j < 4; j++)
      for (int m = 0; m < Tokens; m++) {
        f32x8 v = load<f32x8>(at + (size_t)m * K + 8 * j);
        for (int r = 0; r < Rows; r++) acc[r][m][j % Lanes] += w[r][j] * v;
      }
  }
  for (int r = 0; r < Rows; r++)
    for (int m = 0; m < Tokens; m++) {
      f32x8 total = acc[r][m][0];
      for (int lane = 1; lane < Lanes; lane++) total += acc[r][m][lane];
      y[(size_t)m * N + r] = sum(total);
    }
}

constexpr int kShortRow = 1024;  // eight rows of x this long lie in the first-level cache

template <class Block, int Rows>
inline void dot_rows(const Block* rows, const float* x, float* y, int M, int N, int K) {
  int m = 0;
  if (Rows == 1)
    for (; m + 8 <= M; m += 8)
      dot_tile<Block, 1, 8>(rows, x + (size_t)m * K, y + (size_t)m * N, N, K);
  for (; m + 4 <= M; m += 4)
    dot_tile<Block, Rows, 4>(rows, x + (size_t)m * K, y + (size_t)m * N, N, K);
  if (m + 2 <= M) {
    dot_tile<Block, Rows, 2>(rows, x + (size_t)m * K, y + (size_t)m * N, N, K);
    m += 2;
  }
  if (m < M) dot_tile<Block, Rows, 1>(rows, x + (size_t)m * K, y + (size_t)m * N, N, K);
}

// y (M, N) = x (M, K) @ weight (N, K)^T.
template <class Block>
void linear(const Block* weight, const float* x, float* y, int M, int N, int K) {
  size_t row = K / kBlock;
#pragma omp parallel for schedule(static)
  for (int n = 0; n < N / 2; n++) {
    if (M == 1 || (M >= 8 && K <= kShortRow)) {
      dot_rows<Block, 1>(weight + 2 * n * row, x, y + 2 * n, M, N, K);
      dot_rows<Block, 1>(weight + (2 * n + 1) * row, x, y + 2 * n + 1, M, N, K);
    } else {
      dot_rows<Block, 2>(weight + 2 * n * row, x, y + 2 * n, M, N, K);
    }
  }
  if (N % 2) dot_rows<Block, 1>(weight + (N - 1) * row, x, y + N - 1, M, N, K);
}

}  // namespace
