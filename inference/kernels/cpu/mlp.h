// A SwiGLU of many rows at once, where both products round what enters them: gate and up of some
// columns stay in the cache until their activation is rounded for the second product, and are never
// written to memory whole.

#pragma once

#include "matrix.h"
#include "rows.h"

namespace {

// y (M, down.rows) = silu(gate) * up @ down^T, where gate and up are the halves of x @ gate_up^T.
inline void mlp(const ParleyMatrix& gate_up, const ParleyMatrix& down, const float* x, float* y,
                int M, int threads) {
  const int inner = down.width;
  RoundedRows entering(M, gate_up.width), activated(M, inner);
  const int unit = (columns_of_unit(inner, M, threads) + down.rounds - 1) / down.rounds * down.rounds;
  const int last_unit = columns_of_unit(down.rows, M, threads);
#pragma omp parallel num_threads(threads)
  {
    const Room<float> sides((size_t)2 * M * unit), out(unit);
#pragma omp for schedule(static)
    for (int m = 0; m < M; m++)
      entering.put(x + (size_t)m * gate_up.width, m, gate_up.width / kBlock, 0, gate_up.width,
                   gate_up.rounds);
#pragma omp for schedule(dynamic)
    for (int from = 0; from < inner; from += unit) {
      const int to = std::min(from + unit, inner), count = to - from;
      float *gate = sides.get(), *up = gate + (size_t)M * unit;
      product(gate_up, nullptr, entering, gate, M, from, to, unit, from);
      product(gate_up, nullptr, entering, up, M, inner + from, inner + to, unit, inner + from);
      for (int m = 0; m < M; m++) {
        swiglu_row(gate + (size_t)m * unit, up + (size_t)m * unit, out.get(), count);
        activated.put(out.get(), m, inner / kBlock, from / kBlock, count, down.rounds);
      }
    }
#pragma omp for schedule(dynamic)
    for (int n = 0; n < down.rows; n += last_unit)
      product(down, nullptr, activated, y, M, n, std::min(n + last_unit, down.rows), down.rows);
  }
}

}  // namespace
