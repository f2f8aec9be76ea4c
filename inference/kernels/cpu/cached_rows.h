// How one row of the KV cache lies in memory: the D numbers of a token and head, as float32,
// bf16, fp16, or int8 with a scale of its own (D is a multiple of 16).
//
// `some` reads a vector of numbers as floats; an int8 row's are still to be multiplied with its scale.
// `store` writes a row.

#pragma once

#include "vectors.h"

namespace {

struct Float32Row {
  typedef float Number;
  static constexpr bool kScaled = false;
  static f32xN some(const float* from) { return load<f32xN>(from); }
  static void store(const float* from, float* row, float*, int D) {
    std::memcpy(row, from, sizeof(float) * D);
  }
};

struct BFloat16Row {
  typedef uint16_t Number;
  static constexpr bool kScaled = false;
  static f32xN some(const uint16_t* from) {
    i32xN bits = widen_unsigned(from) << 16;
    return load<f32xN>(&bits);
  }
  static void store(const float* from, uint16_t* row, float*, int D) {
    for (int i = 0; i < D; i++) {
      uint32_t bits = load<uint32_t>(from + i);
      uint32_t nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;  // ties to even
      row[i] = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : nearest;  // a NaN stays one
    }
  }
};

struct Float16Row {
  typedef _Float16 Number;
  static constexpr bool kScaled = false;
  static f32xN some(const _Float16* from) { return halves(from); }
  static void store(const float* from, _Float16* row, float*, int D) {
    for (int i = 0; i < D; i++) row[i] = from[i];
  }
};

struct Int8Row {
  typedef int8_t Number;
  static constexpr bool kScaled = true;
  static f32xN some(const int8_t* from) { return floats(widen_signed(from)); }
  static void store(const float* from, int8_t* row, float* scale, int D) {
    float largest = 0;
    for (int i = 0; i < D; i++) largest = std::fabs(from[i]) > largest ? std::fabs(from[i]) : largest;
    *scale = largest / 127;
    float steps = largest > 0 ? 127 / largest : 0;
    for (int i = 0; i < D; i++) row[i] = (int8_t)std::nearbyint(from[i] * steps);
  }
};

// Keys or values of a layer: rows (slots, kv_heads, D), and where they are scaled a scale
// for each (slots, kv_heads).
template <class Row>
struct Cached {
  typename Row::Number* rows;
  float* scales;
  int kv_heads, D;

  const typename Row::Number* row(size_t slot, int kv) const {
    return rows + (slot * kv_heads + kv) * D;
  }
  // Have a row brought to the second cache: rows lie too far apart for the processor to see it coming.
  void fetch(size_t slot, int kv) const {
    const char* from = (const char*)row(slot, kv);
    for (size_t at = 0; at < D * sizeof(typename Row::Number); at += 64)
      __builtin_prefetch(from + at, 0, 2);
  }
  float scale(size_t slot, int kv) const {
    return Row::kScaled ? scales[slot * kv_heads + kv] : 1.0f;
  }
  // A row's D numbers, scaled.
  void read(size_t slot, int kv, float* to) const {
    const auto* from = row(slot, kv);
    float by = scale(slot, kv);
    for (int i = 0; i < D; i += kLanes) {
      f32xN v = Row::some(from + i) * by;
      std::memcpy(to + i, &v, sizeof v);
    }
  }
  void store_head(const float* from, size_t slot, int kv) {
    size_t at = slot * kv_heads + kv;
    Row::store(from, rows + at * D, Row::kScaled ? scales + at : nullptr, D);
  }
  void store(const float* from, size_t slot) {
    for (int kv = 0; kv < kv_heads; kv++) store_head(from + (size_t)kv * D, slot, kv);
  }
};

}  // namespace
