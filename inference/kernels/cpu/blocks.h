// Quantized weights: GGUF's blocks of 32 values with a scale, with the rows of a group side by
// side, as many as a vector has lanes. A vector then holds the same column of all rows: nothing is
// summed across lanes, and a block's scales are one vector.

#pragma once

#include "vectors.h"

namespace {

constexpr int kBlock = 32;  // values of a block
constexpr int kGroup = kLanes;  // rows of a group

// A block of each row of a group. Byte 4 r + i of part j is row r's value at k = 4 j + i.

struct FourBits {  // value = d * q + m, q from 0 to 15
  _Float16 d[kGroup], m[kGroup];
  uint8_t q[4][4 * kGroup];  // low halves: parts 0 to 3, high halves: parts 4 to 7

  // `action(k, the rows' values at k)` for every k, in pieces of four.
  template <class Action>
  void each(Action action) const {
    f32xN scale = halves(d), least = halves(m);
    for (int j = 0; j < 4; j++) {
      i32xN four = load<i32xN>(q[j]);
      for (int i = 0; i < 4; i++) {
        action(4 * j + i, floats((four >> (8 * i)) & 15) * scale + least);
        action(16 + 4 * j + i, floats((four >> (8 * i + 4)) & 15) * scale + least);
      }
    }
  }
};

struct EightBits {  // value = d * q
  _Float16 d[kGroup];
  int8_t q[8][4 * kGroup];

  template <class Action>
  void each(Action action) const {
    f32xN scale = halves(d);
    for (int j = 0; j < 8; j++) {
      i32xN four = load<i32xN>(q[j]);
      for (int i = 0; i < 4; i++)
        action(4 * j + i, floats((four << (24 - 8 * i)) >> 24) * scale);
    }
  }
};

static_assert(sizeof(FourBits) == 20 * kGroup && sizeof(EightBits) == 34 * kGroup);

}  // namespace
