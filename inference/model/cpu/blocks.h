// Quantized weights as GGUF stores them: blocks of 32 values with a scale.

#pragma once

#include "vectors.h"

namespace {

constexpr int kBlock = 32;  // values of a block

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

}  // namespace
