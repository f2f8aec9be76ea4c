// Causal attention of many queries of one sequence: products in tiles that stay in registers,
// softmax as the keys come, nothing computed that lies wholly in a query's future.
// Source: Dao et al. 2022 (FlashAttention).
//
// A span is some of the tokens for the query heads that share keys. How its numbers are multiplied is
// its `Span`: in float32 (`span_exact.h`), or rounded (`span_bfloat16.h`).

#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "cached_rows.h"
#include "span_bfloat16.h"

namespace {

constexpr int kSpanRows = 96;  // query rows of a task: tokens times the heads that share keys

// Tokens that a task computes.
inline int tokens_of_span(int group) { return std::max(1, kSpanRows / group); }

// Keys and values of `kSpanKeys` tokens, as a `Span` multiplies them.
template <class Number>
struct SpanBlock {
  const Number *keys, *values;
};

// Keys and values [from, from + kSpanKeys) of a context. Missing keys are left as they are, missing values
// zero. `row` (D) is for this thread's use.
template <class Span, class Row>
inline void gather_block(const Cached<Row>& keys, const Cached<Row>& values, const int64_t* slots,
                         int from, int context, int kv, typename Span::Number* to_keys,
                         typename Span::Number* to_values, float* row) {
  const int D = keys.D, count = std::min(kSpanKeys, context - from);
  for (int c = 0; c < count; c++) {
    keys.read(slots[from + c], kv, row);
    Span::put_key(row, c, to_keys, D);
    values.read(slots[from + c], kv, row);
    Span::put_value(row, c, to_values, D);
  }
  std::fill(row, row + D, 0.0f);
  for (int c = count; c < kSpanKeys; c++) Span::put_value(row, c, to_values, D);
}

// Keys and values of a sequence, gathered once for all queries.
template <class Span>
struct SpanContext {
  typedef typename Span::Number Number;
  int blocks, D;
  size_t size;  // numbers of a block's keys, and of its values
  std::unique_ptr<Number[]> numbers;

  SpanContext(int context, int kv_heads, int D)
      : blocks((context + kSpanKeys - 1) / kSpanKeys),
        D(D),
        size((size_t)kSpanKeys * D / Span::kValues),
        numbers(new Number[2 * size * kv_heads * blocks]) {}
  Number* keys(int kv, int index) { return &numbers[2 * size * ((size_t)kv * blocks + index)]; }
  Number* values(int kv, int index) { return keys(kv, index) + size; }

  SpanBlock<Number> block(int kv, int token) {
    return {keys(kv, token / kSpanKeys), values(kv, token / kSpanKeys)};
  }
};

// The same gathered block by block, by a thread for its own task: where tasks are few, that is less than
// to have a whole context in memory once more.
template <class Row, class Span>
struct SpanGather {
  typedef typename Span::Number Number;
  Cached<Row> from_keys, from_values;
  const int64_t* slots = nullptr;
  int context = 0, D;
  std::vector<Number> keys, values;
  std::vector<float> row;

  explicit SpanGather(int D)
      : D(D),
        keys((size_t)kSpanKeys * D / Span::kValues),
        values((size_t)kSpanKeys * D / Span::kValues),
        row(D) {}
  void read_from(const Cached<Row>& all_keys, const Cached<Row>& all_values, const int64_t* of,
                 int count) {
    from_keys = all_keys, from_values = all_values, slots = of, context = count;
  }
  SpanBlock<Number> block(int kv, int token) {
    gather_block<Span>(from_keys, from_values, slots, token, context, kv, keys.data(), values.data(),
                       row.data());
    return {keys.data(), values.data()};
  }
};

// Query rows of a task, filled up to whole tiles.
inline int span_rows(int group) {
  return (tokens_of_span(group) * group + kTileRows - 1) / kTileRows * kTileRows;
}

// Where a thread works: queries, scores and sums of a task's rows.
template <class Span>
struct SpanRoom {
  std::vector<typename Span::Number> queries;
  std::vector<float> scores, sums, largest, total;
  SpanRoom(int rows, int D)
      : queries((size_t)rows * D / Span::kValues),
        scores((size_t)rows * kSpanKeys),
        sums((size_t)rows * D),
        largest(rows),
        total((size_t)rows * Span::kTotals) {}
};

// What a thread needs for spans of up to so many rows that gather their own context.
template <class Row, class Span>
struct SpanWork {
  SpanRoom<Span> room;
  SpanGather<Row, Span> context;
  SpanWork(int rows, int D) : room(rows, D), context(rows ? D : 0) {}
};

// Tokens [begin, end) of `num` queries, whose first is at position `start` of the sequence. A token's
// result is the same bits whatever tokens are computed along with it: its keys come in the same blocks,
// and what it does not attend to adds zeros.
template <class Span, class Context>
inline void span_task(Context& context, const float* queries, int stride, float* out, int kv,
                      int group, int heads, int begin, int end, int start, int window,
                      SpanRoom<Span>& room) {
  const int D = context.D, rows = (end - begin) * group, numbers = D / Span::kValues;
  const int padded = (rows + kTileRows - 1) / kTileRows * kTileRows;
  for (int r = 0; r < rows; r++)
    Span::put_query(queries + (size_t)(begin + r / group) * stride + (kv * group + r % group) * D,
                    &room.queries[(size_t)r * numbers], D);
  std::fill(room.sums.begin(), room.sums.end(), 0.0f);
  std::fill(room.largest.begin(), room.largest.end(), -INFINITY);
  std::fill(room.total.begin(), room.total.end(), 0.0f);
  int last = start + end, first = std::max(0, start + begin - window + 1);
  for (int block = first / kSpanKeys * kSpanKeys; block < last; block += kSpanKeys) {
    const auto met = context.block(kv, block);
    for (int r = 0; r < padded; r += kTileRows)
      Span::score(&room.queries[(size_t)r * numbers], met.keys, &room.scores[(size_t)r * kSpanKeys], D);
    for (int r = 0; r < rows; r++) {
      int position = start + begin + r / group;
      int low = std::clamp(position - window + 1 - block, 0, kSpanKeys);
      int high = std::clamp(position + 1 - block, 0, kSpanKeys);
      Span::weigh(&room.scores[(size_t)r * kSpanKeys], low, high, &room.largest[r],
                  &room.total[(size_t)r * Span::kTotals], &room.sums[(size_t)r * D], D);
    }
    for (int r = 0; r < padded; r += kTileRows)
      Span::gather(&room.scores[(size_t)r * kSpanKeys], met.values, &room.sums[(size_t)r * D], D);
  }
  for (int r = 0; r < rows; r++) {
    float* to = out + ((size_t)(begin + r / group) * heads + kv * group + r % group) * D;
    const float total = Span::total(&room.total[(size_t)r * Span::kTotals]);
    for (int d = 0; d < D; d++) to[d] = room.sums[(size_t)r * D + d] / total;
  }
}

template <class Span, class Row>
void attend_prefill(const float* queries, int stride, Cached<Row> keys, Cached<Row> values,
                    const int64_t* slots, float* out, int num, int start, int heads, int window) {
  int kv_heads = keys.kv_heads, D = keys.D, group = heads / kv_heads;
  int tokens = tokens_of_span(group), tiles = (num + tokens - 1) / tokens;
  int padded = span_rows(group);
  if (tiles == 1) {
#pragma omp parallel
    {
      SpanWork<Row, Span> work(padded, D);
      work.context.read_from(keys, values, slots, start + num);
#pragma omp for schedule(dynamic)
      for (int kv = 0; kv < kv_heads; kv++)
        span_task(work.context, queries, stride, out, kv, group, heads, 0, num, start, window, work.room);
    }
    return;
  }
  SpanContext<Span> context(start + num, kv_heads, D);
#pragma omp parallel
  {
    std::vector<float> row(D);
    SpanRoom<Span> room(padded, D);
#pragma omp for collapse(2) schedule(static)
    for (int kv = 0; kv < kv_heads; kv++)
      for (int index = 0; index < context.blocks; index++)
        gather_block<Span>(keys, values, slots, index * kSpanKeys, start + num, kv,
                           context.keys(kv, index), context.values(kv, index), row.data());
#pragma omp for collapse(2) schedule(dynamic)
    for (int tile = tiles - 1; tile >= 0; tile--)  // the longest first
      for (int kv = 0; kv < kv_heads; kv++)
        span_task(context, queries, stride, out, kv, group, heads, tile * tokens,
                  std::min(num, (tile + 1) * tokens), start, window, room);
  }
}

}  // namespace
