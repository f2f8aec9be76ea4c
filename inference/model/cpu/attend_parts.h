// Attention of single query tokens over paged keys and values. A long context is cut into
// parts of `kPart` tokens, each computed alone and joined afterwards (flash decoding), so that
// one stream keeps several threads busy; the cut is the same whatever their number, and so is
// the result. Source: Dao et al. 2023 (Flash-Decoding).

#pragma once

#include <vector>

#include "cached_rows.h"

namespace {

constexpr int kPart = 128;  // tokens; keys or values of a head as float32 fill a first-level cache

// Tokens [begin, end) of sequence s, for the query heads of one kv head.
struct PartTask {
  int s, kv, index, begin, end;
};

// All parts of a batch, and how many each sequence has.
struct PartPlan {
  std::vector<PartTask> tasks;
  int most = 0;  // parts of the longest sequence

  PartPlan(const int32_t* lengths, int S, int kv_heads, int window) {
    for (int s = 0; s < S; s++) {
      int end = lengths[s], begin = end > window ? end - window : 0, index = 0;
      for (int at = begin; at < end; at += kPart, index++)
        for (int kv = 0; kv < kv_heads; kv++)
          tasks.push_back({s, kv, index, at, at + kPart < end ? at + kPart : end});
      most = index > most ? index : most;
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

// Where a thread works.
struct PartRoom {
  std::vector<float> scores, keys, values;
  const float* rows[kPart];
  PartRoom(int group, int D) : scores((size_t)group * kPart), keys(4 * D), values(kPart * D) {}
};

// The products of one query with four keys.
inline void dot_four(const float* q, const float* const* k, float* out, int D) {
  f32x8 acc[4] = {};
  for (int i = 0; i < D; i += 8) {
    f32x8 v = load<f32x8>(q + i);
    for (int t = 0; t < 4; t++) acc[t] += v * load<f32x8>(k[t] + i);
  }
#ifdef __AVX2__
  __m256 pair = _mm256_hadd_ps((__m256)acc[0], (__m256)acc[1]);
  __m256 other = _mm256_hadd_ps((__m256)acc[2], (__m256)acc[3]);
  __m256 four = _mm256_hadd_ps(pair, other);
  _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(four), _mm256_extractf128_ps(four, 1)));
#else
  for (int t = 0; t < 4; t++) out[t] = sum(acc[t]);
#endif
}

// out[g][0 .. 8 V) = sum of weights[g][t] * rows[t][0 .. 8 V), for G heads.
template <int G, int V>
inline void weigh(const float* weights, const float* const* rows, int first, int count, float* out,
                  size_t stride) {
  f32x8 acc[G][V] = {};
  for (int t = 0; t < count; t++)
    for (int j = 0; j < V; j++) {
      f32x8 v = load<f32x8>(rows[t] + first + 8 * j);
      for (int g = 0; g < G; g++) acc[g][j] += v * weights[(size_t)g * kPart + t];
    }
  for (int g = 0; g < G; g++) std::memcpy(out + g * stride + first, acc[g], sizeof acc[g]);
}

template <int G>
inline void weigh_heads(const float* weights, const float* const* rows, int count, float* out,
                        size_t stride, int D) {
  int first = 0;
  for (; first + 32 <= D; first += 32) weigh<G, 4>(weights, rows, first, count, out, stride);
  for (; first < D; first += 16) weigh<G, 2>(weights, rows, first, count, out, stride);
}

// exp(score - largest) in place; the last vector may hold more than `count`.
inline void exponentials(float* scores, int count, float* largest, float* total) {
  float most = scores[0];
  for (int i = 1; i < count; i++) most = scores[i] > most ? scores[i] : most;
  for (int i = count; i < (count + 7) / 8 * 8; i++) scores[i] = -INFINITY;
  f32x8 sums = {};
  for (int i = 0; i < count; i += 8) {
    f32x8 e = exp8(load<f32x8>(scores + i) - most);
    for (int j = count - i; j < 8; j++) e[j] = 0;
    std::memcpy(scores + i, &e, sizeof e);
    sums += e;
  }
  *largest = most;
  *total = sum(sums);
}

template <class Row>
void attend_part(const PartTask& task, const float* queries, int stride, Cached<Row> keys,
                 Cached<Row> values, const int32_t* tables, int width, int block_size,
                 PartRoom& room, PartResults& results) {
  int D = keys.D, group = results.heads / keys.kv_heads, count = task.end - task.begin;
  const int32_t* table = tables + (size_t)task.s * width;
  const float* q = queries + (size_t)task.s * stride + (size_t)task.kv * group * D;
  float scale = 1.0f / std::sqrt((float)D), *scores = room.scores.data();
  size_t slots[kPart + 3];
  for (int t = 0; t < count; t++) {
    int at = task.begin + t;
    slots[t] = (size_t)table[at / block_size] * block_size + at % block_size;
  }
  for (int t = count; t < (count + 3) / 4 * 4; t++) slots[t] = slots[count - 1];
  for (int t = 0; t < count; t += 4) {
    for (int i = 8; i < 12 && t + i < count; i++) keys.fetch(slots[t + i], task.kv);
    for (int i = 0; i < 4; i++) values.fetch(slots[t + i], task.kv);
    const float* k[4];
    for (int i = 0; i < 4; i++) k[i] = keys.floats(slots[t + i], task.kv, &room.keys[i * D]);
    for (int g = 0; g < group; g++) {
      float* to = scores + (size_t)g * kPart + t;
      dot_four(q + (size_t)g * D, k, to, D);
      for (int i = 0; i < 4; i++) to[i] *= scale * keys.scale(slots[t + i], task.kv);
    }
  }
  for (int t = 0; t < count; t++)
    room.rows[t] = values.floats(slots[t], task.kv, &room.values[(size_t)t * D]);
  for (int g = 0; g < group; g++) {
    float* result = results.at(task.s, task.kv * group + g, task.index);
    float* own = scores + (size_t)g * kPart;
    exponentials(own, count, result + D, result + D + 1);
    if (Row::kScaled)
      for (int t = 0; t < count; t++) own[t] *= values.scale(slots[t], task.kv);
  }
  size_t step = (size_t)results.most * (D + 2);
  for (int g = 0; g < group;) {
    float *out = results.at(task.s, task.kv * group + g, task.index), *own = scores + g * kPart;
    int left = group - g;
    if (left == 1) weigh_heads<1>(own, room.rows, count, out, step, D), g += 1;
    else if (left % 3 == 0) weigh_heads<3>(own, room.rows, count, out, step, D), g += 3;
    else weigh_heads<2>(own, room.rows, count, out, step, D), g += 2;
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

inline int count_parts(int length, int window) {
  return ((length < window ? length : window) + kPart - 1) / kPart;
}

}  // namespace
