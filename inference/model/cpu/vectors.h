// Vectors of eight floats and what the kernels do with them, in GCC's vector extensions, so
// that one source serves every processor; AVX2 is spelled out where GCC 12 has no good code.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace {

typedef float f32x8 __attribute__((vector_size(32)));
typedef int32_t i32x8 __attribute__((vector_size(32)));
typedef uint8_t u8x8 __attribute__((vector_size(8)));
typedef int8_t i8x8 __attribute__((vector_size(8)));
typedef uint16_t u16x8 __attribute__((vector_size(16)));

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

// Eight small integers to large ones. GCC 12 has no good code for it, so AVX2 is spelled out.
inline i32x8 widen_unsigned(const uint8_t* from) {
#ifdef __AVX2__
  return (i32x8)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)from));
#else
  return __builtin_convertvector(load<u8x8>(from), i32x8);
#endif
}

inline i32x8 widen_unsigned(const uint16_t* from) {
#ifdef __AVX2__
  return (i32x8)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)from));
#else
  return __builtin_convertvector(load<u16x8>(from), i32x8);
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

// Eight halves as floats; GCC 12 converts one at a time.
inline f32x8 halves(const _Float16* from) {
#ifdef __F16C__
  return (f32x8)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)from));
#else
  f32x8 v;
  for (int i = 0; i < 8; i++) v[i] = from[i];
  return v;
#endif
}

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

}  // namespace
