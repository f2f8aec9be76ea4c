// Products of many rows of activations with a quantized matrix, in float32: what prompts need.
//
// The weight is dequantized a part at a time into panels that stay in the cache, so memory
// is read as 4-bit blocks and every value is unpacked once for all tokens. Blocking after
// Goto and van de Geijn 2008 (Anatomy of high-performance matrix multiplication).

#pragma once

#include <vector>

#include "blocks.h"

namespace {

constexpr int kTileRows = 6, kTileColumns = 2 * kLanes;  // of y: twelve sums, fifteen registers
constexpr int kDepth = kLanes == 16 ? 192 : 288;  // k of a panel, which lies in the first-level cache
constexpr int kStripGroup = 32; // strips of x (192 rows) that lie in the second-level cache
constexpr int kPanelGroup = 6;  // panels of the weight beside them

// Rows of x as strips of six, k by k: out[strip][k][6]. Missing rows are zero.
inline void pack_strips(const float* x, float* out, int M, int K) {
  int strips = (M + kTileRows - 1) / kTileRows;
#pragma omp parallel for schedule(static)
  for (int s = 0; s < strips; s++) {
    float* to = out + (size_t)s * K * kTileRows;
    for (int r = 0; r < kTileRows; r++) {
      int m = s * kTileRows + r;
      const float* from = x + (size_t)m * K;
      for (int k = 0; k < K; k++) to[(size_t)k * kTileRows + r] = m < M ? from[k] : 0.0f;
    }
  }
}

// `kTileColumns` rows of the weight, k from `begin` to `end`, as out[k][column]. Missing rows are zero.
template <class Block>
inline void pack_panel(const Block* weight, float* out, int n, int N, int begin, int end, int K) {
  alignas(64) float rows[kTileColumns][kBlock] = {};
  for (int k = begin; k < end; k += kBlock) {
    for (int c = 0; c < kTileColumns && n + c < N; c++) {
      f32xN w[kVectors];
      weight[(size_t)(n + c) * (K / kBlock) + k / kBlock].unpack(w);
      std::memcpy(rows[c], w, sizeof w);
    }
    float* to = out + (size_t)(k - begin) * kTileColumns;
    for (int i = 0; i < kBlock; i++)
      for (int c = 0; c < kTileColumns; c++) to[i * kTileColumns + c] = rows[c][i];
  }
}

// y tile (6, kTileColumns) = strip @ panel over `depth`, added to what is there unless `first`.
inline void multiply_tile(const float* strip, const float* panel, float* y, int depth, int N,
                          bool first) {
  f32xN acc[kTileRows][2] = {};
  for (int k = 0; k < depth; k++) {
    f32xN left = load<f32xN>(panel), right = load<f32xN>(panel + kLanes);
    for (int r = 0; r < kTileRows; r++) {
      acc[r][0] += left * strip[r];
      acc[r][1] += right * strip[r];
    }
    strip += kTileRows;
    panel += kTileColumns;
  }
  for (int r = 0; r < kTileRows; r++)
    for (int half = 0; half < 2; half++) {
      float* to = y + (size_t)r * N + kLanes * half;
      f32xN value = first ? acc[r][half] : acc[r][half] + load<f32xN>(to);
      std::memcpy(to, &value, sizeof value);
    }
}

// A tile at the edge of y: computed whole, and what exists of it copied.
inline void multiply_edge(const float* strip, const float* panel, float* y, int depth, int N,
                          bool first, int rows, int columns) {
  float tile[kTileRows * kTileColumns];
  multiply_tile(strip, panel, tile, depth, kTileColumns, true);
  for (int r = 0; r < rows && r < kTileRows; r++)
    for (int c = 0; c < columns && c < kTileColumns; c++) {
      float* to = y + (size_t)r * N + c;
      *to = tile[r * kTileColumns + c] + (first ? 0.0f : *to);
    }
}

// y (M, N) = x (M, K) @ weight (N, K)^T.
template <class Block>
void multiply(const Block* weight, const float* x, float* y, int M, int N, int K) {
  int strips = (M + kTileRows - 1) / kTileRows;
  int panels = (N + kTileColumns - 1) / kTileColumns;
  int groups = (panels + kPanelGroup - 1) / kPanelGroup;
  std::vector<float> packed((size_t)strips * kTileRows * K);
  pack_strips(x, packed.data(), M, K);
#pragma omp parallel
  {
    std::vector<float> scratch((size_t)kPanelGroup * kDepth * kTileColumns);
#pragma omp for schedule(dynamic)
    for (int group = 0; group < groups; group++) {
      int from = group * kPanelGroup, to = from + kPanelGroup < panels ? from + kPanelGroup : panels;
      for (int begin = 0; begin < K; begin += kDepth) {
        int end = begin + kDepth < K ? begin + kDepth : K, depth = end - begin;
        for (int p = from; p < to; p++)
          pack_panel(weight, &scratch[(size_t)(p - from) * kDepth * kTileColumns],
                     p * kTileColumns, N, begin, end, K);
        for (int s0 = 0; s0 < strips; s0 += kStripGroup)
          for (int p = from; p < to; p++)
            for (int s = s0; s < strips && s < s0 + kStripGroup; s++) {
              const float* strip = &packed[((size_t)s * K + begin) * kTileRows];
              const float* panel = &scratch[(size_t)(p - from) * kDepth * kTileColumns];
              int m = s * kTileRows, n = p * kTileColumns;
              float* tile = y + (size_t)m * N + n;
              if (m + kTileRows <= M && n + kTileColumns <= N)
                multiply_tile(strip, panel, tile, depth, N, begin == 0);
              else
                multiply_edge(strip, panel, tile, depth, N, begin == 0, M - m, N - n);
            }
      }
    }
  }
}

}  // namespace
