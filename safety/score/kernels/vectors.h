// Vectors of floats, as wide as the processor's registers, in GCC's vector extensions; what those
// have no good code for is spelled out for AVX-512 and for AVX2.

#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace {

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VNNI__)
#define PARLEY_VNNI  // 512 bits only where products of bytes have an instruction of their own
constexpr int kLanes = 16;
#else
constexpr int kLanes = 8;
#endif

typedef float f32xN __attribute__((vector_size(4 * kLanes)));
typedef int32_t i32xN __attribute__((vector_size(4 * kLanes)));

template <class T>
inline T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline f32xN floats(const float* from) { return load<f32xN>(from); }
inline void store(float* to, f32xN v) { std::memcpy(to, &v, sizeof v); }
inline f32xN splat(float value) { return value - f32xN{}; }

#ifdef PARLEY_VNNI
inline f32xN larger(f32xN a, f32xN b) { return (f32xN)_mm512_max_ps((__m512)a, (__m512)b); }
inline f32xN smaller(f32xN a, f32xN b) { return (f32xN)_mm512_min_ps((__m512)a, (__m512)b); }
#else
inline f32xN larger(f32xN a, f32xN b) { return (f32xN)_mm256_max_ps((__m256)a, (__m256)b); }
inline f32xN smaller(f32xN a, f32xN b) { return (f32xN)_mm256_min_ps((__m256)a, (__m256)b); }
#endif

inline float sum(f32xN v) {
#ifdef PARLEY_VNNI
  return _mm512_reduce_add_ps((__m512)v);
#else
  float total = 0;
  for (int i = 0; i < kLanes; i++) total += v[i];
  return total;
#endif
}

inline float largest(f32xN v) {
#ifdef PARLEY_VNNI
  return _mm512_reduce_max_ps((__m512)v);
#else
  float most = v[0];
  for (int i = 1; i < kLanes; i++) most = v[i] > most ? v[i] : most;
  return most;
#endif
}

inline f32xN fused(f32xN a, f32xN b, f32xN c) {  // a * b + c, rounded once
#ifdef PARLEY_VNNI
  return (f32xN)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#else
  return (f32xN)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#endif
}

inline i32xN nearest(f32xN v) {  // halves to the even one
#ifdef PARLEY_VNNI
  return (i32xN)_mm512_cvtps_epi32((__m512)v);
#else
  return (i32xN)_mm256_cvtps_epi32((__m256)v);
#endif
}

inline f32xN to_floats(i32xN v) { return __builtin_convertvector(v, f32xN); }

// Four vectors as bytes, clamped to 0 and 255. Packing works within each 128 bits: the last step
// puts the parts in order.
inline void store_bytes(uint8_t* to, const i32xN* v) {
#ifdef PARLEY_VNNI
  const __m512i low = _mm512_packs_epi32((__m512i)v[0], (__m512i)v[1]);
  const __m512i high = _mm512_packs_epi32((__m512i)v[2], (__m512i)v[3]);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high)));
#else
  const __m256i low = _mm256_packs_epi32((__m256i)v[0], (__m256i)v[1]);
  const __m256i high = _mm256_packs_epi32((__m256i)v[2], (__m256i)v[3]);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256((__m256i*)to, _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order));
#endif
}

// exp(x) for x from -60 to 0, clamped below; relative error below 2e-7.
inline f32xN exponential(f32xN x) {
  x = larger(x, splat(-60.0f));
  const i32xN n = nearest(x * 1.44269504f);
  const f32xN whole = to_floats(n);
  const f32xN r = fused(whole, splat(2.12194440e-4f), fused(whole, splat(-0.693359375f), x));
  f32xN p = splat(1.9875691500e-4f);
  p = fused(p, r, splat(1.3981999507e-3f));
  p = fused(p, r, splat(8.3334519073e-3f));
  p = fused(p, r, splat(4.1665795894e-2f));
  p = fused(p, r, splat(1.6666665459e-1f));
  p = fused(p, r, splat(5.0000001201e-1f));
  p = fused(p * r, r, r) + 1.0f;
  return p * (f32xN)((n + 127) << 23);
}

// x times the share of a normal distribution below x. The error function is a quotient of two
// polynomials fitted for |z| <= 4, where it is off by 4e-7 at most; beyond it is one.
inline f32xN gelu(f32xN x) {
  const f32xN z = larger(smaller(x * 0.707106781f, splat(4.0f)), splat(-4.0f));
  const f32xN t = z * z;
  f32xN p = splat(1.974761517e-6f), q = splat(3.748001836e-5f);
  p = fused(p, t, splat(2.880389511e-4f)), q = fused(q, t, splat(1.216369448e-3f));
  p = fused(p, t, splat(4.003717098e-3f)), q = fused(q, t, splat(1.544456929e-2f));
  p = fused(p, t, splat(5.346769094e-2f)), q = fused(q, t, splat(1.164772734e-1f));
  p = fused(p, t, splat(1.962511986e-1f)), q = fused(q, t, splat(5.072542429e-1f));
  p = fused(p, t, splat(1.128378987f)), q = fused(q, t, splat(1.0f));
  const f32xN half = 0.5f * x;
  return fused(half, z * p / q, half);
}

}  // namespace
