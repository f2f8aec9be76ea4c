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
  f32xN acc[Rows][Tokens][Lanes] = {};
  for (int b = 0; b < blocks; b++) {
    const float* at = x + b * kBlock;
    f32xN w[Rows][kVectors];
    for (int r = 0; r < Rows; r++) rows[(size_t)r * blocks + b].unpack(w[r]);
    for (int j = 0; j < kVectors; j++)
      for (int m = 0; m < Tokens; m++) {
        f32xN v = load<f32xN>(at + (size_t)m * K + kLanes * j);
        for (int r = 0; r < Rows; r++) acc[r][m][j % Lanes] += w[r][j] * v;
      }
  }
  for (int r = 0; r < Rows; r++)
    for (int m = 0; m < Tokens; m++) {
      f32xN total = acc[r][m][0];
      for (int lane = 1; lane < Lanes; lane++) total += acc[r][m][lane];
      y[(size_t)m * N + r] = sum(total);
    }
}

constexpr int kShortRow = 1024;  // eight rows of x this long lie in the first-level cache

// All M tokens, at most `Most` at once and the rest in one tile too: unpacking costs more than
// multiplying.
template <class Block, int Rows, int Most>
inline void dot_rows(const Block* rows, const float* x, float* y, int M, int N, int K) {
  int m = 0;
  for (; m + Most <= M; m += Most)
    dot_tile<Block, Rows, Most>(rows, x + (size_t)m * K, y + (size_t)m * N, N, K);
  x += (size_t)m * K, y += (size_t)m * N;
  switch (M - m) {
    case 1: dot_tile<Block, Rows, 1>(rows, x, y, N, K); break;
    case 2: dot_tile<Block, Rows, 2>(rows, x, y, N, K); break;
    case 3: dot_tile<Block, Rows, 3>(rows, x, y, N, K); break;
    case 4: dot_tile<Block, Rows, Most == 4 ? 1 : 4>(rows, x, y, N, K); break;
    case 5: dot_tile<Block, Rows, Most == 4 ? 1 : 5>(rows, x, y, N, K); break;
    case 6: dot_tile<Block, Rows, Most == 4 ? 1 : 6>(rows, x, y, N, K); break;
    case 7: dot_tile<Block, Rows, Most == 4 ? 1 : 7>(rows, x, y, N, K); break;
  }
}

// Columns [from, to) of y (M, N) = x (M, K) @ weight (N, K)^T; `from` is even, and so is `to`
// unless it is N.
template <class Block>
inline void linear_part(const Block* weight, const float* x, float* y, int M, int N, int K,
                        int from, int to) {
  size_t row = K / kBlock;
  bool in_pairs = M > 4 && K > kShortRow;
  int n = from;
  if (in_pairs)
    for (; n + 2 <= to; n += 2) dot_rows<Block, 2, 4>(weight + n * row, x, y + n, M, N, K);
  for (; n < to; n++) dot_rows<Block, 1, 8>(weight + n * row, x, y + n, M, N, K);
}

template <class Block>
void linear(const Block* weight, const float* x, float* y, int M, int N, int K) {
  constexpr int kRows = 16;  // that a thread takes at once
#pragma omp parallel for schedule(dynamic, 4)
  for (int n = 0; n < (N + kRows - 1) / kRows; n++)
    linear_part(weight, x, y, M, N, K, n * kRows, (n + 1) * kRows < N ? (n + 1) * kRows : N);
}

}  // namespace
