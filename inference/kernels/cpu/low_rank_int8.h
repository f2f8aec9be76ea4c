// Low-rank updates whose numbers are int8: both products are of bytes, as the base's are (int8.h). What
// enters `down` is rounded in blocks of 32, what comes out once for each update. Their sums are whole
// numbers, exact in any order.

#pragma once

#include "int8.h"

namespace {

constexpr int kUpColumns = 32;  // of a block of `up`
constexpr int kTogether = 4;    // bytes whose products one sum takes

// Of one row, what `down` gave for an update: value = scale * q.
struct ShrunkBytes {
  const int8_t* q;  // filled up with zeros to a multiple of kTogether
  int32_t total;    // of them
  float scale;
};

inline int filled_up(int rank) { return (rank + kTogether - 1) / kTogether * kTogether; }

#ifdef PARLEY_INT8
#ifdef PARLEY_AVX512
typedef __m512i Bytes;
constexpr int kRanks = 8;  // at once: their sums stay in registers
constexpr int kCountedFrom = -128;  // weights in `add_bytes`

inline Bytes bytes_at(const void* from) { return _mm512_loadu_si512(from); }
// What is too much in the sums of `add_bytes`.
inline i32xN less_of(Bytes x) {
  return -(i32xN)_mm512_dpbusd_epi32(__m512i{}, _mm512_set1_epi8((char)0x80), x);
}
inline i32xN add_bytes(i32xN sums, Bytes weights, Bytes x) {
  const Bytes top = _mm512_set1_epi8((char)0x80);
  return (i32xN)_mm512_dpbusd_epi32((__m512i)sums, _mm512_xor_si512(weights, top), x);
}

// A vector of activations: two blocks, the second of zeros at an odd row's end.
struct Activations {
  Bytes q;
  i32xN less;
  f32xN scale;
  bool whole;
  Activations(const Rounded* x, int blocks) : whole(blocks > 1) {
    const Rounded& second = x[whole];
    const __m256i zero = {};
    const __m256i high = whole ? _mm256_loadu_si256((const __m256i*)second.q) : zero;
    q = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i*)x->q)), high, 1);
    less = less_of(q);
    scale = (f32xN)_mm512_mask_blend_ps(0xff00, _mm512_set1_ps(x->scale), _mm512_set1_ps(second.scale));
  }
  Bytes weights(const int8_t* from) const {
    return whole ? bytes_at(from) : _mm512_maskz_loadu_epi8(0xffffffff, from);
  }
};
#else
typedef __m256i Bytes;
constexpr int kRanks = 4;
constexpr int kCountedFrom = 0;

inline Bytes bytes_at(const void* from) { return _mm256_loadu_si256((const __m256i*)from); }
inline i32xN less_of(Bytes) { return i32xN{}; }
inline i32xN add_bytes(i32xN sums, Bytes weights, Bytes x) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(weights), _mm256_sign_epi8(x, weights));
  return sums + (i32xN)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

struct Activations {
  Bytes q;
  i32xN less = {};
  f32xN scale;
  Activations(const Rounded* x, int) : q(bytes_at(x->q)), scale(splat(x->scale)) {}
  Bytes weights(const int8_t* from) const { return bytes_at(from); }
};
#endif

// out[i] = x (width) * rows[i].
template <int Ranks>
inline void dot_bytes(const Rounded* x, const int8_t* rows, int width, float* out) {
  f32xN acc[Ranks] = {};
  for (int k = 0; k < width; k += (int)sizeof(Bytes)) {
    const Activations some(x + k / kBlock, (width - k) / kBlock);
    for (int i = 0; i < Ranks; i++) {
      const Bytes weights = some.weights(rows + (size_t)i * width + k);
      acc[i] = fused(floats(add_bytes(some.less, weights, some.q)), some.scale, acc[i]);
    }
  }
  for (int i = 0; i < Ranks; i += 4) sum_four(acc + i, out + i);
}

// out (ranks) = down x; `ranks` are a multiple of four, `width` of a block.
inline void shrink_bytes(const int8_t* down, int ranks, const Rounded* x, int width, float* out) {
  int i = 0;
  for (; i + kRanks <= ranks; i += kRanks) dot_bytes<kRanks>(x, down + (size_t)i * width, width, out + i);
  if constexpr (kRanks > 8)
    for (; i + 8 <= ranks; i += 8) dot_bytes<8>(x, down + (size_t)i * width, width, out + i);
  for (; i < ranks; i += 4) dot_bytes<4>(x, down + (size_t)i * width, width, out + i);
}

// `rank` of those numbers to bytes at `q`.
inline ShrunkBytes round_shrunk(const float* shrunk, int rank, int8_t* q) {
  float most = 0;
  for (int i = 0; i < rank; i++) most = std::max(most, std::fabs(shrunk[i]));
  const float inverse = most > 0 ? 127.0f / most : 0.0f;
  int32_t total = 0;
  for (int i = 0; i < filled_up(rank); i++) {
    q[i] = i < rank ? (int8_t)std::nearbyint(shrunk[i] * inverse) : 0;
    total += q[i];
  }
  return {q, total, most / 127.0f};
}

// V vectors of y += up^T shrunk, in a block (rank / kTogether, kUpColumns, kTogether).
template <int V>
inline void expand_bytes(const ShrunkBytes& shrunk, const int8_t* up, int rank, float* y) {
  i32xN acc[V];
  for (int v = 0; v < V; v++) acc[v] = kCountedFrom * shrunk.total - i32xN{};
  for (int i = 0; i < rank; i += kTogether, up += kUpColumns * kTogether) {
    const Bytes four = (Bytes)(load<int32_t>(shrunk.q + i) - i32xN{});
    for (int v = 0; v < V; v++)
      acc[v] = add_bytes(acc[v], bytes_at(up + v * kLanes * kTogether), four);
  }
  for (int v = 0; v < V; v++) {
    const f32xN whole = fused(floats(acc[v]), splat(shrunk.scale), load<f32xN>(y + v * kLanes));
    std::memcpy(y + v * kLanes, &whole, sizeof whole);
  }
}
#endif

}  // namespace
