// Attention of single query tokens over paged keys and values. A long context is cut into parts,
// each computed alone and joined afterwards (flash decoding), so that one request keeps several
// threads busy; the cut is the same whatever their number, and so is the result. A part is long
// where the context is, since its first tokens come from memory before anything asked for them.
// Within a part the softmax goes on as tiles of tokens come.
// Source: Dao et al. 2022 (FlashAttention) and 2023 (Flash-Decoding).

#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "cached_rows.h"
#include "phases.h"

namespace {

constexpr int kLeastPart = 128;  // tokens
constexpr int kMostParts = 32;   // of a sequence
constexpr int kTile = 64;        // tokens at once
constexpr int kTasksOfThread = 8;
constexpr int kMostHeads = kLanes == 16 ? 6 : 3;  // at once: their sums stay in registers

// Tokens [begin, end) of sequence s, which are parts from `index` on of `part` tokens each but the last, for
// the query heads of the kv heads [kv, kv_end).
struct PartTask {
  int s, kv, kv_end, index, part, begin, end;
};

// Tokens of a part where so many are attended to.
inline int part_of(int attended) {
  int tokens = kLeastPart;
  while ((int64_t)tokens * kMostParts < attended) tokens *= 2;
  return tokens;
}

inline int count_parts(int length, int window) {
  const int attended = std::min(length, window), part = part_of(attended);
  return (attended + part - 1) / part;
}

// All parts of a batch, and how many the longest sequence has. The heads of a part lie side by
// side in memory, so one thread reads them all, unless there are too few parts for the threads. Where there
// are many, a task is several in a row: what comes next is asked for across their ends.
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
    const int together = parts < 2 * threads ? 1 : kv_heads;
    const int in_row = std::max(1, parts / (kTasksOfThread * threads));
    for (int first = 0, next; first < S; first = next) {
      int longest = count_parts(lengths[first], window);  // the longer one may have fewer parts
      for (next = first + 1; next < S && lengths[next] == lengths[next - 1] + 1; next++)
        longest = std::max(longest, count_parts(lengths[next], window));
      const int step = next - first > 1 ? 1 : in_row;  // what several read is to stay in the cache
      for (int index = 0; index < longest; index += step)
        for (int s = first; s < next; s++) {
          const int end = lengths[s], attended = std::min(end, window), part = part_of(attended);
          const int at = end - attended + index * part;
          for (int kv = 0; at < end && kv < kv_heads; kv += together)
            tasks.push_back({s, kv, kv + together, index, part, at, std::min(at + step * part, end)});
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
__attribute__((always_inline)) inline void sum_four(f32xN v0, f32xN v1, f32xN v2, f32xN v3,
                                                    float* out) {
#if defined(PARLEY_AVX512)
  const auto low = [](__m512 a, __m512 b) { return _mm512_unpacklo_ps(a, b); };
  const auto high = [](__m512 a, __m512 b) { return _mm512_unpackhi_ps(a, b); };
  __m512 a = (__m512)v0, b = (__m512)v1, c = (__m512)v2, d = (__m512)v3;
  __m512d ab = (__m512d)_mm512_add_ps(low(a, b), high(a, b));
  __m512d cd = (__m512d)_mm512_add_ps(low(c, d), high(c, d));
  __m512 four = _mm512_add_ps((__m512)_mm512_unpacklo_pd(ab, cd), (__m512)_mm512_unpackhi_pd(ab, cd));
  __m256 pair = _mm256_add_ps(_mm512_castps512_ps256(four), _mm512_extractf32x8_ps(four, 1));
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(pair), _mm256_extractf128_ps(pair, 1)));
#elif defined(__AVX2__)
  __m256 pair = _mm256_hadd_ps((__m256)v0, (__m256)v1);
  __m256 other = _mm256_hadd_ps((__m256)v2, (__m256)v3);
  __m256 four = _mm256_hadd_ps(pair, other);
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(four), _mm256_extractf128_ps(four, 1)));
#else
  out[0] = sum(v0), out[1] = sum(v1), out[2] = sum(v2), out[3] = sum(v3);
#endif
}
inline void sum_four(const f32xN* v, float* out) { sum_four(v[0], v[1], v[2], v[3], out); }

// Kept in a register where it is: GCC 12 would load it again for each product.
inline f32xN in_register(f32xN v) {
#ifdef PARLEY_AVX512
  asm("" : "+v"(v));
#endif
  return v;
}

// out[g][0 .. 4) = the products of queries[g] with four keys, for G heads.
template <class Row, int G>
inline void dot_four(const float* queries, const typename Row::Number* const* keys, float* out,
                     int D) {
  f32xN acc[G][4] = {};
  for (int i = 0; i < D; i += kLanes) {
    f32xN q[G];
#pragma GCC unroll 8
    for (int g = 0; g < G; g++) q[g] = in_register(load<f32xN>(queries + (size_t)g * D + i));
#pragma GCC unroll 4
    for (int t = 0; t < 4; t++) {
      const f32xN k = Row::some(keys[t] + i);
#pragma GCC unroll 8
      for (int g = 0; g < G; g++) acc[g][t] = fused(k, q[g], acc[g][t]);
    }
  }
#pragma GCC unroll 8
  for (int g = 0; g < G; g++) sum_four(acc[g][0], acc[g][1], acc[g][2], acc[g][3], out + (size_t)g * kTile);
}

// out[g][first .. first + V vectors) = factors[g] * itself + the sum of weights[g][t] * rows[t][...),
// for G heads.
template <class Row, int G, int V>
inline void weigh(const float* weights, const float* factors,
                  const typename Row::Number* const* rows, const typename Row::Number* const* ahead,
                  int first, int count, float* out, size_t stride) {
  f32xN acc[G][V];
  for (int g = 0; g < G; g++)
    for (int j = 0; j < V; j++)
      acc[g][j] = load<f32xN>(out + g * stride + first + kLanes * j) * factors[g];
  for (int t = 0; t < count; t++) {
    for (size_t at = 0; at < V * kLanes * sizeof(typename Row::Number); at += 64)
      __builtin_prefetch((const char*)(ahead[t] + first) + at, 0, 2);
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

// Where the tokens of a tile lie; the last one again, so that four are always there.
struct TileSlots {
  size_t of[kTile + 3];
  int count = 0;

  // Of tokens [begin, end), of which a tile takes the first.
  void find(int begin, int end, const int32_t* table, int block_size) {
    count = std::clamp(end - begin, 0, kTile);
    for (int t = 0; t < count;) {
      const int at = begin + t, offset = at % block_size, run = std::min(block_size - offset, count - t);
      const size_t first = (size_t)table[at / block_size] * block_size + offset;
      for (int i = 0; i < run; i++) of[t + i] = first + i;
      t += run;
    }
    for (int t = count; count && t < (count + 3) / 4 * 4; t++) of[t] = of[count - 1];
  }
};

// A tile's scores for G query heads of a kv head; meanwhile the keys of the next one are fetched.
template <int G, class Row>
inline void score_tile(const TileSlots& tile, const TileSlots* next, const Cached<Row>& keys, int kv,
                       const float* queries, float* scores) {
  for (int t = 0; t < tile.count; t += 4) {
    for (int i = t; next && i < std::min(t + 4, next->count); i++) keys.fetch(next->of[i], kv);
    const typename Row::Number* k[4];
    for (int i = 0; i < 4; i++) k[i] = keys.row(tile.of[t + i], kv);
    dot_four<Row, G>(queries, k, scores + t, keys.D);
    for (int g = 0; Row::kScaled && g < G; g++)
      for (int i = 0; i < 4; i++) scores[g * kTile + t + i] *= keys.scale(tile.of[t + i], kv);
  }
}

// A tile's values by their weights; meanwhile those of the next one are fetched.
template <int G, class Row>
inline void weigh_tile(const TileSlots& tile, const TileSlots* next, const Cached<Row>& values, int kv,
                       const float* weights, const float* factors, float* out, size_t stride) {
  const typename Row::Number *rows[kTile], *ahead[kTile];
  for (int t = 0; t < tile.count; t++) {
    rows[t] = values.row(tile.of[t], kv);
    ahead[t] = next && t < next->count ? values.row(next->of[t], kv) : rows[t];
  }
  int first = 0;
  for (; first + 4 * kLanes <= values.D; first += 4 * kLanes)
    weigh<Row, G, 4>(weights, factors, rows, ahead, first, tile.count, out, stride);
  for (; first + 2 * kLanes <= values.D; first += 2 * kLanes)
    weigh<Row, G, 2>(weights, factors, rows, ahead, first, tile.count, out, stride);
  for (; first < values.D; first += kLanes)
    weigh<Row, G, 1>(weights, factors, rows, ahead, first, tile.count, out, stride);
}

// `action(head, constant G)` for query heads [first, first + count) that share keys, as many at a time
// as are computed at once, in parts that are about equal.
template <class Action>
inline void in_groups(int first, int count, Action action) {
  while (count > 0) {
    const int groups = (count + kMostHeads - 1) / kMostHeads, some = (count + groups - 1) / groups;
    const auto with = [&](auto G) {
      if (some == G) action(first, G);
    };
    with(std::integral_constant<int, 1>());
    with(std::integral_constant<int, 2>());
    with(std::integral_constant<int, 3>());
    if constexpr (kMostHeads > 3) {
      with(std::integral_constant<int, 4>());
      with(std::integral_constant<int, 5>());
      with(std::integral_constant<int, 6>());
    }
    first += some, count -= some;
  }
}

// Tile by tile: scores of all heads, softmax so far, sums of the values. A processor has some twenty lines
// on their way at a time, so they are asked for bit by bit: with each key of a tile that of the next one,
// and with each of its values. A part's bits are the same whatever comes before it.
template <class Row>
void attend_part(const PartTask& task, const float* queries, int stride, Cached<Row> keys,
                 Cached<Row> values, const int32_t* tables, int width, int block_size,
                 PartRoom& room, PartResults& results) {
  const int D = keys.D, group = results.heads / keys.kv_heads;
  const int first = task.kv * group, heads = (task.kv_end - task.kv) * group;
  const float scale = 1.0f / std::sqrt((float)D);
  const size_t step = (size_t)results.most * (D + 2);
  const int32_t* table = tables + (size_t)task.s * width;
  const auto part_at = [&](int token) { return (token - task.begin) / task.part; };
  const auto tile_end = [&](int from) {
    return std::min({from + kTile, task.begin + (part_at(from) + 1) * task.part, task.end});
  };
  TileSlots slots[2];
  slots[0].find(task.begin, tile_end(task.begin), table, block_size);
  for (int kv = task.kv; kv < task.kv_end; kv++)
    for (int t = 0; t < slots[0].count; t++) keys.fetch(slots[0].of[t], kv);
  for (int kv = task.kv; kv < task.kv_end; kv++)
    for (int t = 0; t < slots[0].count; t++) values.fetch(slots[0].of[t], kv);
  int part = -1;
  for (int from = task.begin, turn = 0; from < task.end; turn ^= 1) {
    const TileSlots& tile = slots[turn];
    TileSlots& next = slots[!turn];
    const int end = tile_end(from);
    next.find(end, end < task.end ? tile_end(end) : end, table, block_size);
    for (; part < task.index + part_at(from); part = task.index + part_at(from))
      for (int head = first; head < first + heads; head++) {
        float* out = results.at(task.s, head, task.index + part_at(from));
        std::memset(out, 0, sizeof(float) * (D + 2));
        out[D] = -INFINITY;
      }
    for (int kv = task.kv; kv < task.kv_end; kv++)
      in_groups(kv * group, group, [&](int head, auto G) {
        score_tile<G>(tile, head == kv * group ? &next : nullptr, keys, kv,
                      queries + (size_t)task.s * stride + (size_t)head * D, &room.scores[(size_t)head * kTile]);
      });
    for (int head = first; head < first + heads; head++) {
      float *own = &room.scores[(size_t)head * kTile], *sums = results.at(task.s, head, part);
      room.factors[head] = exponentials(own, tile.count, scale, sums + D, sums + D + 1);
      for (int t = 0; Row::kScaled && t < tile.count; t++) own[t] *= values.scale(tile.of[t], head / group);
    }
    for (int kv = task.kv; kv < task.kv_end; kv++)
      in_groups(kv * group, group, [&](int head, auto G) {
        weigh_tile<G>(tile, head == kv * group ? &next : nullptr, values, kv,
                      &room.scores[(size_t)head * kTile], &room.factors[head],
                      results.at(task.s, head, part), step);
      });
    from = end;
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
