// How one row of the KV cache lies in memory: the D numbers of a token and head, as float32,
// bf16, fp16, or int8 with a scale of its own (D is a multiple of 16).
//
// `floats` gives a row as floats, in `room` where it has to be converted; an int8 row's are
// still to be multiplied with its scale. `store` writes a row.

#pragma once

#include "vectors.h"

namespace {

struct Float32Row {
  typedef float Number;
  static constexpr bool kScaled = false;
  static const float* floats(const float* row, float*, int) { return row; }
  static void store(const float* from, float* row, float*, int D) {
    std::memcpy(row, from, sizeof(float) * D);
  }
};

struct BFloat16Row {
  typedef uint16_t Number;
  static constexpr bool kScaled = false;
  static const float* floats(const uint16_t* row, float* room, int D) {
    for (int i = 0; i < D; i++) {
      uint32_t bits = (uint32_t)row[i] << 16;
      std::memcpy(room + i, &bits, sizeof bits);
    }
    return room;
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
  static const float* floats(const _Float16* row, float* room, int D) {
    for (int i = 0; i < D; i++) room[i] = row[i];
    return room;
  }
  static void store(const float* from, _Float16* row, float*, int D) {
    for (int i = 0; i < D; i++) row[i] = from[i];
  }
};

struct Int8Row {
  typedef int8_t Number;
  static constexpr bool kScaled = true;
  static const float* floats(const int8_t* row, float* room, int D) {
    for (int i = 0; i < D; i += 8) {
      f32x8 v = ::floats(widen_signed(row + i));
      std::memcpy(room + i, &v, sizeof v);
    }
    return room;
  }
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

  const float* floats(size_t slot, int kv, float* room) const {
    return Row::floats(rows + (slot * kv_heads + kv) * D, room, D);
  }
  // Have a row brought to the cache: rows lie too far apart for the processor to see it coming.
  void fetch(size_t slot, int kv) const {
    const char* row = (const char*)(rows + (slot * kv_heads + kv) * D);
    for (size_t at = 0; at < D * sizeof(typename Row::Number); at += 64) __builtin_prefetch(row + at);
  }
  float scale(size_t slot, int kv) const {
    return Row::kScaled ? scales[slot * kv_heads + kv] : 1.0f;
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
