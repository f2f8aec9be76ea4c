// Low-rank updates of products: y += (x A^T) B^T for the rows of a batch that have an adapter, each
// row by its own. A row's numbers depend on that row alone, so they are the same in any batch.
// Source: Hu et al. 2021 (LoRA); Chen et al. 2023 (Punica: rows of several adapters in one batch).

#pragma once

#include "attend_parts.h"
#include "cached_rows.h"
#include "low_rank_nibbles.h"
#include "phases.h"

extern "C" {

// Columns [first, first + columns) of a product get `up` times the numbers from `row` on that `down`
// gave. `up` lies in blocks of kUpColumns columns, each (rank, kUpColumns) or, in four bits, as
// low_rank_nibbles.h has it, the last filled up: a unit reads on and on, and not a line here and there.
struct ParleyUpdate {
  int first, columns, row, rank;
  const void* up;
};

// What an adapter adds to one matrix, which may be several below one another: down (ranks, width),
// whose results are multiplied with `scales` (ranks) where numbers have four bits, and whose rows lie as
// low_rank_nibbles.h has them. Nothing where `ranks` is 0.
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

constexpr int kMaxUpdates = 3, kNibbles = 3;

struct NibblesRow {
  typedef uint8_t Number;
};

// `action(Row())` for the kind of an adapter's numbers.
template <class Action>
inline void with_numbers(int kind, Action action) {
  switch (kind) {
    case 0: action(Float32Row()); break;
    case 1: action(BFloat16Row()); break;
    case 2: action(Float16Row()); break;
    case kNibbles: action(NibblesRow()); break;
  }
}

inline size_t bytes_of(int kind) {
  size_t bytes = 0;
  with_numbers(kind, [&](auto row) { bytes = sizeof(typename decltype(row)::Number); });
  return bytes;
}

// Bytes of a row of `down`, and of a column of `up`.
inline size_t bytes_of_row(int kind, int width) {
  return kind == kNibbles ? nibbles_of_row(width) : width * bytes_of(kind);
}
inline size_t bytes_of_column(int kind, int rank) {
  return kind == kNibbles ? nibbles_of_column(rank) : rank * bytes_of(kind);
}

// out[i] = x (width) * rows[i] for four rows.
template <class Row>
inline void dot_rows(const float* x, const typename Row::Number* rows, int width, float* out) {
  f32xN acc[4] = {};
  for (int k = 0; k < width; k += kLanes) {
    const f32xN values = load<f32xN>(x + k);
    for (int i = 0; i < 4; i++) acc[i] = fused(Row::some(rows + (size_t)i * width + k), values, acc[i]);
  }
  sum_four(acc, out);
}

// What `down` gave for a row, as `up` takes it.
class Shrunk {
 public:
  explicit Shrunk(int max_ranks)
      : exact_(max_ranks + kLanes), bytes_(max_ranks + kMaxUpdates * kTogether + kLanes) {}

  // Of x (width): `rounded` is the same, a scale for each block, or null.
  void put(const ParleyLowRank& low, int kind, const float* x, const Rounded* rounded, int width) {
    with_numbers(kind, [&](auto row) {
      typedef decltype(row) Row;
      const auto* down = (const typename Row::Number*)low.down;
      if constexpr (std::is_same<Row, NibblesRow>::value) {
        put_nibbles(low, down, x, rounded, width);
      } else {
        for (int i = 0; i < low.ranks; i += 4)
          dot_rows<Row>(x, down + (size_t)i * width, width, &exact_[i]);
      }
    });
  }
  const float* exact(const ParleyUpdate& update) const { return &exact_[update.row]; }
  ShrunkBytes bytes(int index) const { return bytes_of_[index]; }

 private:
  void put_nibbles(const ParleyLowRank& low, const uint8_t* down, const float* x, const Rounded* rounded,
                   int width) {
#ifdef PARLEY_INT8
    std::vector<Rounded> own(rounded ? 0 : width / kBlock);
    if (!rounded) round_row(x, own.data(), width);
    shrink_nibbles(down, low.ranks, rounded ? rounded : own.data(), width, exact_.data());
    for (int i = 0; i < low.ranks; i++) exact_[i] *= low.scales[i];
    int8_t* q = bytes_.data();
    for (int u = 0; u < low.count; u++) {
      bytes_of_[u] = round_shrunk(exact(low.updates[u]), low.updates[u].rank, q);
      q += filled_up(low.updates[u].rank);
    }
#endif
  }

  std::vector<float> exact_;
  std::vector<int8_t> bytes_;
  ShrunkBytes bytes_of_[kMaxUpdates];
};

// Columns of y += up^T shrunk, `in` on in a block that begins at `up`: all of it, or a vector of them.
template <class Row, bool Whole>
inline void expand_some(const Shrunk& shrunk, const ParleyUpdate& update, int index, const void* block, int in,
                        float* y) {
  const auto* up = (const typename Row::Number*)block;
  if constexpr (std::is_same<Row, NibblesRow>::value) {
#ifdef PARLEY_INT8
    constexpr int kHalf = kUpColumns / 2;
    expand_nibbles<Whole ? kHalf / kLanes : 1, Whole>(shrunk.bytes(index), up + in % kHalf * kTogether, update.rank,
                                                      in >= kHalf, y);
#endif
  } else {
    constexpr int V = Whole ? kUpColumns / kLanes : 1;
    const float* by = shrunk.exact(update);
    f32xN acc[V] = {};
    for (int i = 0; i < update.rank; i++)
      for (int v = 0; v < V; v++)
        acc[v] = fused(Row::some(up + i * kUpColumns + in + v * kLanes), splat(by[i]), acc[v]);
    for (int v = 0; v < V; v++) {
      f32xN whole = load<f32xN>(y + v * kLanes) + acc[v];
      std::memcpy(y + v * kLanes, &whole, sizeof whole);
    }
  }
}

// Columns [from, to), multiples of a vector, of y += up^T shrunk.
inline void expand_row(const ParleyLowRank& low, int kind, const Shrunk& shrunk, float* y, int from,
                       int to) {
  with_numbers(kind, [&](auto row) {
    typedef decltype(row) Row;
    for (int u = 0; u < low.count; u++) {
      const ParleyUpdate& update = low.updates[u];
      const size_t bytes = bytes_of_column(kind, update.rank);
      const int end = std::min(to - update.first, update.columns);
      float* out = y + update.first;
      for (int n = std::max(from - update.first, 0); n < end;) {
        const int in = n % kUpColumns;
        const void* block = (const char*)update.up + (n - in) * bytes;
        if (in == 0 && n + kUpColumns <= end) {
          expand_some<Row, true>(shrunk, update, u, block, in, out + n);
          n += kUpColumns;
        } else {
          expand_some<Row, false>(shrunk, update, u, block, in, out + n);
          n += kLanes;
        }
      }
    }
  });
}

// `action(from, bytes)` for those parts of `up` that columns [from, to) need.
template <class Action>
inline void each_up(const ParleyLowRank& low, int kind, int from, int to, Action action) {
  for (int u = 0; u < low.count; u++) {
    const ParleyUpdate& update = low.updates[u];
    const int end = std::min(to - update.first, update.columns);
    const int begin = std::max(from - update.first, 0) / kUpColumns * kUpColumns;
    const size_t bytes = bytes_of_column(kind, update.rank);
    if (begin < end) action((const char*)update.up + begin * bytes, (end - begin) * bytes);
  }
}

// y (M, columns), `stride` floats from row to row, += the update of x (M, width).
inline void add_low_rank(const ParleyLowRank& low, int kind, const float* x, float* y, int M,
                         int width, int columns, int stride, int threads) {
#pragma omp parallel num_threads(threads) if (M > 1)
  {
    Shrunk shrunk(low.ranks);
#pragma omp for schedule(static)
    for (int m = 0; m < M; m++) {
      shrunk.put(low, kind, x + (size_t)m * width, nullptr, width);
      expand_row(low, kind, shrunk, y + (size_t)m * stride, 0, columns);
    }
  }
}

}  // namespace
