// The product that everything with many rows is made of: a tile whose sums stay in registers.

#pragma once

#include "vectors.h"

namespace {

constexpr int kTileRows = 6;  // with two vectors: twelve sums, fifteen registers in all
constexpr int kPanel = 2 * kLanes;  // columns of such a tile

// y (Rows, V vectors) = x (Rows, depth) @ panel (depth, V vectors), added to what is there unless
// `first`. The strides say how many floats lie from one row to the next.
template <int Rows, int V>
inline void multiply_tile(const float* x, size_t x_stride, const float* panel, size_t panel_stride,
                          float* y, size_t y_stride, int depth, bool first) {
  f32xN acc[Rows][V] = {};
  for (int k = 0; k < depth; k++) {
    f32xN columns[V];
    for (int v = 0; v < V; v++) columns[v] = load<f32xN>(panel + v * kLanes);
    for (int r = 0; r < Rows; r++)
      for (int v = 0; v < V; v++) acc[r][v] = fused(columns[v], splat(x[r * x_stride + k]), acc[r][v]);
    panel += panel_stride;
  }
  for (int r = 0; r < Rows; r++)
    for (int v = 0; v < V; v++) {
      float* to = y + r * y_stride + v * kLanes;
      f32xN value = first ? acc[r][v] : acc[r][v] + load<f32xN>(to);
      std::memcpy(to, &value, sizeof value);
    }
}

// The same for `rows` of them, `Most` at most.
template <int V, int Most = kTileRows>
inline void multiply_rows(int rows, const float* x, size_t x_stride, const float* panel,
                          size_t panel_stride, float* y, size_t y_stride, int depth, bool first) {
  if (rows >= Most)
    multiply_tile<Most, V>(x, x_stride, panel, panel_stride, y, y_stride, depth, first);
  else if constexpr (Most > 1)
    multiply_rows<V, Most - 1>(rows, x, x_stride, panel, panel_stride, y, y_stride, depth, first);
}

}  // namespace
