// Low-rank updates of products: y += (x A^T) B^T for the rows of a batch that have an adapter, each
// row by its own. A row's numbers depend on that row alone, so they are the same in any batch.
// Source: Hu et al. 2021 (LoRA); Chen et al. 2023 (Punica: rows of several adapters in one batch).

#pragma once

#include "attend_parts.h"
#include "cached_rows.h"
#include "phases.h"

extern "C" {

// Columns [first, first + columns) of a product get `up` times the numbers from `row` on that `down`
// gave. `up` lies in blocks of kUpColumns columns, each (rank, kUpColumns), the last filled up: a unit
// reads on and on, and not a line here and there.
struct ParleyUpdate {
  int first, columns, row, rank;
  const void* up;
};

// What an adapter adds to one matrix, which may be several below one another: down (ranks, width),
// whose results are multiplied with `scales` (ranks) where numbers are int8. Nothing where `ranks` is 0.
struct ParleyLowRank {
  int ranks, count;
  const void* down;
  const float* scales;
  ParleyUpdate updates[3];
};

// Which rows of a batch have an adapter: `of` (M) is an index of `tables`, or -1. A table has an entry
// for each matrix of each layer, `kind` is that of cached_rows.h.
struct ParleyAdapters {
  const ParleyLowRank* const* tables;
  const int32_t* of;
  int count, kind, max_ranks;
};
}

namespace {

constexpr int kUpColumns = 32;

// `action(Row())` for the kind of an adapter's numbers.
template <class Action>
inline void with_numbers(int kind, Action action) {
  switch (kind) {
    case 0: action(Float32Row()); break;
    case 1: action(BFloat16Row()); break;
    case 2: action(Float16Row()); break;
    case 3: action(Int8Row()); break;
  }
}

// out[i] = x (width) * rows[i] for four rows. `next`, or null, is what is read next: of the adapters of
// a batch each row meets another, whose beginning the processor cannot foresee.
template <class Row>
inline void dot_rows(const float* x, const typename Row::Number* rows,
                     const typename Row::Number* next, int width, float* out) {
  constexpr int kLine = 64 / sizeof(typename Row::Number);
  f32xN acc[4] = {};
  for (int k = 0; k < width; k += kLanes) {
    const f32xN values = load<f32xN>(x + k);
    for (int i = 0; next && k % kLine == 0 && i < 4; i++)
      __builtin_prefetch(next + (size_t)i * width + k);
    for (int i = 0; i < 4; i++) acc[i] = fused(Row::some(rows + (size_t)i * width + k), values, acc[i]);
  }
  sum_four(acc, out);
}

// out (ranks) = down x; `ranks` are a multiple of four. `after`, or null, is shrunk by next.
inline void shrink_row(const ParleyLowRank& low, int kind, const float* x, int width, float* out,
                       const ParleyLowRank* after = nullptr) {
  with_numbers(kind, [&](auto row) {
    typedef decltype(row) Row;
    const auto* down = (const typename Row::Number*)low.down;
    const auto* other = after ? (const typename Row::Number*)after->down : nullptr;
    for (int i = 0; i < low.ranks; i += 4) {
      const auto* rows = down + (size_t)i * width;
      dot_rows<Row>(x, rows, i + 4 < low.ranks ? rows + (size_t)4 * width : other, width, out + i);
    }
    for (int i = 0; Row::kScaled && i < low.ranks; i++) out[i] *= low.scales[i];
  });
}

// V vectors of y += the sum of shrunk[i] * up[i], in a block.
template <class Row, int V>
inline void expand_some(const float* shrunk, const typename Row::Number* up, int rank, float* y) {
  f32xN acc[V] = {};
  for (int i = 0; i < rank; i++)
    for (int v = 0; v < V; v++)
      acc[v] = fused(Row::some(up + i * kUpColumns + v * kLanes), splat(shrunk[i]), acc[v]);
  for (int v = 0; v < V; v++) {
    f32xN whole = load<f32xN>(y + v * kLanes) + acc[v];
    std::memcpy(y + v * kLanes, &whole, sizeof whole);
  }
}

// Have those parts of `up` that columns [from, to) need brought near.
inline void fetch_up(const ParleyLowRank& low, int kind, int from, int to) {
  with_numbers(kind, [&](auto row) {
    constexpr size_t kBytes = sizeof(typename decltype(row)::Number);
    for (int u = 0; u < low.count; u++) {
      const ParleyUpdate& update = low.updates[u];
      const int end = std::min(to - update.first, update.columns);
      const int begin = std::max(from - update.first, 0) / kUpColumns * kUpColumns;
      for (size_t at = begin * update.rank * kBytes; begin < end && at < end * update.rank * kBytes; at += 64)
        __builtin_prefetch((const char*)update.up + at);
    }
  });
}

// Columns [from, to), multiples of a vector, of y += up^T shrunk.
inline void expand_row(const ParleyLowRank& low, int kind, const float* shrunk, float* y, int from,
                       int to) {
  with_numbers(kind, [&](auto row) {
    typedef decltype(row) Row;
    for (int u = 0; u < low.count; u++) {
      const ParleyUpdate& update = low.updates[u];
      const auto* up = (const typename Row::Number*)update.up;
      const int end = std::min(to - update.first, update.columns);
      float* out = y + update.first;
      for (int n = std::max(from - update.first, 0); n < end;) {
        const int in = n % kUpColumns;
        const auto* block = up + (size_t)(n - in) * update.rank;
        if (in == 0 && n + kUpColumns <= end) {
          expand_some<Row, kUpColumns / kLanes>(shrunk + update.row, block, update.rank, out + n);
          n += kUpColumns;
        } else {
          expand_some<Row, 1>(shrunk + update.row, block + in, update.rank, out + n);
          n += kLanes;
        }
      }
    }
  });
}

// y (M, columns), `stride` floats from row to row, += the update of x (M, width).
inline void add_low_rank(const ParleyLowRank& low, int kind, const float* x, float* y, int M,
                         int width, int columns, int stride, int threads) {
#pragma omp parallel num_threads(threads) if (M > 1)
  {
    std::vector<float> shrunk(low.ranks);
#pragma omp for schedule(static)
    for (int m = 0; m < M; m++) {
      shrink_row(low, kind, x + (size_t)m * width, width, shrunk.data());
      expand_row(low, kind, shrunk.data(), y + (size_t)m * stride, 0, columns);
    }
  }
}

}  // namespace
