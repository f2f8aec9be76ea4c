// A quantized matrix as it is given to the kernels, and its products.

#pragma once

#include <algorithm>
#include <type_traits>

#include "float_products.h"
#include "int8.h"

extern "C" {

// Rows that are kept alike.
struct ParleyPart {
  int kind;  // as blocks.h numbers them
  int first, rows;  // multiples of a group
  const void* data;
};

struct ParleyMatrix {
  int rows, width;
  int rounds;  // what enters: so many values to int8 with one unit; 0: not at all
  int count;
  ParleyPart parts[3];
  const float* bias;  // or null
};
}

namespace {

// Columns [from, to), multiples of a group, of x (M, width) @ weight^T + bias. Where the weight
// `rounds`, `rounded` is taken instead of x. Column n goes to y[n - origin], a row `stride` further.
inline void product(const ParleyMatrix& w, const float* x, const RoundedRows& rounded, float* y,
                    int M, int from, int to, int stride, int origin = 0) {
  for (int index = 0; index < w.count; index++) {
    const ParleyPart& part = w.parts[index];
    const int begin = std::max(from - part.first, 0), end = std::min(to - part.first, part.rows);
    if (begin >= end) continue;
    with_block(part.kind, [&](auto none) {
      const auto* data = (decltype(none))part.data;
      if (w.rounds)
        rounded.multiply(data, y + part.first - origin, M, stride, w.width, begin, end);
      else
        float_part(data, x, y + part.first - origin, M, stride, w.width, begin, end);
    });
  }
  if (w.bias)
    for (int m = 0; m < M; m++)
      for (int n = from; n < to; n++) y[(size_t)m * stride + n - origin] += w.bias[n];
}

// Columns that a thread takes at once: few, so that all end together, but many where a unit reads many
// rows of activations.
inline int columns_of_unit(int columns, int M, int threads) {
  const int share = columns / (4 * threads) / kPanel * kPanel;
  return std::clamp(share, kPanel, M > 64 ? 8 * kPanel : kPanel);
}

// y (M, rows) = x (M, width) @ weight^T + bias, on all threads.
inline void multiply(const ParleyMatrix& w, const float* x, float* y, int M, int threads) {
  RoundedRows rounded(w.rounds ? M : 0, w.width);
  const int unit = columns_of_unit(w.rows, M, threads);
#pragma omp parallel num_threads(threads)
  {
    if (w.rounds) {
#pragma omp for schedule(static)
      for (int m = 0; m < M; m++)
        rounded.put(x + (size_t)m * w.width, m, w.width / kBlock, 0, w.width, w.rounds);
    }
#pragma omp for schedule(dynamic)
    for (int n = 0; n < w.rows; n += unit)
      product(w, x, rounded, y, M, n, std::min(n + unit, w.rows), w.rows);
  }
}

}  // namespace
