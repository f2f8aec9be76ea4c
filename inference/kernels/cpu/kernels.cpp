// The CPU kernels as torch sees them: a plain C interface (loaded with ctypes), no torch
// headers, so that it compiles in seconds.
//
//   vectors.h      vectors of eight or sixteen floats
//   blocks.h       quantized weights, rows of a group side by side
//   pack.h         from the order of a file to that
//   tile.h         products of many rows
//   float_products.h   products of quantized weights in float32,
//   room.h         memory that is kept from call to call,
//   int8.h         and with activations rounded to int8,
//   int8_avx2.h, int8_avx512.h   their innermost loops,
//   tiles.h        and in AMX's tiles
//   matrix.h       a whole matrix, whose rows may be kept in several ways
//   mlp.h          two products with a SwiGLU between them
//   cached_rows.h  rows of the KV cache in float32, bf16, fp16 and int8
//   low_rank.h     what adapters add to products,
//   low_rank_nibbles.h   in four bits,
//   adapted.h      and how it comes near while the base is computed
//   rows.h         norm, rotation and activation of one row
//   attention.h    rotation into that cache, and attention of single tokens over it,
//   attend_parts.h its long contexts in parts
//   attend_prefill.h  attention of prompts,
//   span_exact.h, span_bfloat16.h   in float32 and rounded
//   readout.h      linear functions of what a layer leaves
//   decode.h       all layers over few rows at once
//   sample.h       a token for each row of logits
//
// Every weight is dequantized exactly as the file says, so results differ from a float32
// model's only by the order of additions (but in int8.h, and as far as the cache rounds).
// Shapes are row-major. Threads: OpenMP, whose runtime and thread count are torch's.

#include "decode.h"
#include "mlp.h"
#include "pack.h"
#include "sample.h"

extern "C" {

// y (M, rows) = x (M, width) @ weight^T + bias, in float32 or (where it `rounds`) with x rounded.
void parley_multiply(const ParleyMatrix* weight, const float* x, float* y, int M) {
  multiply(*weight, x, y, M, omp_get_max_threads());
}

// y (M, down.rows) = down(swiglu(gate_up(x))), where both round; inner sizes are multiples of 32.
void parley_mlp(const ParleyMatrix* gate_up, const ParleyMatrix* down, const float* x, float* y,
                int M) {
  mlp(*gate_up, *down, x, y, M, omp_get_max_threads());
}

// Bytes of N rows of K values of a kind, in whole groups; 0 where the kind is not known.
int64_t parley_packed_bytes(int kind, int N, int K) {
  int64_t bytes = 0;
  with_block(kind, [&](auto none) {
    using Block = std::remove_cv_t<std::remove_pointer_t<decltype(none)>>;
    bytes = (int64_t)((N + kGroup - 1) / kGroup) * (K / kValues<Block>) * sizeof(Block);
  });
  return bytes;
}

// N rows of a file, blocks of `bytes` each, to groups.
void parley_pack(int kind, const uint8_t* rows, int bytes, void* packed, int N, int K) {
  with_block(kind, [&](auto none) {
    using Block = std::remove_cv_t<std::remove_pointer_t<decltype(none)>>;
    pack_rows(kind, rows, bytes, (Block*)packed, N, K / kValues<Block>);
  });
}

// out (count, K) = the rows of these numbers, exactly as the file says.
void parley_rows(int kind, const void* packed, const int64_t* ids, float* out, int count, int K) {
  with_block(kind, [&](auto none) {
    unpack_rows((decltype(none))packed, ids, out, count, K);
  });
}

// How many rows of a weight lie side by side.
int parley_group(void) { return kGroup; }

// Whether this processor has what int8 products need (AVX2).
int parley_has_int8(void) { return kHasInt8; }

// How many activations are rounded to int8 with one unit where a matrix has weights of this kind.
int parley_rounded_together(int kind) { return shared_by(kind); }

// Whether this processor multiplies bfloat16, so that attention of prompts may round to it.
int parley_has_bfloat16(void) { return kHasBFloat16; }

// How many rows are multiplied in tiles rather than in int8; 0 where this processor has none.
int parley_least_tiled_rows(void) { return least_tiled_rows(); }
void parley_allow_tiles(int allowed) { tiles_allowed = allowed; }

// x (M, K) += delta where given; out = x / rms(x) * weight.
void parley_add_rms_norm(float* x, const float* delta, const float* weight, float* out, int M,
                         int K, float eps) {
#pragma omp parallel for schedule(static) if (M > 4)
  for (int m = 0; m < M; m++)
    norm_row(x + (size_t)m * K, delta ? delta + (size_t)m * K : nullptr, weight,
             out + (size_t)m * K, K, eps);
}

// The cached_rows.h of a cache's kind.
#define PARLEY_WITH_ROW(kind, action)   \
  switch (kind) {                       \
    case 0: action(Float32Row); break;  \
    case 1: action(BFloat16Row); break; \
    case 2: action(Float16Row); break;  \
    case 3: action(Int8Row); break;     \
  }
#define PARLEY_CACHED(Row, rows, scales) \
  Cached<Row> { (Row::Number*)rows, scales, kv_heads, D }

// Rotate the query and key heads of qkv (T, heads + 2 * kv_heads, D) in place by cos and
// sin (T, D), and write keys and values to their slots of the caches (slots, kv_heads, D), in
// int8 (kind 3) with their scales (slots, kv_heads).
void parley_rotate_and_cache(int kind, float* qkv, const float* cosines, const float* sines,
                             const int64_t* slots, void* keys, void* values, float* key_scales,
                             float* value_scales, int T, int heads, int kv_heads, int D) {
#define PARLEY_ROTATE(Row)                                                                       \
  rotate_and_cache<Row>(qkv, cosines, sines, slots, PARLEY_CACHED(Row, keys, key_scales),        \
                        PARLEY_CACHED(Row, values, value_scales), T, heads)
  PARLEY_WITH_ROW(kind, PARLEY_ROTATE)
}

// One query token a sequence: queries (S, heads, D) with `stride` floats from one to the
// next, over the last `window` of `lengths` (S) tokens in the blocks of `tables` (S, width);
// out (S, heads, D).
void parley_attend(int kind, const float* queries, void* keys, void* values, float* key_scales,
                   float* value_scales, const int32_t* tables, const int32_t* lengths, float* out,
                   int S, int stride, int heads, int kv_heads, int D, int block_size, int width,
                   int window) {
#define PARLEY_ATTEND(Row)                                                                       \
  attend<Row>(queries, PARLEY_CACHED(Row, keys, key_scales),                                     \
              PARLEY_CACHED(Row, values, value_scales), tables, lengths, out, S, stride, heads,  \
              block_size, width, window)
  PARLEY_WITH_ROW(kind, PARLEY_ATTEND)
}

// Queries (num, heads, D), `stride` floats apart, of the tokens from position `start` on of the
// sequence that lies in `slots` (start + num); out (num, heads, D). What is multiplied is rounded to bfloat16
// first where it `rounds` and the processor multiplies that.
void parley_attend_prefill(int kind, const float* queries, int stride, void* keys, void* values,
                        float* key_scales, float* value_scales, const int64_t* slots, float* out,
                        int num, int start, int heads, int kv_heads, int D, int window,
                        int rounds) {
#define PARLEY_ATTEND_PREFILL(Row)                                                                \
  (rounds ? attend_prefill<BFloat16Span, Row> : attend_prefill<ExactSpan, Row>)(                  \
      queries, stride, PARLEY_CACHED(Row, keys, key_scales),                                      \
      PARLEY_CACHED(Row, values, value_scales), slots, out, num, start, heads, window)
  PARLEY_WITH_ROW(kind, PARLEY_ATTEND_PREFILL)
}

// out (M, I) = silu(gate) * up, for gate_up (M, 2 * I).
void parley_swiglu(const float* gate_up, float* out, int M, int I) {
#pragma omp parallel for schedule(static) if (M > 2)
  for (int m = 0; m < M; m++)
    swiglu_row(gate_up + (size_t)m * 2 * I, gate_up + (size_t)m * 2 * I + I, out + (size_t)m * I, I);
}

// y (M, columns), `stride` floats from row to row, += what an adapter adds to the product of x (M, width).
void parley_add_low_rank(const ParleyLowRank* low, int kind, const float* x, float* y, int M, int width,
                         int columns, int stride) {
  add_low_rank(*low, kind, x, y, M, width, columns, stride, omp_get_max_threads());
}

// All layers over a batch of few rows (decode.h).
void parley_decode(const ParleyLayer* layers, int count, const ParleyShape* shape,
                   const ParleyDecodeBatch* batch) {
#define PARLEY_DECODE(Row) decode<Row>(layers, count, *shape, *batch)
  PARLEY_WITH_ROW(shape->row_kind, PARLEY_DECODE)
}

// tokens (R) of logits (R, vocab); of each row temperature, top-k, top-p, min-p and a random number. One
// thread: a row takes less time than waking another.
void parley_sample(const float* logits, const double* wanted, int64_t* tokens, int R, int vocab) {
  for (int r = 0; r < R; r++) {
    const double* row = wanted + 5 * (size_t)r;
    const Sampling sampling{(float)row[0], row[2], row[3], row[4], (int64_t)row[1]};
    tokens[r] = sample_row(logits + (size_t)r * vocab, vocab, sampling);
  }
}
}
