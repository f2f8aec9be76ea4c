// Quantized weights: GGUF's blocks with the rows of a group side by side, as many as a vector has
// lanes. A vector then holds the same column of all rows: nothing is summed across lanes, and a
// block's scales are one vector.
//
// A block is one sub-block of 32 values with a scale, or (the formats that end in K) eight sub-blocks with
// small scales of their own, which the block's scale multiplies. Nothing of a file's numbers is
// rounded. Source: ggml's block_q4_0 to block_q6_K.

#pragma once

#include "vectors.h"

namespace {

constexpr int kBlock = 32;  // values of a sub-block
constexpr int kGroup = kLanes;  // rows of a group

// Byte 4 r + i of part j of a sub-block is row r's value at k = 4 j + i. In four-bit parts it is in the
// low half for parts 0 to 3 and in the high half for parts 4 to 7.
typedef uint8_t Part[4 * kGroup];

// The scales of a block as floats: value = d * q + m, before what a sub-block has of its own.
struct Scales {
  f32xN d, m;
};

// `action(k, the rows' integers at k)` for every k of a sub-block. `High` gives what is above the four
// low bits: `high(part, i)`, already in its place.
template <class High, class Action>
inline void each_nibble(const Part* q, High high, Action action) {
  for (int j = 0; j < 4; j++) {
    i32xN four = load<i32xN>(q[j]);
    for (int i = 0; i < 4; i++) {
      action(4 * j + i, (four >> (8 * i) & 15) | high(j, i));
      action(16 + 4 * j + i, (four >> (8 * i + 4) & 15) | high(4 + j, i));
    }
  }
}

// One bit of each value: bit `part` of byte 4 r + i is row r's at k = 4 part + i.
struct OneBit {
  i32xN bits;
  i32xN operator()(int part, int i) const { return (bits >> (8 * i + part) & 1) << 4; }
};

// Two bits of each value, four parts in each of two vectors.
struct TwoBits {
  i32xN bits[2];
  i32xN operator()(int part, int i) const {
    return (bits[part / 4] >> (8 * i + 2 * (part % 4)) & 3) << 4;
  }
};

struct FourBits {  // Q4_0, Q4_1: value = d * q + m, q from 0 to 15
  static constexpr int kSubBlocks = 1;
  _Float16 d[kGroup], m[kGroup];
  Part q[4];

  Scales scales() const { return {halves(d), halves(m)}; }
  // `action(k, the rows' values at k)` for every k, in sub-blocks of four.
  template <class Action>
  void each(Action action) const {
    const Scales s = scales();
    each_nibble(q, [](int, int) { return i32xN{}; },
                [&](int k, i32xN v) { action(k, fused(floats(v), s.d, s.m)); });
  }
};

struct FiveBits {  // Q5_0, Q5_1: value = d * q + m, q from 0 to 31
  static constexpr int kSubBlocks = 1;
  _Float16 d[kGroup], m[kGroup];
  Part q[4], high;

  Scales scales() const { return {halves(d), halves(m)}; }
  template <class Action>
  void each(Action action) const {
    const Scales s = scales();
    each_nibble(q, OneBit{load<i32xN>(high)},
                [&](int k, i32xN v) { action(k, fused(floats(v), s.d, s.m)); });
  }
};

struct EightBits {  // Q8_0: value = d * q
  static constexpr int kSubBlocks = 1;
  _Float16 d[kGroup];
  Part q[8];  // signed

  Scales scales() const { return {halves(d), f32xN{}}; }
  template <class Action>
  void each(Action action) const {
    const Scales s = scales();
    for (int j = 0; j < 8; j++) {
      i32xN four = load<i32xN>(q[j]);
      for (int i = 0; i < 4; i++) action(4 * j + i, floats((four << (24 - 8 * i)) >> 24) * s.d);
    }
  }
};

struct FourBitsK {  // Q4_K: value = d * scale * q - m * least, scale and least of a sub-block
  static constexpr int kSubBlocks = 8;
  _Float16 d[kGroup], m[kGroup];
  uint8_t scale[8][kGroup], least[8][kGroup];
  Part q[8][4];

  Scales scales() const { return {halves(d), -halves(m)}; }
  Scales of_sub_block(const Scales& all, int sub) const {
    return {all.d * floats(widen_bytes(scale[sub])), all.m * floats(widen_bytes(least[sub]))};
  }
  template <class Action>
  void each(Action action) const {
    const Scales all = scales();
    for (int sub = 0; sub < kSubBlocks; sub++) {
      const Scales s = of_sub_block(all, sub);
      each_nibble(q[sub], [](int, int) { return i32xN{}; },
                  [&](int k, i32xN v) { action(kBlock * sub + k, fused(floats(v), s.d, s.m)); });
    }
  }
};

struct FiveBitsK {  // Q5_K: as Q4_K
  static constexpr int kSubBlocks = 8;
  _Float16 d[kGroup], m[kGroup];
  uint8_t scale[8][kGroup], least[8][kGroup];
  Part q[8][4], high[8];

  Scales scales() const { return {halves(d), -halves(m)}; }
  Scales of_sub_block(const Scales& all, int sub) const {
    return {all.d * floats(widen_bytes(scale[sub])), all.m * floats(widen_bytes(least[sub]))};
  }
  template <class Action>
  void each(Action action) const {
    const Scales all = scales();
    for (int sub = 0; sub < kSubBlocks; sub++) {
      const Scales s = of_sub_block(all, sub);
      each_nibble(q[sub], OneBit{load<i32xN>(high[sub])},
                  [&](int k, i32xN v) { action(kBlock * sub + k, fused(floats(v), s.d, s.m)); });
    }
  }
};

struct SixBitsK {  // Q6_K: value = d * scale * (q - 32), a scale for each half of a sub-block
  static constexpr int kSubBlocks = 8;
  _Float16 d[kGroup];
  int8_t scale[16][kGroup];
  Part q[8][4], high[8][2];

  Scales scales() const { return {halves(d), f32xN{}}; }
  f32xN of_half(const Scales& all, int half) const {
    return all.d * floats(widen_signed(scale[half]));
  }
  template <class Action>
  void each(Action action) const {
    const Scales all = scales();
    for (int sub = 0; sub < kSubBlocks; sub++) {
      const f32xN first = of_half(all, 2 * sub), second = of_half(all, 2 * sub + 1);
      const TwoBits above{load<i32xN>(high[sub][0]), load<i32xN>(high[sub][1])};
      each_nibble(q[sub], above, [&](int k, i32xN v) {
        action(kBlock * sub + k, floats(v - 32) * (k < 16 ? first : second));
      });
    }
  }
};

static_assert(sizeof(FourBits) == 20 * kGroup && sizeof(FiveBits) == 24 * kGroup &&
              sizeof(EightBits) == 34 * kGroup && sizeof(FourBitsK) == 148 * kGroup &&
              sizeof(FiveBitsK) == 180 * kGroup && sizeof(SixBitsK) == 210 * kGroup);

// Values of a block.
template <class Block>
constexpr int kValues = kBlock * Block::kSubBlocks;

// By how a weight's values are kept: ggml's numbers of its formats.
enum { kQ4_0 = 2, kQ4_1 = 3, kQ5_0 = 6, kQ5_1 = 7, kQ8_0 = 8, kQ4_K = 12, kQ5_K = 13, kQ6_K = 14 };

// `action(const Block*)`, a null pointer that has the type of a format's blocks.
template <class Action>
inline void with_block(int kind, Action action) {
  switch (kind) {
    case kQ4_0: case kQ4_1: action((const FourBits*)nullptr); break;
    case kQ5_0: case kQ5_1: action((const FiveBits*)nullptr); break;
    case kQ8_0: action((const EightBits*)nullptr); break;
    case kQ4_K: action((const FourBitsK*)nullptr); break;
    case kQ5_K: action((const FiveBitsK*)nullptr); break;
    case kQ6_K: action((const SixBitsK*)nullptr); break;
  }
}

}  // namespace
