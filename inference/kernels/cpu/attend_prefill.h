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

// Tokens that a task computes.
inline int tokens_of_span(int group) { return std::max(1, kSpanRows / group); }

// Keys of `kSpanKeys` tokens as panels of `kPanel`, [panel][D][kPanel], and their values row by row.
struct SpanBlock {
  const float *keys, *values;
};

// Keys and values [from, from + kPanel) of a context, as a `SpanBlock` has them. Missing tokens are
// left as they are.
template <class Row>
inline void gather_panel(const Cached<Row>& keys, const Cached<Row>& values, const int64_t* slots,
                         int from, int context, int kv, float* to_keys, float* to_values,
                         float* row) {
  const int D = keys.D;
  for (int c = 0; c < kPanel && from + c < context; c++) {
    keys.read(slots[from + c], kv, row);
    for (int d = 0; d < D; d++) to_keys[d * kPanel + c] = row[d];
    values.read(slots[from + c], kv, to_values + (size_t)c * D);
  }
}

// Keys and values of a sequence, gathered once for all queries. Missing tokens are zero.
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

  SpanBlock block(int kv, int token) { return {panel(kv, token / kPanel), value(kv, token)}; }
};

// The same gathered block by block, by a thread for its own task: where tasks are few, that is less than
// to have a whole context in memory once more.
template <class Row>
struct SpanGather {
  Cached<Row> from_keys, from_values;
  const int64_t* slots = nullptr;
  int context = 0, D;
  std::vector<float> keys, values, row;

  explicit SpanGather(int D)
      : D(D), keys((size_t)kSpanKeys * D), values((size_t)kSpanKeys * D), row(D) {}
  void read_from(const Cached<Row>& all_keys, const Cached<Row>& all_values, const int64_t* of,
                 int count) {
    from_keys = all_keys, from_values = all_values, slots = of, context = count;
  }
  SpanBlock block(int kv, int token) {
    for (int at = 0; at < kSpanKeys; at += kPanel)
      gather_panel(from_keys, from_values, slots, token + at, context, kv, &keys[(size_t)at * D],
                   &values[(size_t)at * D], row.data());
    if (const int count = context - token; count < kSpanKeys)
      std::fill(values.begin() + (size_t)count * D, values.end(), 0.0f);
    return {keys.data(), values.data()};
  }
};

// Query rows of a task, filled up to whole tiles.
inline int span_rows(int group) {
  return (tokens_of_span(group) * group + kTileRows - 1) / kTileRows * kTileRows;
}

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

// Tokens [begin, end) of `num` queries, whose first is at position `start` of the sequence. A token's
// result is the same bits whatever tokens are computed along with it: its keys come in the same blocks,
// and what it does not attend to adds zeros.
template <class Context>
inline void span_task(Context& context, const float* queries, int stride, float* out, int kv,
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
    const SpanBlock met = context.block(kv, block);
    for (int r = 0; r < padded; r += kTileRows)
      for (int p = 0; p < kSpanKeys / kPanel; p++)
        multiply_tile<kTileRows, 2>(&room.queries[(size_t)r * D], D, met.keys + (size_t)p * kPanel * D,
                     kPanel, &room.scores[(size_t)r * kSpanKeys + kPanel * p], kSpanKeys, D, true);
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
        tile(&room.scores[(size_t)r * kSpanKeys], kSpanKeys, met.values + d, D,
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
  int tokens = tokens_of_span(group), tiles = (num + tokens - 1) / tokens;
  int padded = span_rows(group);
  if (tiles == 1) {
#pragma omp parallel
    {
      SpanRoom room(padded, D);
      SpanGather<Row> context(D);
      context.read_from(keys, values, slots, start + num);
#pragma omp for schedule(dynamic)
      for (int kv = 0; kv < kv_heads; kv++)
        span_task(context, queries, stride, out, kv, group, heads, 0, num, start, window, room);
    }
    return;
  }
  SpanContext context(start + num, kv_heads, D);
#pragma omp parallel
  {
    std::vector<float> row(D);
    SpanRoom room(padded, D);
#pragma omp for collapse(2) schedule(static)
    for (int kv = 0; kv < kv_heads; kv++)
      for (int index = 0; index < context.panels; index++)
        gather_panel(keys, values, slots, index * kPanel, start + num, kv, context.panel(kv, index),
                     context.value(kv, index * kPanel), row.data());
#pragma omp for collapse(2) schedule(dynamic)
    for (int tile = tiles - 1; tile >= 0; tile--)  // the longest first
      for (int kv = 0; kv < kv_heads; kv++)
        span_task(context, queries, stride, out, kv, group, heads, tile * tokens,
                  std::min(num, (tile + 1) * tokens), start, window, room);
  }
}

}  // namespace
