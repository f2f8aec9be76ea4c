// All layers of a decoder over few rows, a decode batch and short chunks of prompts, in one call and one
// parallel region: what a step costs beside its products is then some barriers, not hundreds of calls.
//
// Norms and roundings of the few rows are computed by each thread for itself, which is cheaper than
// to wait. The numbers are those of the single kernels, bit by bit, on any number of threads.

#pragma once

#include <omp.h>

#include <algorithm>
#include <map>

#include "adapted.h"
#include "attend_prefill.h"
#include "attention.h"
#include "matrix.h"
#include "phases.h"
#include "readout.h"

extern "C" {

struct ParleyLayer {
  const float *attn_norm, *mlp_norm;
  ParleyMatrix qkv, out, gate_up, down;
  void *keys, *values;
  float *key_scales, *value_scales;
  int window;
  int place;  // which of the batch's places are this layer's
};

struct ParleyShape {
  int hidden, heads, kv_heads, head_dim, block_size, row_kind;
  int rounds_attention;  // of prompts, to bfloat16 where the processor multiplies that
  float eps;
};

// Rows [begin, end) of a batch: a prompt's tokens from position `start` on, whose sequence lies in
// `slots`.
struct ParleyChunk {
  int begin, end, start;
  const int64_t* slots;
};

// Where a batch's rows lie: those of single queries by `tables` (num_decode, width), the chunks' by their
// slots.
struct ParleyPlaces {
  const int64_t* slots;
  const int32_t* tables;
  const ParleyChunk* chunks;
};

// M rows, first `num_decode` of single queries with one of `lengths` each, then those of the prompts'
// chunks. They lie in two places, which differ where layers with a window have blocks of their own: the
// first is that of readouts too. x (M, hidden) is changed in place; what the last
// layer adds to it goes to `delta`. Rows may have adapters, whose tables have four entries a layer: those
// of qkv, out, gate_up and down. With `readout` one layer is read on the way.
struct ParleyDecodeBatch {
  float *x, *delta;
  const float *cosines, *sines;
  const int32_t* lengths;
  ParleyPlaces places[2];
  int M, width, num_decode, num_chunks;
  ParleyAdapters adapters;
  const ParleyReadout* readout;  // or null
};
}

namespace {

constexpr int kUnitsOfThread = 4;  // of a phase: few, since each begins a weight anew

// Rows of activations of one thread, and the same rounded.
struct OwnRows {
  int M;
  std::vector<float> exact;
  RoundedRows rounded;
  OwnRows(int M, int most) : M(M), exact((size_t)M * most), rounded(M, most) {}

  void round(int K, int shared) {
    for (int m = 0; m < M; m++) rounded.put(&exact[(size_t)m * K], m, K / kBlock, 0, K, shared);
  }
};

// What the threads share between the parts of a layer.
struct Shared {
  std::vector<float> qkv, attended, sum, gate_up, activated;
  RoundedRows rounded;
  Shared(int M, int qkv_rows, int queries, int hidden, int intermediate)
      : qkv((size_t)M * qkv_rows),
        attended((size_t)M * queries),
        sum((size_t)M * hidden),
        gate_up((size_t)M * 2 * intermediate),
        activated((size_t)M * intermediate),
        rounded(M, intermediate) {}
};

// Some of a prompt's tokens, for the query heads of one kv head.
struct SpanTask {
  int chunk, kv, begin, end;
};

inline std::vector<SpanTask> span_tasks(const ParleyDecodeBatch& batch, int kv_heads, int group) {
  std::vector<SpanTask> tasks;
  const int tokens = tokens_of_span(group);
  for (int i = 0; i < batch.num_chunks; i++) {
    const ParleyChunk& chunk = batch.places[0].chunks[i];
    const int count = chunk.end - chunk.begin;
    for (int begin = 0; begin < count; begin += tokens)
      for (int kv = 0; kv < kv_heads; kv++)
        tasks.push_back({i, kv, begin, std::min(begin + tokens, count)});
  }
  return tasks;
}

template <class Row>
void decode(const ParleyLayer* layers, int count, const ParleyShape& shape,
            const ParleyDecodeBatch& batch) {
  const int M = batch.M, num_decode = batch.num_decode, hidden = shape.hidden, heads = shape.heads;
  const int D = shape.head_dim, kv_heads = shape.kv_heads, queries = heads * D;
  const int group = heads / kv_heads, qkv_rows = (heads + 2 * kv_heads) * D;
  const int intermediate = layers[0].down.width;
  const int threads = omp_get_max_threads();
  std::map<int, PartPlan> plans;
  int most = 0, whole = kBlock;  // columns that are rounded together, of every layer
  for (int i = 0; i < count; i++) {
    whole = std::max(whole, layers[i].down.rounds);
    const int window = layers[i].window;
    auto found = plans.try_emplace(window, batch.lengths, num_decode, kv_heads, window, threads);
    most = std::max(most, found.first->second.most);
  }
  const std::vector<SpanTask> spans = span_tasks(batch, kv_heads, group);
  PartResults parts(num_decode, heads, D, most);
  Shared shared(M, qkv_rows, queries, hidden, intermediate);
  Adapted adapted(batch.adapters, M, count, {hidden, queries, hidden, intermediate});
  std::vector<Phase> phases((size_t)count * (5 + (adapted.any() ? Adapted::kProducts * threads : 0)));
  const auto units_of = [&](int total) { return std::min(total, threads * kUnitsOfThread); };
  const int qkv_units = units_of(heads + 2 * kv_heads);
  const int sum_units = units_of(hidden / kGroup), mlp_units = units_of(intermediate / whole);
#pragma omp parallel num_threads(threads)
  {
    Phases work(phases);
    const int thread = omp_get_thread_num();
    Ahead ahead;
    OwnRows own(M, std::max(hidden, queries));
    PartRoom room(heads);
    const bool rounds = shape.rounds_attention;
    SpanWork<Row, ExactSpan> exact_span(spans.empty() || rounds ? 0 : span_rows(group), D);
    SpanWork<Row, BFloat16Span> rounded_span(spans.empty() || !rounds ? 0 : span_rows(group), D);

    const auto norm = [&](const float* weight, const ParleyMatrix& next) {
      for (int m = 0; m < M; m++)
        norm_row(batch.x + (size_t)m * hidden, nullptr, weight, &own.exact[(size_t)m * hidden],
                 hidden, shape.eps);
      if (next.rounds) own.round(hidden, next.rounds);
    };
    const Phase* shrinking = nullptr;  // where what enters the product at hand is shrunk
    const auto all_shrunk = [&] { Phases::wait_for_shares(shrinking, M, threads); };
    // Columns of x += input @ weight^T, or of the last layer's `delta`.
    const auto sum = [&](int layer, Adapted::Which which, const ParleyMatrix& weight,
                         const float* input, const RoundedRows& rounded, int unit, bool last) {
      Share groups = share_of(hidden / kGroup, unit, sum_units);
      int from = groups.begin * kGroup, to = groups.end * kGroup;
      float* y = last ? batch.delta : shared.sum.data();
      const int index = layer * Adapted::kProducts + which;
      adapted.multiply(index, weight, input, rounded, y, from, to, hidden, index + 1, sum_units, thread, threads,
                       ahead, all_shrunk);
      for (int m = 0; !last && m < M; m++)
        for (int n = from; n < to; n++) batch.x[(size_t)m * hidden + n] += y[(size_t)m * hidden + n];
    };
    const auto nothing = [] {};
    // What this thread does once to make ready what enters a product, in whichever phase it comes first.
    int ready_for = -1;
    const auto once = [&](int layer, Adapted::Which which, auto prepare) {
      return [&ready_for, product = layer * Adapted::kProducts + which, prepare] {
        if (ready_for != product) prepare();
        ready_for = product;
      };
    };
    // Where rows have adapters, what enters a product is made ready in the phase before it.
    const auto shrink = [&](int layer, Adapted::Which which, auto prepare, const ParleyMatrix& weight,
                            const float* input, const RoundedRows& rounded) {
      if (adapted.any())
        shrinking = work.begin_shares(M, thread, threads, prepare, [&](int m) {
          adapted.shrink(layer * Adapted::kProducts + which, m, input + (size_t)m * weight.width,
                         weight.rounds == kBlock ? rounded.row(m, weight.width / kBlock) : nullptr, weight.width);
        });
    };

    for (int i = 0; i < count; i++) {
      const ParleyLayer& layer = layers[i];
      const ParleyPlaces& own_place = batch.places[layer.place];
      const PartPlan& plan = plans.at(layer.window);
      Cached<Row> keys{(typename Row::Number*)layer.keys, layer.key_scales, kv_heads, D};
      Cached<Row> values{(typename Row::Number*)layer.values, layer.value_scales, kv_heads, D};

      // Queries, keys and values, head by head, turned and kept by the thread that has them.
      const auto enter_attention =
          once(i, Adapted::kQkv, [&] { norm(layer.attn_norm, layer.qkv); });
      shrink(i, Adapted::kQkv, enter_attention, layer.qkv, own.exact.data(), own.rounded);
      work.run(
          qkv_units, enter_attention,
          [&](int unit) {
            Share own_heads = share_of(heads + 2 * kv_heads, unit, qkv_units);
            adapted.multiply(i * Adapted::kProducts + Adapted::kQkv, layer.qkv, own.exact.data(),
                             own.rounded, shared.qkv.data(), own_heads.begin * D, own_heads.end * D,
                             qkv_rows, Adapted::kNone, qkv_units, thread, threads, ahead, all_shrunk);
            for (int m = 0; m < M; m++)
              for (int h = own_heads.begin; h < own_heads.end; h++) {
                float* head = &shared.qkv[(size_t)m * qkv_rows + (size_t)h * D];
                if (h < heads + kv_heads)
                  rotate_row(head, batch.cosines + (size_t)m * D, batch.sines + (size_t)m * D, D);
                if (h >= heads + kv_heads)
                  values.store_head(head, own_place.slots[m], h - heads - kv_heads);
                else if (h >= heads)
                  keys.store_head(head, own_place.slots[m], h - heads);
              }
          });

      // What enters the layer is read here, since x rests meanwhile: small tasks, so the last.
      const ParleyReadout* read = batch.readout && batch.readout->layer == i ? batch.readout : nullptr;
      const int attending = plan.tasks.size() + spans.size();
      work.run(attending + (read ? M : 0), nothing, [&](int task) {
        if (task >= attending) {
          const int m = task - attending;
          read_row(*read, batch.x + (size_t)m * hidden, read->values + batch.places[0].slots[m] * read->count,
                   hidden);
          return;
        }
        if (task >= (int)spans.size()) {
          attend_part(plan.tasks[task - spans.size()], shared.qkv.data(), qkv_rows, keys, values,
                      own_place.tables, batch.width, shape.block_size, room, parts);
          return;
        }
        const auto attend_with = [&](auto& own_span) {
          const SpanTask& span = spans[task];
          const ParleyChunk& chunk = own_place.chunks[span.chunk];
          own_span.context.read_from(keys, values, chunk.slots, chunk.start + chunk.end - chunk.begin);
          span_task(own_span.context, &shared.qkv[(size_t)chunk.begin * qkv_rows], qkv_rows,
                    &shared.attended[(size_t)chunk.begin * queries], span.kv, group, heads, span.begin,
                    span.end, chunk.start, std::min(layer.window, 1 << 30), own_span.room);
        };
        rounds ? attend_with(rounded_span) : attend_with(exact_span);
      });

      const auto join = once(i, Adapted::kOut, [&] {
        std::copy(shared.attended.begin() + (size_t)num_decode * queries, shared.attended.end(),
                  own.exact.begin() + (size_t)num_decode * queries);
        for (int m = 0; m < num_decode; m++)
          for (int h = 0; h < heads; h++)
            join_parts(parts, m, h, count_parts(batch.lengths[m], layer.window),
                       &own.exact[(size_t)m * queries + (size_t)h * D]);
        if (layer.out.rounds) own.round(queries, layer.out.rounds);
      });
      shrink(i, Adapted::kOut, join, layer.out, own.exact.data(), own.rounded);
      work.run(sum_units, join, [&](int unit) {
        sum(i, Adapted::kOut, layer.out, own.exact.data(), own.rounded, unit, false);
      });

      // Gate and up of the same columns by the same thread, which can go on with them alone.
      const auto enter_mlp = once(i, Adapted::kGateUp, [&] { norm(layer.mlp_norm, layer.gate_up); });
      shrink(i, Adapted::kGateUp, enter_mlp, layer.gate_up, own.exact.data(), own.rounded);
      work.run(
          mlp_units, enter_mlp,
          [&](int unit) {
            Share blocks = share_of(intermediate / whole, unit, mlp_units);
            int from = blocks.begin * whole, to = blocks.end * whole;
            for (int side = 0; side < 2; side++) {
              const int first = side * intermediate + from, end = side * intermediate + to;
              const int index = i * Adapted::kProducts + Adapted::kGateUp;
              adapted.multiply(index, layer.gate_up, own.exact.data(), own.rounded,
                               shared.gate_up.data(), first, end, 2 * intermediate, index + 1,
                               2 * mlp_units, thread, threads, ahead, all_shrunk);
            }
            for (int m = 0; m < M; m++) {
              const float* gate = &shared.gate_up[(size_t)m * 2 * intermediate + from];
              size_t at = (size_t)m * intermediate + from;
              swiglu_row(gate, gate + intermediate, &shared.activated[at], to - from);
              if (layer.down.rounds)
                shared.rounded.put(&shared.activated[at], m, intermediate / kBlock, from / kBlock,
                                   to - from, layer.down.rounds);
            }
          });

      shrink(i, Adapted::kDown, nothing, layer.down, shared.activated.data(), shared.rounded);
      work.run(sum_units, nothing, [&](int unit) {
        sum(i, Adapted::kDown, layer.down, shared.activated.data(), shared.rounded, unit, i + 1 == count);
      });
    }
  }
}

}  // namespace
