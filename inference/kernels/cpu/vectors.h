// Vectors of floats and what the kernels do with them, in GCC's vector extensions, so that one
// source serves every processor; AVX2 and AVX-512 are spelled out where GCC 12 has no good code.
// `f32xN` is as wide as the processor's registers: eight floats, or sixteen with AVX-512.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VNNI__)
#define PARLEY_AVX512  // as processors since 2019 have it; older ones slow down for it
constexpr int kLanes = 16;
#else
constexpr int kLanes = 8;
#endif

typedef float f32xN __attribute__((vector_size(4 * kLanes)));
typedef int32_t i32xN __attribute__((vector_size(4 * kLanes)));
typedef int8_t i8xN __attribute__((vector_size(kLanes)));
typedef uint8_t u8xN __attribute__((vector_size(kLanes)));
typedef uint16_t u16xN __attribute__((vector_size(2 * kLanes)));

template <class T>
inline T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline float sum(f32xN v) {
#if defined(PARLEY_AVX512)
  return _mm512_reduce_add_ps((__m512)v);
#else
  float total = 0;
  for (int i = 0; i < kLanes; i++) total += v[i];
  return total;
#endif
}

inline float greatest(f32xN v) {
#if defined(PARLEY_AVX512)
  return _mm512_reduce_max_ps((__m512)v);
#else
  float most = v[0];
  for (int i = 1; i < kLanes; i++) most = v[i] > most ? v[i] : most;
  return most;
#endif
}

// Small integers to large ones.
inline i32xN widen_unsigned(const uint16_t* from) {
#if defined(PARLEY_AVX512)
  return (i32xN)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)from));
#elif defined(__AVX2__)
  return (i32xN)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)from));
#else
  return __builtin_convertvector(load<u16xN>(from), i32xN);
#endif
}

inline i32xN widen_bytes(const uint8_t* from) {
#if defined(PARLEY_AVX512)
  return (i32xN)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)from));
#elif defined(__AVX2__)
  return (i32xN)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)from));
#else
  return __builtin_convertvector(load<u8xN>(from), i32xN);
#endif
}

inline i32xN widen_signed(const int8_t* from) {
#if defined(PARLEY_AVX512)
  return (i32xN)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)from));
#elif defined(__AVX2__)
  return (i32xN)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)from));
#else
  return __builtin_convertvector(load<i8xN>(from), i32xN);
#endif
}

inline f32xN floats(i32xN v) { return __builtin_convertvector(v, f32xN); }

// Halves as floats; GCC 12 converts one at a time.
inline f32xN halves(const _Float16* from) {
#if defined(PARLEY_AVX512)
  return (f32xN)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)from));
#elif defined(__F16C__)
  return (f32xN)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)from));
#else
  f32xN v;
  for (int i = 0; i < kLanes; i++) v[i] = from[i];
  return v;
#endif
}

inline f32xN splat(float value) { return value - f32xN{}; }

// a * b + c, rounded once where the processor can. The compiler fuses nothing by itself
// (-ffp-contract=off): which products it took would differ from one inlined copy to the next.
inline f32xN fused(f32xN a, f32xN b, f32xN c) {
#if defined(PARLEY_AVX512)
  return (f32xN)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  return (f32xN)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  return a * b + c;
#endif
}

// exp(x) for |x| <= 87 and clamped beyond, relative error below 2e-7:
// 2^n * polynomial on [-ln2/2, ln2/2].
inline f32xN exponential(f32xN x) {
  x = x < splat(-87.0f) ? splat(-87.0f) : x;
  x = x > splat(87.0f) ? splat(87.0f) : x;
  f32xN scaled = x * 1.44269504f;
  i32xN n = __builtin_convertvector(scaled + (scaled < 0 ? splat(-0.5f) : splat(0.5f)), i32xN);
  f32xN whole = __builtin_convertvector(n, f32xN);
  f32xN r = fused(whole, splat(2.12194440e-4f), fused(whole, splat(-0.693359375f), x));
  f32xN p = splat(1.9875691500e-4f);
  p = fused(p, r, splat(1.3981999507e-3f));
  p = fused(p, r, splat(8.3334519073e-3f));
  p = fused(p, r, splat(4.1665795894e-2f));
  p = fused(p, r, splat(1.6666665459e-1f));
  p = fused(p, r, splat(5.0000001201e-1f));
  p = fused(p * r, r, r) + 1.0f;
  i32xN bits = (n + 127) << 23;
  return p * load<f32xN>(&bits);
}

}  // namespace
