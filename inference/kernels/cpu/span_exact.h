// Attention of a prompt's rows by a block of keys, in float32 (`attend_prefill.h` says what a span is).

#pragma once

#include "tile.h"

namespace {

constexpr int kSpanKeys = 64;  // keys that query rows meet at once

// Keys of a block lie as panels of `kPanel`, [panel][D][kPanel], and its values row by row.
struct ExactSpan {
  typedef float Number;
  static constexpr int kValues = 1;  // values of a number
  static constexpr int kTotals = 1;  // sums of weights of a row

  static void put_query(const float* from, float* to, int D) {
    const float scale = 1.0f / std::sqrt((float)D);
    for (int d = 0; d < D; d++) to[d] = from[d] * scale;
  }
  static void put_key(const float* row, int token, float* keys, int D) {
    float* to = keys + (size_t)token / kPanel * kPanel * D + token % kPanel;
    for (int d = 0; d < D; d++) to[d * kPanel] = row[d];
  }
  static void put_value(const float* row, int token, float* values, int D) {
    std::memcpy(values + (size_t)token * D, row, sizeof(float) * D);
  }

  // The scores of a tile's rows.
  static void score(const float* queries, const float* keys, float* scores, int D) {
    for (int p = 0; p < kSpanKeys / kPanel; p++)
      multiply_tile<kTileRows, 2>(queries, D, keys + (size_t)p * kPanel * D, kPanel,
                                  scores + kPanel * p, kSpanKeys, D, true);
  }

  // Scores of a row become weights; keys [low, high) of the block count. The row's sums so far are
  // scaled to the new largest score.
  static void weigh(float* scores, int low, int high, float* largest, float* total, float* sums, int D) {
    for (int i = 0; i < low; i++) scores[i] = -INFINITY;
    for (int i = high; i < kSpanKeys; i++) scores[i] = -INFINITY;
    f32xN most = splat(*largest);
    for (int i = 0; i < kSpanKeys; i += kLanes) {
      f32xN s = load<f32xN>(scores + i);
      most = s > most ? s : most;
    }
    float now = greatest(most);
    if (low >= high) {
      for (int i = 0; i < kSpanKeys; i++) scores[i] = 0;
      return;
    }
    f32xN added = {};
    for (int i = 0; i < kSpanKeys; i += kLanes) {
      f32xN s = load<f32xN>(scores + i), e = exponential(s - now);
      e = s == -INFINITY ? f32xN{} : e;
      std::memcpy(scores + i, &e, sizeof e);
      added += e;
    }
    if (now > *largest) {
      float by = std::exp(*largest - now);
      *total *= by;
      for (int d = 0; d < D; d++) sums[d] *= by;
      *largest = now;
    }
    *total += sum(added);
  }
  static float total(const float* of) { return *of; }

  // sums += values by the weights of a tile's rows.
  static void gather(const float* weights, const float* values, float* sums, int D) {
    for (int d = 0; d < D;) {
      const auto tile = d + kPanel <= D ? multiply_tile<kTileRows, 2> : multiply_tile<kTileRows, 1>;
      tile(weights, kSpanKeys, values + d, D, sums + d, D, kSpanKeys, false);
      d += std::min(kPanel, D - d);
    }
  }
};

}  // namespace
