// Attention of single query tokens over paged keys and values. A long context is cut into
// parts of `kPart` tokens, each computed alone and joined afterwards (flash decoding), so that
// one request keeps several threads busy; the cut is the same whatever their number, and so is
// the result. Within a part the softmax goes on as tiles of tokens come.
// Source: Dao et al. 2022 (FlashAttention) and 2023 (Flash-Decoding).

#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "cached_rows.h"
#include "phases.h"

namespace {

constexpr int kPart = 128;  // tokens
constexpr int kTile = 32;   // of them at once

// Tokens [begin, end) of sequence s, for the query heads of the kv heads [kv, kv_end).
struct PartTask {
  int s, kv, kv_end, index, begin, end;
};

inline int count_parts(int length, int window) {
  return ((length < window ? length : window) + kPart - 1) / kPart;
}

// All parts of a batch, and how many the longest sequence has. The heads of a part lie side by
// side in memory, so one thread reads them all, unless there are too few parts for the threads.
// Queries of one sequence (a prompt's tokens, or the next one and its draft), each with one token more
// to attend to, go through it part by part together, so that memory is read once for all.
struct PartPlan {
  std::vector<PartTask> tasks;
  int most = 0;

  PartPlan(const int32_t* lengths, int S, int kv_heads, int window, int threads) {
    int parts = 0;
    for (int s = 0; s < S; s++) {
      int count = count_parts(lengths[s], window);
      parts += count;
      most = count > most ? count : most;
    }
    int together = parts < 2 * threads ? 1 : kv_heads;
    for (int first = 0, next; first < S; first = next) {
      for (next = first + 1; next < S && lengths[next] == lengths[next - 1] + 1;) next++;
      for (int index = 0; index < count_parts(lengths[next - 1], window); index++)
        for (int s = first; s < next; s++) {
          int end = lengths[s], at = (end > window ? end - window : 0) + index * kPart;
          for (int kv = 0; at < end && kv < kv_heads; kv += together)
            tasks.push_back({s, kv, kv + together, index, at, at + kPart < end ? at + kPart : end});
        }
    }
  }
};

// What the parts gave, for each (sequence, query head, part): the sum of exp(score - largest)
// * value (D floats), `largest`, and the sum of the exponentials.
struct PartResults {
  int heads, D, most;
  std::vector<float> numbers;

  PartResults(int S, int heads, int D, int most)
      : heads(heads), D(D), most(most), numbers((size_t)S * heads * most * (D + 2)) {}
  float* at(int s, int head, int part) {
    return &numbers[(((size_t)s * heads + head) * most + part) * (D + 2)];
  }
};

// Where a thread works on one tile: the scores (and then weights) of all query heads, and by
// what the sums so far shrink.
struct PartRoom {
  std::vector<float> scores, factors;
  explicit PartRoom(int heads) : scores((size_t)heads * kTile), factors(heads) {}
};

// The sum of each vector.
inline void sum_four(const f32xN* v, float* out) {
#if defined(PARLEY_AVX512)
  const auto low = [](__m512 a, __m512 b) { return _mm512_unpacklo_ps(a, b); };
  const auto high = [](__m512 a, __m512 b) { return _mm512_unpackhi_ps(a, b); };
  __m512 a = (__m512)v[0], b = (__m512)v[1], c = (__m512)v[2], d = (__m512)v[3];
  __m512d ab = (__m512d)_mm512_add_ps(low(a, b), high(a, b));
  __m512d cd = (__m512d)_mm512_add_ps(low(c, d), high(c, d));
  __m512 four = _mm512_add_ps((__m512)_mm512_unpacklo_pd(ab, cd), (__m512)_mm512_unpackhi_pd(ab, cd));
  __m256 pair = _mm256_add_ps(_mm512_castps512_ps256(four), _mm512_extractf32x8_ps(four, 1));
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(pair), _mm256_extractf128_ps(pair, 1)));
#elif defined(__AVX2__)
  __m256 pair = _mm256_hadd_ps((__m256)v[0], (__m256)v[1]);
  __m256 other = _mm256_hadd_ps((__m256)v[2], (__m256)v[3]);
  __m256 four = _mm256_hadd_ps(pair, other);
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(four), _mm256_extractf128_ps(four, 1)));
#else
  for (int t = 0; t < 4; t++) out[t] = sum(v[t]);
#endif
}

// out[g][0 .. 4) = the products of queries[g] with four keys, for G heads.
template <class Row, int G>
inline void dot_four(const float* queries, const typename Row::Number* const* keys, float* out,
                     int D) {
  f32xN acc[G][4] = {};
  for (int i = 0; i < D; i += kLanes)
    for (int t = 0; t < 4; t++) {
      f32xN k = Row::some(keys[t] + i);
      for (int g = 0; g < G; g++) acc[g][t] = fused(k, load<f32xN>(queries + (size_t)g * D + i), acc[g][t]);
    }
  for (int g = 0; g < G; g++) {
    const f32xN four[4] = {acc[g][0], acc[g][1], acc[g][2], acc[g][3]};
    sum_four(four, out + (size_t)g * kTile);
  }
}

// out[g][first .. first + V vectors) = factors[g] * itself + the sum of weights[g][t] * rows[t][...),
// for G heads.
template <class Row, int G, int V>
inline void weigh(const float* weights, const float* factors,
                  const typename Row::Number* const* rows, int first, int count, float* out,
                  size_t stride) {
  f32xN acc[G][V];
  for (int g = 0; g < G; g++)
    for (int j = 0; j < V; j++)
      acc[g][j] = load<f32xN>(out + g * stride + first + kLanes * j) * factors[g];
  for (int t = 0; t < count; t++) {
    for (int j = 0; j < V; j++) {
      f32xN v = Row::some(rows[t] + first + kLanes * j);
      for (int g = 0; g < G; g++) acc[g][j] = fused(v, splat(weights[(size_t)g * kTile + t]), acc[g][j]);
    }
  }
  // One by one: had `acc` an address, GCC 12 would store it with every token.
  for (int g = 0; g < G; g++)
    for (int j = 0; j < V; j++) {
      f32xN v = acc[g][j];
      std::memcpy(out + g * stride + first + kLanes * j, &v, sizeof v);
    }
}

// exp(scale * score - largest) in place, where `largest` may grow and `total` of what was summed
// before shrinks with it, by the factor that is returned. The last vector may hold more than
// `count`.
inline float exponentials(float* scores, int count, float scale, float* largest, float* total) {
  for (int i = count; i < (count + kLanes - 1) / kLanes * kLanes; i++) scores[i] = -INFINITY;
  f32xN most = splat(*largest);
  for (int i = 0; i < count; i += kLanes) {
    f32xN v = load<f32xN>(scores + i) * scale;
    most = v > most ? v : most;
  }
  float top = greatest(most);
  f32xN sums = {};
  for (int i = 0; i < count; i += kLanes) {
    f32xN e = exponential(load<f32xN>(scores + i) * scale - top);
    for (int j = count - i; j < kLanes; j++) e[j] = 0;
    std::memcpy(scores + i, &e, sizeof e);
    sums += e;
  }
  float factor = top > *largest ? std::exp(*largest - top) : 1.0f;
  *total = factor * *total + sum(sums);
  *largest = top;
  return factor;
}

// Where the tokens of a part lie; the last ones again, so that four are always there.
struct PartSlots {
  size_t of[kPart + 3];
  int count;

  PartSlots(const PartTask& task, const int32_t* table, int block_size)
      : count(task.end - task.begin) {
    for (int t = 0; t < count; t++) {
      int at = task.begin + t;
      of[t] = (size_t)table[at / block_size] * block_size + at % block_size;
    }
    for (int t = count; t < (count + 3) / 4 * 4; t++) of[t] = of[count - 1];
  }
};

// One tile, and the one after it.
struct Tile {
  const size_t *slots, *next_slots;
  int count, next_count;
};

// A tile's scores for G query heads of a kv head, and meanwhile its values are fetched.
template <int G, class Row>
inline void score_tile(const Tile& tile, const Cached<Row>& keys, const Cached<Row>& values, int kv,
                       const float* queries, bool fetch, float* scores) {
  for (int t = 0; t < tile.count; t += 4) {
    for (int i = t; fetch && i < t + 4; i++) values.fetch(tile.slots[i], kv);
    const typename Row::Number* k[4];
    for (int i = 0; i < 4; i++) k[i] = keys.row(tile.slots[t + i], kv);
    dot_four<Row, G>(queries, k, scores + t, keys.D);
    for (int g = 0; Row::kScaled && g < G; g++)
      for (int i = 0; i < 4; i++) scores[g * kTile + t + i] *= keys.scale(tile.slots[t + i], kv);
  }
}

// A tile's values by their weights.
template <int G, class Row>
inline void weigh_tile(const Tile& tile, const Cached<Row>& values, int kv, const float* weights,
                       const float* factors, float* out, size_t stride) {
  const typename Row::Number* rows[kTile];
  for (int t = 0; t < tile.count; t++) rows[t] = values.row(tile.slots[t], kv);
  int first = 0;
  for (; first + 4 * kLanes <= values.D; first += 4 * kLanes)
    weigh<Row, G, 4>(weights, factors, rows, first, tile.count, out, stride);
  for (; first + 2 * kLanes <= values.D; first += 2 * kLanes)
    weigh<Row, G, 2>(weights, factors, rows, first, tile.count, out, stride);
  for (; first < values.D; first += kLanes)
    weigh<Row, G, 1>(weights, factors, rows, first, tile.count, out, stride);
}

// `action(head, constant G)` for query heads [first, first + count) that share keys, three at a
// time, or two, or one, such that none is left alone needlessly.
template <class Action>
inline void in_threes(int first, int count, Action action) {
  for (int g = 0; g < count;) {
    const int left = count - g;
    if (left == 1) action(first + g, std::integral_constant<int, 1>()), g += 1;
    else if (left % 3 == 0) action(first + g, std::integral_constant<int, 3>()), g += 3;
    else action(first + g, std::integral_constant<int, 2>()), g += 2;
  }
}

// Tile by tile: scores of all heads, softmax so far, sums of the values. The heads of a token lie
// side by side, so memory is read in order. A processor has some sixteen lines on their way at a
// time, so they are asked for bit by bit: values while scores are computed, and the next tile's
// keys with the softmax.
template <class Row>
void attend_part(const PartTask& task, const float* queries, int stride, Cached<Row> keys,
                 Cached<Row> values, const int32_t* tables, int width, int block_size,
                 PartRoom& room, PartResults& results) {
  const int D = keys.D, group = results.heads / keys.kv_heads;
  const int first = task.kv * group, heads = (task.kv_end - task.kv) * group;
  const float scale = 1.0f / std::sqrt((float)D);
  const size_t step = (size_t)results.most * (D + 2);
  const PartSlots slots(task, tables + (size_t)task.s * width, block_size);
  for (int head = first; head < first + heads; head++) {
    float* out = results.at(task.s, head, task.index);
    std::memset(out, 0, sizeof(float) * (D + 2));
    out[D] = -INFINITY;
  }
  for (int from = 0; from < slots.count; from += kTile) {
    const Tile tile{slots.of + from, slots.of + from + kTile, std::min(kTile, slots.count - from),
                    std::clamp(slots.count - from - kTile, 0, kTile)};
    for (int kv = task.kv; kv < task.kv_end; kv++)
      in_threes(kv * group, group, [&](int head, auto G) {
        score_tile<G>(tile, keys, values, kv, queries + (size_t)task.s * stride + (size_t)head * D,
                      head == kv * group, &room.scores[(size_t)head * kTile]);
      });
    for (int h = 0; h < heads; h++) {
      const int head = first + h;
      const Share next = share_of(tile.next_count, h, heads);
      for (int t = next.begin; t < next.end; t++)
        for (int kv = task.kv; kv < task.kv_end; kv++) keys.fetch(tile.next_slots[t], kv);
      float *own = &room.scores[(size_t)head * kTile], *sums = results.at(task.s, head, task.index);
      room.factors[head] = exponentials(own, tile.count, scale, sums + D, sums + D + 1);
      if (Row::kScaled)
        for (int t = 0; t < tile.count; t++) own[t] *= values.scale(tile.slots[t], head / group);
    }
    for (int kv = task.kv; kv < task.kv_end; kv++)
      in_threes(kv * group, group, [&](int head, auto G) {
        weigh_tile<G>(tile, values, kv, &room.scores[(size_t)head * kTile], &room.factors[head],
                      results.at(task.s, head, task.index), step);
      });
  }
}

// One head's parts as one: out (D).
inline void join_parts(PartResults& results, int s, int head, int count, float* out) {
  int D = results.D;
  float most = -INFINITY, total = 0;
  for (int p = 0; p < count; p++) {
    float largest = results.at(s, head, p)[D];
    most = largest > most ? largest : most;
  }
  for (int i = 0; i < D; i++) out[i] = 0;
  for (int p = 0; p < count; p++) {
    const float* part = results.at(s, head, p);
    float weight = std::exp(part[D] - most);
    total += weight * part[D + 1];
    for (int i = 0; i < D; i++) out[i] += weight * part[i];
  }
  for (int i = 0; i < D; i++) out[i] /= total;
}

}  // namespace
