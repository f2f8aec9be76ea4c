// The CPU kernels as torch sees them: a plain C interface (loaded with ctypes), no torch
// headers, so that it compiles in seconds.
//
//   vectors.h      vectors of eight floats
//   blocks.h       quantized weights as GGUF stores them
//   few_tokens.h   products for decoding: straight from the blocks, float32
//   int8.h         products with activations rounded to int8
//   many_tokens.h  products for prompts: blocked, dequantized into the cache
//
// Every weight is dequantized exactly as the file says, so results differ from a float32
// model's only by the order of additions (but in int8.h). Shapes are row-major. Threads:
// OpenMP, whose runtime and thread count are torch's.

#include <vector>

#include "few_tokens.h"
#include "int8.h"
#include "many_tokens.h"

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

}  // namespace

extern "C" {

enum { kQ4_0 = 2, kQ4_1 = 3, kQ8_0 = 8 };  // GGUF's numbers

// y (M, N) = x (M, K) @ weight (N, K)^T: for a few tokens and for many.
#define PARLEY_PRODUCT(name, product)                                                            \
  void name(int kind, const void* weight, const float* x, float* y, int M, int N, int K) {       \
    if (kind == kQ4_0) product((const Q4_0*)weight, x, y, M, N, K);                              \
    if (kind == kQ4_1) product((const Q4_1*)weight, x, y, M, N, K);                              \
    if (kind == kQ8_0) product((const Q8_0*)weight, x, y, M, N, K);                              \
  }
PARLEY_PRODUCT(parley_linear, linear)
PARLEY_PRODUCT(parley_multiply, multiply)

// The same with x rounded to int8, from rows that lie in groups of eight (bits: 4 or 8).
void parley_multiply_int8(int bits, const void* weight, const float* x, float* y, int M, int N,
                          int K) {
  if (bits == 4) multiply_int8((const FourBits*)weight, x, y, M, N, K);
  if (bits == 8) multiply_int8((const EightBits*)weight, x, y, M, N, K);
}

// Whether this processor has what int8 products need (AVX2).
int parley_has_int8(void) { return kHasInt8; }

// out (count, K) = the given rows of the weight, or its first `count` when rows is null.
void parley_dequantize(int kind, const void* weight, const int64_t* rows, float* out, int count,
                       int K) {
  if (kind == kQ4_0) dequantize((const Q4_0*)weight, rows, out, count, K);
  if (kind == kQ4_1) dequantize((const Q4_1*)weight, rows, out, count, K);
  if (kind == kQ8_0) dequantize((const Q8_0*)weight, rows, out, count, K);
}

// x (M, K) += delta where given; out = x / rms(x) * weight.
void parley_add_rms_norm(float* x, const float* delta, const float* weight, float* out, int M,
                         int K, float eps) {
#pragma omp parallel for schedule(static) if (M > 4)
  for (int m = 0; m < M; m++) {
    float* row = x + (size_t)m * K;
    f32x8 squares = {};
    for (int k = 0; k < K; k += 8) {
      f32x8 v = load<f32x8>(row + k);
      if (delta) {
        v += load<f32x8>(delta + (size_t)m * K + k);
        std::memcpy(row + k, &v, sizeof v);
      }
      squares += v * v;
    }
    float scale = 1.0f / std::sqrt(sum(squares) / K + eps);
    for (int k = 0; k < K; k += 8) {
      f32x8 v = load<f32x8>(row + k) * scale * load<f32x8>(weight + k);
      std::memcpy(out + (size_t)m * K + k, &v, sizeof v);
    }
  }
}

// Rotate the query and key heads of qkv (T, heads + 2 * kv_heads, D) in place by cos and
// sin (T, D), and write keys and values to their slots of the caches (slots, kv_heads, D).
void parley_rotate_and_cache(float* qkv, const float* cosines, const float* sines,
                             const int64_t* slots, float* keys, float* values, int T, int heads,
                             int kv_heads, int D) {
  int half = D / 2;
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
    size_t bytes = sizeof(float) * kv_heads * D, at = (size_t)slots[t] * kv_heads * D;
    std::memcpy(keys + at, row + (size_t)heads * D, bytes);
    std::memcpy(values + at, row + (size_t)(heads + kv_heads) * D, bytes);
  }
}

// One query token a sequence: queries (S, heads, D) with `stride` floats from one to the
// next, over the last `window` of `lengths` (S) tokens in the blocks of `tables` (S, width);
// out (S, heads, D).
void parley_attend(const float* queries, const float* keys, const float* values,
                   const int32_t* tables, const int32_t* lengths, float* out, int S, int stride,
                   int heads, int kv_heads, int D, int block_size, int width, int window) {
  int group = heads / kv_heads;
  float scale = 1.0f / std::sqrt((float)D);
  size_t slot_stride = (size_t)kv_heads * D;
#pragma omp parallel
  {
    std::vector<float> weights;
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
          const float* k = keys + slot * slot_stride + (size_t)kv * D;
          for (int g = 0; g < group; g++)
            weights[(size_t)g * padded + at - begin] = dot(q + (size_t)g * D, k, D) * scale;
        }
        for (int g = 0; g < group; g++) softmax(&weights[(size_t)g * padded], length);
        std::memset(o, 0, sizeof(float) * group * D);
        for (int at = begin; at < end; at++) {
          size_t slot = (size_t)table[at / block_size] * block_size + at % block_size;
          const float* v = values + slot * slot_stride + (size_t)kv * D;
          for (int g = 0; g < group; g++) {
            float p = weights[(size_t)g * padded + at - begin];
            for (int i = 0; i < D; i++) o[(size_t)g * D + i] += p * v[i];
          }
        }
      }
  }
}

// out (M, I) = silu(gate) * up, for gate_up (M, 2 * I).
void parley_swiglu(const float* gate_up, float* out, int M, int I) {
#pragma omp parallel for schedule(static) if (M > 2)
  for (int m = 0; m < M; m++) {
    const float *gate = gate_up + (size_t)m * 2 * I, *up = gate + I;
    for (int i = 0; i < I; i += 8) {
      f32x8 g = load<f32x8>(gate + i);
      f32x8 v = g / (1.0f + exp8(-g)) * load<f32x8>(up + i);
      std::memcpy(out + (size_t)m * I + i, &v, sizeof v);
    }
  }
}
}
