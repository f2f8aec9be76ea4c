// CPU kernels for small batches: matrix products straight from GGUF blocks, paged
// attention without gathering contexts, and the small operations around them.
//
// Plain C interface (loaded with ctypes), no torch headers: it compiles in seconds. Every
// value is float32 and every weight is dequantized exactly as the file says, so results
// differ from a float32 model's only by the order of additions.
//
// Shapes are row-major. Threads: OpenMP, whose runtime and thread count are torch's.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace {

typedef float f32x8 __attribute__((vector_size(32)));
typedef int32_t i32x8 __attribute__((vector_size(32)));
typedef uint8_t u8x8 __attribute__((vector_size(8)));
typedef int8_t i8x8 __attribute__((vector_size(8)));

constexpr int kBlock = 32;  // elements of a quantized block

template <class T>
inline T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline float sum(f32x8 v) {
  float total = 0;
  for (int i = 0; i < 8; i++) total += v[i];
  return total;
}

// Eight bytes to integers. GCC 12 has no good code for it, so AVX2 is spelled out.
inline i32x8 widen_unsigned(const uint8_t* from) {
#ifdef __AVX2__
  return (i32x8)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)from));
#else
  return __builtin_convertvector(load<u8x8>(from), i32x8);
#endif
}

inline i32x8 widen_signed(const int8_t* from) {
#ifdef __AVX2__
  return (i32x8)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)from));
#else
  return __builtin_convertvector(load<i8x8>(from), i32x8);
#endif
}

inline f32x8 floats(i32x8 v) { return __builtin_convertvector(v, f32x8); }

inline f32x8 splat(float value) { return value - f32x8{}; }

// exp(x) for |x| <= 87 and clamped beyond, relative error below 2e-7:
// 2^n * polynomial on [-ln2/2, ln2/2].
inline f32x8 exp8(f32x8 x) {
  x = x < splat(-87.0f) ? splat(-87.0f) : x;
  x = x > splat(87.0f) ? splat(87.0f) : x;
  f32x8 scaled = x * 1.44269504f;
  i32x8 n = __builtin_convertvector(scaled + (scaled < 0 ? splat(-0.5f) : splat(0.5f)), i32x8);
  f32x8 whole = __builtin_convertvector(n, f32x8);
  f32x8 r = x - whole * 0.693359375f + whole * 2.12194440e-4f;
  f32x8 p = splat(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  i32x8 bits = (n + 127) << 23;
  return p * load<f32x8>(&bits);
}

// One quantized block each, in the layout of GGUF; `unpack` gives its 32 values.

struct Q4_0 {
  _Float16 d;
  uint8_t q[16];
  void unpack(f32x8 w[4]) const {
    i32x8 a = widen_unsigned(q), b = widen_unsigned(q + 8);
    float scale = d;
    w[0] = floats((a & 15) - 8) * scale;
    w[1] = floats((b & 15) - 8) * scale;
    w[2] = floats((a >> 4) - 8) * scale;
    w[3] = floats((b >> 4) - 8) * scale;
  }
};

struct Q4_1 {
  _Float16 d, m;
  uint8_t q[16];
  void unpack(f32x8 w[4]) const {
    i32x8 a = widen_unsigned(q), b = widen_unsigned(q + 8);
    float scale = d, least = m;
    w[0] = floats(a & 15) * scale + least;
    w[1] = floats(b & 15) * scale + least;
    w[2] = floats(a >> 4) * scale + least;
    w[3] = floats(b >> 4) * scale + least;
  }
};

struct Q8_0 {
  _Float16 d;
  int8_t q[32];
  void unpack(f32x8 w[4]) const {
    float scale = d;
    for (int j = 0; j < 4; j++) w[j] = floats(widen_signed(q + 8 * j)) * scale;
  }
};

static_assert(sizeof(Q4_0) == 18 && sizeof(Q4_1) == 20 && sizeof(Q8_0) == 34);

// y[m][n] for `Tokens` rows of x and one row of the weight. Few tokens are given several
// accumulators each, so that additions do not wait for one another.
template <class Block, int Tokens>
inline void dot_row(const Block* row, const float* x, float* y, int n, int N, int K) {
  constexpr int Lanes = Tokens == 1 ? 4 : Tokens == 2 ? 2 : 1;
  f32x8 acc[Tokens][Lanes] = {};
  for (int b = 0; b < K / kBlock; b++) {
    f32x8 w[4];
    row[b].unpack(w);
    const float* at = x + b * kBlock;
    for (int m = 0; m < Tokens; m++)
      for (int j = 0; j < 4; j++)
        acc[m][j % Lanes] += w[j] * load<f32x8>(at + (size_t)m * K + 8 * j);
  }
  for (int m = 0; m < Tokens; m++) {
    f32x8 total = acc[m][0];
    for (int lane = 1; lane < Lanes; lane++) total += acc[m][lane];
    y[(size_t)m * N + n] = sum(total);
  }
}

template <class Block>
void linear(const Block* weight, const float* x, float* y, int M, int N, int K) {
#pragma omp parallel for schedule(static)
  for (int n = 0; n < N; n++) {
    const Block* row = weight + (size_t)n * (K / kBlock);
    int m = 0;
    for (; m + 8 <= M; m += 8) dot_row<Block, 8>(row, x + (size_t)m * K, y + (size_t)m * N, n, N, K);
    if (m + 4 <= M) dot_row<Block, 4>(row, x + (size_t)m * K, y + (size_t)m * N, n, N, K), m += 4;
    if (m + 2 <= M) dot_row<Block, 2>(row, x + (size_t)m * K, y + (size_t)m * N, n, N, K), m += 2;
    if (m < M) dot_row<Block, 1>(row, x + (size_t)m * K, y + (size_t)m * N, n, N, K);
  }
}

template <class Block>
void dequantize(const Block* weight, const int64_t* rows, float* out, int count, int K) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; i++) {
    const Block* row = weight + (size_t)(rows ? rows[i] : i) * (K / kBlock);
    for (int b = 0; b < K / kBlock; b++) {
      f32x8 w[4];
      row[b].unpack(w);
      std::memcpy(out + (size_t)i * K + b * kBlock, w, sizeof w);
    }
  }
}

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

// y (M, N) = x (M, K) @ weight (N, K)^T.
void parley_linear(int kind, const void* weight, const float* x, float* y, int M, int N, int K) {
  if (kind == kQ4_0) linear((const Q4_0*)weight, x, y, M, N, K);
  if (kind == kQ4_1) linear((const Q4_1*)weight, x, y, M, N, K);
  if (kind == kQ8_0) linear((const Q8_0*)weight, x, y, M, N, K);
}

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
