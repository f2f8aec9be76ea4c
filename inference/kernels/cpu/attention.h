// Rotation into the KV cache, and attention of single tokens over it, for every kind of row
// that a cache may have.

#pragma once

#include <omp.h>

#include "attend_parts.h"
#include "rows.h"

namespace {

template <class Row>
void rotate_and_cache(float* qkv, const float* cosines, const float* sines, const int64_t* slots,
                      Cached<Row> keys, Cached<Row> values, int T, int heads) {
  int kv_heads = keys.kv_heads, D = keys.D;
#pragma omp parallel for schedule(static) if (T > 4)
  for (int t = 0; t < T; t++) {
    float* row = qkv + (size_t)t * (heads + 2 * kv_heads) * D;
    const float *c = cosines + (size_t)t * D, *s = sines + (size_t)t * D;
    for (int h = 0; h < heads + kv_heads; h++) rotate_row(row + (size_t)h * D, c, s, D);
    keys.store(row + (size_t)heads * D, slots[t]);
    values.store(row + (size_t)(heads + kv_heads) * D, slots[t]);
  }
}

template <class Row>
void attend(const float* queries, Cached<Row> keys, Cached<Row> values, const int32_t* tables,
            const int32_t* lengths, float* out, int S, int stride, int heads, int block_size,
            int width, int window) {
  int D = keys.D;
  PartPlan plan(lengths, S, keys.kv_heads, window, omp_get_max_threads());
  PartResults results(S, heads, D, plan.most);
#pragma omp parallel
  {
    PartRoom room(heads);
#pragma omp for schedule(dynamic)
    for (size_t i = 0; i < plan.tasks.size(); i++)
      attend_part(plan.tasks[i], queries, stride, keys, values, tables, width, block_size, room,
                  results);
#pragma omp for schedule(static)
    for (int i = 0; i < S * heads; i++)
      join_parts(results, i / heads, i % heads, count_parts(lengths[i / heads], window),
                 out + (size_t)i * D);
  }
}

}  // namespace
