// Rotation into the KV cache, and attention of single tokens over it, for every kind of row
// that a cache may have.

#pragma once

#include <vector>

#include "cached_rows.h"

namespace {

inline float dot(const float* a, const float* b, int count) {
  f32x8 even = {}, odd = {};
  for (int i = 0; i < count; i += 16) {
    even += load<f32x8>(a + i) * load<f32x8>(b + i);
    odd += load<f32x8>(a + i + 8) * load<f32x8>(b + i + 8);
  }
  return sum(even + odd);
}

// One query head over its context, softmax weights left in `scores`.
inline void softmax(float* scores, int count) {
  float largest = scores[0];
  for (int i = 1; i < count; i++) largest = scores[i] > largest ? scores[i] : largest;
  f32x8 total = {};
  for (int i = count; i < (count + 7) / 8 * 8; i++) scores[i] = -INFINITY;
  for (int i = 0; i < count; i += 8) {
    f32x8 e = exp8(load<f32x8>(scores + i) - largest);
    if (i + 8 > count)
      for (int j = count - i; j < 8; j++) e[j] = 0;
    std::memcpy(scores + i, &e, sizeof e);
    total += e;
  }
  float scale = 1.0f / sum(total);
  for (int i = 0; i < count; i++) scores[i] *= scale;
}

// Keys or values of a layer: rows (slots, kv_heads, D), and where they are scaled a scale
// for each (slots, kv_heads).
template <class Row>
struct Cached {
  typename Row::Number* rows;
  float* scales;
  int kv_heads, D;

  const float* floats(size_t slot, int kv, float* room) const {
    return Row::floats(rows + (slot * kv_heads + kv) * D, room, D);
  }
  float scale(size_t slot, int kv) const {
    return Row::kScaled ? scales[slot * kv_heads + kv] : 1.0f;
  }
  void store(const float* from, size_t slot) {
    for (int kv = 0; kv < kv_heads; kv++) {
      size_t at = slot * kv_heads + kv;
      Row::store(from + (size_t)kv * D, rows + at * D, Row::kScaled ? scales + at : nullptr, D);
    }
  }
};

template <class Row>
void rotate_and_cache(float* qkv, const float* cosines, const float* sines, const int64_t* slots,
                      Cached<Row> keys, Cached<Row> values, int T, int heads) {
  int kv_heads = keys.kv_heads, D = keys.D, half = D / 2;
#pragma omp parallel for schedule(static) if (T > 4)
  for (int t = 0; t < T; t++) {
    float* row = qkv + (size_t)t * (heads + 2 * kv_heads) * D;
    const float *c = cosines + (size_t)t * D, *s = sines + (size_t)t * D;
    for (int h = 0; h < heads + kv_heads; h++) {
      float* head = row + (size_t)h * D;
      for (int i = 0; i < half; i++) {
        float first = head[i], second = head[i + half];
        head[i] = first * c[i] - second * s[i];
        head[i + half] = second * c[i + half] + first * s[i + half];
      }
    }
    keys.store(row + (size_t)heads * D, slots[t]);
    values.store(row + (size_t)(heads + kv_heads) * D, slots[t]);
  }
}

template <class Row>
void attend(const float* queries, Cached<Row> keys, Cached<Row> values, const int32_t* tables,
            const int32_t* lengths, float* out, int S, int stride, int heads, int block_size,
            int width, int window) {
  int kv_heads = keys.kv_heads, D = keys.D, group = heads / kv_heads;
  float scale = 1.0f / std::sqrt((float)D);
#pragma omp parallel
  {
    std::vector<float> weights, room(D);
#pragma omp for collapse(2) schedule(dynamic)
    for (int s = 0; s < S; s++)
      for (int kv = 0; kv < kv_heads; kv++) {
        int end = lengths[s], begin = end > window ? end - window : 0;
        int length = end - begin, padded = (length + 7) / 8 * 8;
        const int32_t* table = tables + (size_t)s * width;
        const float* q = queries + (size_t)s * stride + (size_t)kv * group * D;
        float* o = out + ((size_t)s * heads + (size_t)kv * group) * D;
        weights.resize((size_t)group * padded);
        for (int at = begin; at < end; at++) {
          size_t slot = (size_t)table[at / block_size] * block_size + at % block_size;
          const float* k = keys.floats(slot, kv, room.data());
          float by = scale * keys.scale(slot, kv);
          for (int g = 0; g < group; g++)
            weights[(size_t)g * padded + at - begin] = dot(q + (size_t)g * D, k, D) * by;
        }
        for (int g = 0; g < group; g++) softmax(&weights[(size_t)g * padded], length);
        std::memset(o, 0, sizeof(float) * group * D);
        for (int at = begin; at < end; at++) {
          size_t slot = (size_t)table[at / block_size] * block_size + at % block_size;
          const float* v = values.floats(slot, kv, room.data());
          float by = values.scale(slot, kv);
          for (int g = 0; g < group; g++) {
            float p = weights[(size_t)g * padded + at - begin] * by;
            for (int i = 0; i < D; i++) o[(size_t)g * D + i] += p * v[i];
          }
        }
      }
  }
}

}  // namespace
