// The product of rounded rows with a matrix of eight-bit weights. Rows are rounded as ONNX's
// DynamicQuantizeLinear says, to bytes of one scale and zero point for all of them, and sums are
// whole numbers: what comes out differs from onnxruntime's by the rounding of floats alone.

#pragma once

#include <algorithm>
#include <cmath>

#include "vectors.h"

extern "C" {

struct Product {
  const int8_t* weights;   // [columns / kPanel][depth / 4][kPanel][4]
  const int32_t* totals;   // of each column's weights
  const float* scales;     // of each column
  const float* bias;
  int32_t depth, columns;  // multiples of 4 and of kPanel
};
}

namespace {

constexpr int kMaxRows = 36;
constexpr int kMaxDepth = 1536;

#ifdef PARLEY_VNNI
constexpr int kTileRows = 6, kTileVectors = 4;  // 24 sums, 29 registers of 32
#else
constexpr int kTileRows = 4, kTileVectors = 2;  // 8 sums, 13 registers of 16
#endif
constexpr int kPanel = kTileVectors * kLanes;

struct Range {
  f32xN low = {}, high = {};  // zero is always among the values that can be told
  inline void add(f32xN v) { low = smaller(low, v), high = larger(high, v); }
};

struct Rounded {
  alignas(64) uint8_t values[kMaxRows * kMaxDepth];
  float scale;
  int32_t zero;
};

inline void round_rows(const float* x, const Range& range, int count, Rounded& out) {
  const float low = -largest(-range.low), high = largest(range.high);
  out.scale = high > low ? (high - low) / 255.0f : 1.0f;
  out.zero = (int32_t)std::nearbyint(std::min(255.0f, std::max(0.0f, -low / out.scale)));
  const float inverse = 1.0f / out.scale;
  const i32xN zero = out.zero - i32xN{};
  for (int i = 0; i < count; i += 4 * kLanes) {
    i32xN v[4];
    for (int j = 0; j < 4; j++) v[j] = nearest(floats(x + i + j * kLanes) * inverse) + zero;
    store_bytes(out.values + i, v);
  }
}

// sums + four products of bytes in each lane. Weights of seven bits: in AVX2 two products fit
// into 16 bits (safety/training/export.py sees to it, compiled_encoder.py checks it).
inline i32xN add_products(i32xN sums, i32xN bytes, const int8_t* weights) {
#ifdef PARLEY_VNNI
  return (i32xN)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)bytes, _mm512_load_si512(weights));
#else
  const __m256i pairs = _mm256_maddubs_epi16((__m256i)bytes, _mm256_load_si256((const __m256i*)weights));
  return sums + (i32xN)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#endif
}

// What becomes of a panel's sums, and where they begin.
struct Columns {
  i32xN begin[kTileVectors];
  f32xN scale[kTileVectors], bias[kTileVectors];

  Columns(const Product& by, int column, const Rounded& x) {
    for (int v = 0; v < kTileVectors; v++) {
      const int at = column + v * kLanes;
      begin[v] = load<i32xN>(by.totals + at) * -x.zero;
      scale[v] = floats(by.scales + at) * x.scale;
      bias[v] = floats(by.bias + at);
    }
  }
};

constexpr int kLine = 64;  // bytes of the processor's cache

// `Rows` rows times one panel; `finish(row, vector, values)` gets what comes out. Meanwhile `Lines`
// lines for each step in depth are fetched from `ahead` on. Not inlined, or sums would be spilled.
template <int Rows, int Lines, class Finish>
__attribute__((noinline)) void tile(const Columns& columns, int depth, const int8_t* panel, const uint8_t* x,
                                    const int8_t* ahead, const Finish& finish) {
  i32xN sums[Rows][kTileVectors];
  for (int r = 0; r < Rows; r++)
    for (int v = 0; v < kTileVectors; v++) sums[r][v] = columns.begin[v];
  for (int k = 0; k < depth; k += 4, panel += 4 * kPanel, ahead += Lines * kLine) {
    for (int line = 0; line < Lines; line++) _mm_prefetch((const char*)ahead + line * kLine, _MM_HINT_T1);
    for (int r = 0; r < Rows; r++) {
      const i32xN bytes = load<int32_t>(x + r * depth + k) - i32xN{};
      for (int v = 0; v < kTileVectors; v++)
        sums[r][v] = add_products(sums[r][v], bytes, panel + 4 * kLanes * v);
    }
  }
  for (int r = 0; r < Rows; r++)
    for (int v = 0; v < kTileVectors; v++)
      finish(r, v, fused(to_floats(sums[r][v]), columns.scale[v], columns.bias[v]));
}

template <int Rows, int Lines, class... Rest>
inline void tile_of(int rows, Rest&&... rest) {
  if constexpr (Rows > 1) {
    if (rows < Rows) return tile_of<Rows - 1, Lines>(rows, rest...);
  }
  tile<Rows, Lines>(rest...);
}

// `finish(row, column, values)` gets each vector of the product. Weights lie in the order in which
// they are used, so what follows a panel is what is needed next: each tile fetches a part of it.
template <int Lines, class Finish>
inline void multiply_by_tiles(const Rounded& x, int rows, int tiles, const Product& by, const Finish& finish) {
  const int8_t* panel = by.weights;
  for (int column = 0; column < by.columns; column += kPanel) {
    const Columns columns(by, column, x);
    const int8_t* ahead = panel + by.depth * kPanel;
    for (int t = 0, row = 0; t < tiles; t++) {
      const int count = (rows - row + tiles - t - 1) / (tiles - t);  // as even as can be
      const auto here = [&](int r, int v, f32xN values) { finish(row + r, column + v * kLanes, values); };
      tile_of<kTileRows, Lines>(count, columns, by.depth, panel, x.values + row * by.depth, ahead, here);
      row += count, ahead += by.depth / 4 * Lines * kLine;
    }
    panel += by.depth * kPanel;
  }
}

template <class Finish>
inline void multiply(const Rounded& x, int rows, const Product& by, const Finish& finish) {
  constexpr int kLines = 4 * kPanel / kLine;  // of a panel, a step in depth
  const int tiles = (rows + kTileRows - 1) / kTileRows;
  if (tiles == 1) multiply_by_tiles<kLines>(x, rows, tiles, by, finish);
  else if (tiles < kLines) multiply_by_tiles<(kLines + 1) / 2>(x, rows, tiles, by, finish);
  else multiply_by_tiles<1>(x, rows, tiles, by, finish);
}

}  // namespace
