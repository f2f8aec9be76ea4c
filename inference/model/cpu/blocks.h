// Quantized weights as GGUF stores them: blocks of 32 values with a scale.

#pragma once

#include "vectors.h"

namespace {

constexpr int kBlock = 32;  // values of a block

// One quantized block each, in the layout of GGUF; `unpack` gives its 32 values.

constexpr int kVectors = kBlock / kLanes;  // of a block

// The low halves of 16 bytes, and then the high ones.
inline void unpack_halves(const uint8_t* q, i32xN v[kVectors]) {
  for (int j = 0; j < kVectors / 2; j++) {
    i32xN both = widen_unsigned(q + j * kLanes);
    v[j] = both & 15;
    v[kVectors / 2 + j] = both >> 4;
  }
}

struct Q4_0 {
  _Float16 d;
  uint8_t q[16];
  void unpack(f32xN w[kVectors]) const {
    i32xN v[kVectors];
    unpack_halves(q, v);
    for (int j = 0; j < kVectors; j++) w[j] = floats(v[j] - 8) * (float)d;
  }
};

struct Q4_1 {
  _Float16 d, m;
  uint8_t q[16];
  void unpack(f32xN w[kVectors]) const {
    i32xN v[kVectors];
    unpack_halves(q, v);
    for (int j = 0; j < kVectors; j++) w[j] = floats(v[j]) * (float)d + (float)m;
  }
};

struct Q8_0 {
  _Float16 d;
  int8_t q[32];
  void unpack(f32xN w[kVectors]) const {
    for (int j = 0; j < kVectors; j++) w[j] = floats(widen_signed(q + j * kLanes)) * (float)d;
  }
};

static_assert(sizeof(Q4_0) == 18 && sizeof(Q4_1) == 20 && sizeof(Q8_0) == 34);

template <class Block>
void dequantize(const Block* weight, const int64_t* rows, float* out, int count, int K) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; i++) {
    const Block* row = weight + (size_t)(rows ? rows[i] : i) * (K / kBlock);
    for (int b = 0; b < K / kBlock; b++) {
      f32xN w[kVectors];
      row[b].unpack(w);
      std::memcpy(out + (size_t)i * K + b * kBlock, w, sizeof w);
    }
  }
}

}  // namespace
