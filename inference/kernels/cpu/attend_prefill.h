// Causal attention of many queries of one sequence: products in tiles that stay in registers,
// softmax as the keys come, nothing computed that lies wholly in a query's future.
// Source: Dao et al. 2022 (FlashAttention).

#pragma once

#include <algorithm>
#include <vector>

#include "cached_rows.h"
#include "tile.h"

namespace {

constexpr int kSpanRows = 96;  // query rows of a task: tokens times the heads that share keys
constexpr int kSpanKeys = 64;  // keys that they meet at once

// Keys and values of a sequence, gathered once for all queries: keys as panels of
// `kPanel`, [kv][panel][D][kPanel], values row by row, [kv][token][D]. Missing tokens are zero.
struct SpanContext {
  int panels, D;
  std::vector<float> keys, values;

  SpanContext(int context, int kv_heads, int D)
      : panels((context + kSpanKeys - 1) / kSpanKeys * (kSpanKeys / kPanel)),
        D(D),
        keys((size_t)kv_heads * panels * kPanel * D),
        values((size_t)kv_heads * panels * kPanel * D) {}
  float* panel(int kv, int index) { return &keys[((size_t)kv * panels + index) * kPanel * D]; }
  float* value(int kv, int token) { return &values[((size_t)kv * panels * kPanel + token) * D]; }

  template <class Row>
  void gather(const Cached<Row>& from_keys, const Cached<Row>& from_values, const int64_t* slots,
              int context, int kv, int index, float* room) {
    float* to = panel(kv, index);
    for (int c = 0; c < kPanel && index * kPanel + c < context; c++) {
      size_t slot = slots[index * kPanel + c];
      from_keys.read(slot, kv, room);
      for (int d = 0; d < D; d++) to[d * kPanel + c] = room[d];
      from_values.read(slot, kv, value(kv, index * kPanel + c));
    }
  }
};

// Where a thread works: queries, scores and sums of a task's rows.
struct SpanRoom {
  std::vector<float> queries, scores, sums, largest, total;
  SpanRoom(int rows, int D)
      : queries((size_t)rows * D),
        scores((size_t)rows * kSpanKeys),
        sums((size_t)rows * D),
        largest(rows),
        total(rows) {}
};

// Scores of a row become weights; keys [low, high) of the block count. The row's sums so far are
// scaled to the new largest score.
inline void span_softmax(float* scores, int low, int high, float* largest, float* total,
                         float* sums, int D) {
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

// Tokens [begin, end) of `num` queries, whose first is at position `start` of the sequence.
inline void span_task(SpanContext& context, const float* queries, int stride, float* out, int kv,
                      int group, int heads, int begin, int end, int start, int window,
                      SpanRoom& room) {
  int D = context.D, rows = (end - begin) * group;
  int padded = (rows + kTileRows - 1) / kTileRows * kTileRows;
  float scale = 1.0f / std::sqrt((float)D);
  for (int r = 0; r < rows; r++) {
    const float* q = queries + (size_t)(begin + r / group) * stride + (kv * group + r % group) * D;
    for (int d = 0; d < D; d++) room.queries[(size_t)r * D + d] = q[d] * scale;
  }
  std::fill(room.sums.begin(), room.sums.end(), 0.0f);
  std::fill(room.largest.begin(), room.largest.end(), -INFINITY);
  std::fill(room.total.begin(), room.total.end(), 0.0f);
  int last = start + end, first = std::max(0, start + begin - window + 1);
  for (int block = first / kSpanKeys * kSpanKeys; block < last; block += kSpanKeys) {
    for (int r = 0; r < padded; r += kTileRows)
      for (int p = 0; p < kSpanKeys / kPanel; p++)
        multiply_tile<kTileRows, 2>(&room.queries[(size_t)r * D], D, context.panel(kv, block / kPanel + p), kPanel,
                     &room.scores[(size_t)r * kSpanKeys + kPanel * p], kSpanKeys, D, true);
    for (int r = 0; r < rows; r++) {
      int position = start + begin + r / group;
      int low = std::clamp(position - window + 1 - block, 0, kSpanKeys);
      int high = std::clamp(position + 1 - block, 0, kSpanKeys);
      span_softmax(&room.scores[(size_t)r * kSpanKeys], low, high, &room.largest[r],
                   &room.total[r], &room.sums[(size_t)r * D], D);
    }
    for (int r = 0; r < padded; r += kTileRows)
      for (int d = 0; d < D;) {
        const auto tile = d + kPanel <= D ? multiply_tile<kTileRows, 2> : multiply_tile<kTileRows, 1>;
        tile(&room.scores[(size_t)r * kSpanKeys], kSpanKeys, context.value(kv, block) + d, D,
             &room.sums[(size_t)r * D + d], D, kSpanKeys, false);
        d += std::min(kPanel, D - d);
      }
  }
  for (int r = 0; r < rows; r++) {
    float* to = out + ((size_t)(begin + r / group) * heads + kv * group + r % group) * D;
    for (int d = 0; d < D; d++) to[d] = room.sums[(size_t)r * D + d] / room.total[r];
  }
}

template <class Row>
void attend_prefill(const float* queries, int stride, Cached<Row> keys, Cached<Row> values,
                 const int64_t* slots, float* out, int num, int start, int heads, int window) {
  int kv_heads = keys.kv_heads, D = keys.D, group = heads / kv_heads;
  int tokens = std::max(1, kSpanRows / group), tiles = (num + tokens - 1) / tokens;
  int padded = (tokens * group + kTileRows - 1) / kTileRows * kTileRows;
  SpanContext context(start + num, kv_heads, D);
#pragma omp parallel
  {
    std::vector<float> row(D);
    SpanRoom room(padded, D);
#pragma omp for collapse(2) schedule(static)
    for (int kv = 0; kv < kv_heads; kv++)
      for (int index = 0; index < context.panels; index++)
        context.gather(keys, values, slots, start + num, kv, index, row.data());
#pragma omp for collapse(2) schedule(dynamic)
    for (int tile = tiles - 1; tile >= 0; tile--)  // the longest first
      for (int kv = 0; kv < kv_heads; kv++)
        span_task(context, queries, stride, out, kv, group, heads, tile * tokens,
                  std::min(num, (tile + 1) * tokens), start, window, room);
  }
}

}  // namespace
