// Low-rank updates whose numbers are kept in four bits, beside activations in int8: what they take is
// memory's time, and half of the bytes is half of that. Both products are of whole numbers, as the base's
// are (int8.h), exact in any order: what enters `down` is rounded in blocks of 32, what comes out once for
// each update. A number from -8 to 7 is kept counted from -8.

#pragma once

#include "int8.h"

namespace {

constexpr int kUpColumns = 32;   // of a block of `up`: sixteen in low nibbles, sixteen in high ones
constexpr int kTogether = 4;     // bytes whose products one sum takes
constexpr int kCountedFrom = -8;
constexpr int kUnit = 2 * kBlock;  // numbers of a row of `down` in 32 bytes: a block in low nibbles, one in high

// Of one row, what `down` gave for an update: value = scale * q.
struct ShrunkBytes {
  const int8_t* q;  // filled up with zeros to a multiple of kTogether
  int32_t total;    // of them
  float scale;
};

inline int filled_up(int rank) { return (rank + kTogether - 1) / kTogether * kTogether; }
inline size_t nibbles_of_row(int width) { return (size_t)(width + kUnit - 1) / kUnit * (kUnit / 2); }
inline size_t nibbles_of_column(int rank) { return filled_up(rank) / 2; }

#ifdef PARLEY_INT8
#ifdef PARLEY_AVX512
typedef __m512i Bytes;
constexpr int kRanks = 8;  // at once: their sums stay in registers

inline Bytes bytes_at(const void* from) { return _mm512_loadu_si512(from); }
inline Bytes low_of(Bytes both) { return _mm512_and_si512(both, _mm512_set1_epi8(15)); }
inline Bytes high_of(Bytes both) { return low_of(_mm512_srli_epi16(both, 4)); }
inline i32xN add_bytes(i32xN sums, Bytes weights, Bytes x) {
  return (i32xN)_mm512_dpbusd_epi32((__m512i)sums, weights, x);
}
inline i32xN nearest(f32xN v) { return (i32xN)_mm512_cvtps_epi32((__m512)v); }

// Activations that meet 64 bytes of weights: the first and third block meet low nibbles, the others high ones.
// Zeros where a row has no more.
struct Activations {
  static constexpr int kBlocks = 4;
  Bytes q[2];
  f32xN scale[2];
  bool whole;
  Activations(const Rounded* x, int blocks) : whole(blocks > 2) {
    for (int side = 0; side < 2; side++) {
      const Rounded* own[2] = {side < blocks ? x + side : nullptr, side + 2 < blocks ? x + side + 2 : nullptr};
      __m256i halves[2] = {};
      float by[2] = {};
      for (int i = 0; i < 2; i++)
        if (own[i]) halves[i] = _mm256_loadu_si256((const __m256i*)own[i]->q), by[i] = own[i]->scale;
      q[side] = _mm512_inserti64x4(_mm512_castsi256_si512(halves[0]), halves[1], 1);
      scale[side] = (f32xN)_mm512_mask_blend_ps(0xff00, _mm512_set1_ps(by[0]), _mm512_set1_ps(by[1]));
    }
  }
  Bytes weights(const uint8_t* from) const {
    return whole ? bytes_at(from) : _mm512_maskz_loadu_epi8(0xffffffff, from);
  }
};
#else
typedef __m256i Bytes;
constexpr int kRanks = 4;

inline Bytes bytes_at(const void* from) { return _mm256_loadu_si256((const __m256i*)from); }
inline Bytes low_of(Bytes both) { return _mm256_and_si256(both, _mm256_set1_epi8(15)); }
inline Bytes high_of(Bytes both) { return low_of(_mm256_srli_epi16(both, 4)); }
inline i32xN add_bytes(i32xN sums, Bytes weights, Bytes x) {
  return sums + (i32xN)_mm256_madd_epi16(_mm256_maddubs_epi16(weights, x), _mm256_set1_epi16(1));
}
inline i32xN nearest(f32xN v) { return (i32xN)_mm256_cvtps_epi32((__m256)v); }

struct Activations {
  static constexpr int kBlocks = 2;
  Bytes q[2];
  f32xN scale[2];
  Activations(const Rounded* x, int blocks) {
    for (int side = 0; side < 2; side++) {
      q[side] = side < blocks ? bytes_at(x[side].q) : Bytes{};
      scale[side] = splat(side < blocks ? x[side].scale : 0.0f);
    }
  }
  Bytes weights(const uint8_t* from) const { return bytes_at(from); }
};
#endif

// out[i] = x * rows[i], had those been counted from zero.
template <int Ranks>
inline void dot_nibbles(const Rounded* x, const uint8_t* rows, int width, float* out) {
  const size_t stride = nibbles_of_row(width);
  f32xN acc[Ranks] = {};
  for (int b = 0; b < width / kBlock; b += Activations::kBlocks) {
    const Activations some(x + b, width / kBlock - b);
    for (int i = 0; i < Ranks; i++) {
      const Bytes both = some.weights(rows + i * stride + (size_t)b * kBlock / 2);
      acc[i] = fused(floats(add_bytes(i32xN{}, low_of(both), some.q[0])), some.scale[0], acc[i]);
      acc[i] = fused(floats(add_bytes(i32xN{}, high_of(both), some.q[1])), some.scale[1], acc[i]);
    }
  }
  for (int i = 0; i < Ranks; i += 4) sum_four(acc + i, out + i);
}

// out (ranks) = down x; `ranks` are a multiple of four, `width` of a block.
inline void shrink_nibbles(const uint8_t* down, int ranks, const Rounded* x, int width, float* out) {
  const size_t stride = nibbles_of_row(width);
  int i = 0;
  for (; i + kRanks <= ranks; i += kRanks) dot_nibbles<kRanks>(x, down + i * stride, width, out + i);
  for (; i < ranks; i += 4) dot_nibbles<4>(x, down + i * stride, width, out + i);
  float total = 0;
  for (int b = 0; b < width / kBlock; b++) total += x[b].total;
  for (i = 0; i < ranks; i++) out[i] += kCountedFrom * total;
}

// `rank` of those numbers, with a vector's room behind them, to bytes at `q`, with as much.
inline ShrunkBytes round_shrunk(const float* shrunk, int rank, int8_t* q) {
  i32xN lane;
  for (int i = 0; i < kLanes; i++) lane[i] = i;
  const auto some = [&](int i) { return lane < rank - i ? load<f32xN>(shrunk + i) : f32xN{}; };
  f32xN largest = {};
  for (int i = 0; i < rank; i += kLanes) {
    const f32xN v = some(i), size = v < 0 ? -v : v;
    largest = size > largest ? size : largest;
  }
  const float most = greatest(largest), inverse = most > 0 ? 127.0f / most : 0.0f;
  i32xN total = {};
  for (int i = 0; i < rank; i += kLanes) {
    const i32xN whole = nearest(some(i) * inverse);
    total += whole;
    const i8xN bytes = __builtin_convertvector(whole, i8xN);
    std::memcpy(q + i, &bytes, sizeof bytes);
  }
  return {q, (int32_t)sum(floats(total)), most / 127.0f};
}

// y += what sums of whole numbers say.
inline void add_sums(i32xN sums, float scale, float* y) {
  const f32xN whole = fused(floats(sums), splat(scale), load<f32xN>(y));
  std::memcpy(y, &whole, sizeof whole);
}

// V vectors of y += up^T shrunk, and as many sixteen columns on where `Both`; else of low or of high nibbles,
// as `high` says. `up` is the first's in a block (rank / kTogether, kUpColumns / 2, kTogether).
template <int V, bool Both>
inline void expand_nibbles(const ShrunkBytes& shrunk, const uint8_t* up, int rank, bool high, float* y) {
  constexpr int kSides = Both ? 2 : 1, kHalf = kUpColumns / 2;
  i32xN acc[kSides][V];
  for (int side = 0; side < kSides; side++)
    for (int v = 0; v < V; v++) acc[side][v] = kCountedFrom * shrunk.total - i32xN{};
  for (int i = 0; i < rank; i += kTogether, up += kHalf * kTogether) {
    const Bytes four = (Bytes)(load<int32_t>(shrunk.q + i) - i32xN{});
    for (int v = 0; v < V; v++) {
      const Bytes both = bytes_at(up + v * kLanes * kTogether);
      if constexpr (Both) {
        acc[0][v] = add_bytes(acc[0][v], low_of(both), four);
        acc[1][v] = add_bytes(acc[1][v], high_of(both), four);
      } else {
        acc[0][v] = add_bytes(acc[0][v], high ? high_of(both) : low_of(both), four);
      }
    }
  }
  for (int side = 0; side < kSides; side++)
    for (int v = 0; v < V; v++) add_sums(acc[side][v], shrunk.scale, y + side * kHalf + v * kLanes);
}
#endif

}  // namespace
