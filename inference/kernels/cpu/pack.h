// From a file's rows to the groups of blocks.h, and single rows back as floats.

#pragma once

#include <algorithm>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "blocks.h"

namespace {

// A sub-block of one row, 32 integers in the order of k, to its places in a group: four of them at
// once, which lie side by side there too.

inline uint32_t four_at(const uint8_t* values, int part) { return load<uint32_t>(values + 4 * part); }

inline void put_four(uint32_t four, Part& to, int row) { std::memcpy(to + 4 * row, &four, 4); }

inline void put_nibbles(const uint8_t* values, Part* q, int row) {
  constexpr uint32_t kLow = 0x0f0f0f0f;
  for (int j = 0; j < 4; j++)
    put_four((four_at(values, j) & kLow) | (four_at(values, 4 + j) & kLow) << 4, q[j], row);
}

// The same of bytes that hold a sub-block's values in their low halves and another's in their high ones.
inline void put_halves(const uint8_t* bytes, bool high, Part* q, int row) {
  constexpr uint32_t kLow = 0x0f0f0f0f, kHigh = ~kLow;
  for (int j = 0; j < 4; j++) {
    const uint32_t first = four_at(bytes, j), second = four_at(bytes, 4 + j);
    put_four(high ? (first >> 4 & kLow) | (second & kHigh) : (first & kLow) | (second & kLow) << 4, q[j], row);
  }
}

inline void put_one_bit(const uint8_t* values, Part& high, int row) {
  uint32_t bits = 0;
  for (int part = 0; part < 8; part++) bits |= (four_at(values, part) >> 4 & 0x01010101) << part;
  put_four(bits, high, row);
}

// Where a file counts from `-from`, the constant is that many scales.
inline _Float16 counted_from(_Float16 d, int from) { return (_Float16)((float)d * -from); }

inline void put_row(int kind, const uint8_t* in, FourBits& out, int row) {
  out.d[row] = load<_Float16>(in);
  out.m[row] = kind == kQ4_1 ? load<_Float16>(in + 2) : counted_from(out.d[row], 8);
  const uint8_t* bytes = in + (kind == kQ4_1 ? 4 : 2);
  for (int j = 0; j < 4; j++) put_four(four_at(bytes, j), out.q[j], row);
}

inline void put_row(int kind, const uint8_t* in, FiveBits& out, int row) {
  out.d[row] = load<_Float16>(in);
  out.m[row] = kind == kQ5_1 ? load<_Float16>(in + 2) : counted_from(out.d[row], 16);
  const uint8_t* at = in + (kind == kQ5_1 ? 4 : 2);
  const uint32_t bits = load<uint32_t>(at);
  uint8_t values[kBlock];
  for (int k = 0; k < 16; k++) {
    values[k] = (at[4 + k] & 15) | (bits >> k & 1) << 4;
    values[16 + k] = at[4 + k] >> 4 | (bits >> (16 + k) & 1) << 4;
  }
  put_nibbles(values, out.q, row);
  put_one_bit(values, out.high, row);
}

inline void put_row(int, const uint8_t* in, EightBits& out, int row) {
  out.d[row] = load<_Float16>(in);
  for (int j = 0; j < 8; j++) put_four(four_at(in + 2, j), out.q[j], row);
}

// The six-bit scales and constants of Q4_K and Q5_K, twelve bytes for eight sub-blocks.
template <class Block>
inline void put_scales(const uint8_t* in, Block& out, int row) {
  out.d[row] = load<_Float16>(in);
  out.m[row] = load<_Float16>(in + 2);
  const uint8_t* packed = in + 4;
  for (int sub = 0; sub < 4; sub++) {
    const uint8_t low = packed[sub], middle = packed[4 + sub], top = packed[8 + sub];
    out.scale[sub][row] = low & 63;
    out.least[sub][row] = middle & 63;
    out.scale[4 + sub][row] = (top & 15) | (low >> 6) << 4;
    out.least[4 + sub][row] = top >> 4 | (middle >> 6) << 4;
  }
}

inline void put_row(int, const uint8_t* in, FourBitsK& out, int row) {
  put_scales(in, out, row);
  for (int sub = 0; sub < 8; sub++) {  // two sub-blocks share 32 bytes
    put_halves(in + 16 + 32 * (sub / 2), sub % 2, out.q[sub], row);
  }
}

inline void put_row(int, const uint8_t* in, FiveBitsK& out, int row) {
  put_scales(in, out, row);
  for (int sub = 0; sub < 8; sub++) {
    const uint8_t *high = in + 16, *bytes = in + 48 + 32 * (sub / 2);
    uint8_t values[kBlock];
    for (int k = 0; k < kBlock; k++)
      values[k] = (bytes[k] >> 4 * (sub % 2) & 15) | (high[k] >> sub & 1) << 4;
    put_nibbles(values, out.q[sub], row);
    put_one_bit(values, out.high[sub], row);
  }
}

inline void put_row(int, const uint8_t* in, SixBitsK& out, int row) {
  out.d[row] = load<_Float16>(in + 208);
  for (int half = 0; half < 16; half++) out.scale[half][row] = (int8_t)in[192 + half];
  for (int sub = 0; sub < 8; sub++) {  // four sub-blocks share 64 bytes of low bits, 32 of high
    const int quarter = sub % 4;
    put_halves(in + 64 * (sub / 4) + 32 * (quarter % 2), quarter / 2, out.q[sub], row);
    const uint8_t* high = in + 128 + 32 * (sub / 4);
    uint32_t bits[2] = {};
    for (int part = 0; part < 8; part++)
      bits[part / 4] |= (four_at(high, part) >> 2 * quarter & 0x03030303) << 2 * (part % 4);
    for (int half = 0; half < 2; half++) put_four(bits[half], out.high[sub][half], row);
  }
}

// Have the pages of a mapped file at hand in one call: a fault for every few of them costs more than to
// pack what they hold. Kernels before 5.14 refuse, which changes nothing.
inline void map_pages(const uint8_t* from, size_t bytes) {
#ifdef MADV_POPULATE_READ
  constexpr uintptr_t kPage = 4096;
  const uintptr_t begin = (uintptr_t)from / kPage * kPage;
  madvise((void*)begin, (uintptr_t)from + bytes - begin, MADV_POPULATE_READ);
#endif
}

// `N` rows of `blocks` file blocks, `bytes` each, to whole groups, filled up with zeros.
template <class Block>
void pack_rows(int kind, const uint8_t* rows, int bytes, Block* out, int N, int blocks) {
#pragma omp parallel for schedule(dynamic)
  for (int group = 0; group < (N + kGroup - 1) / kGroup; group++) {
    const int count = std::min(kGroup, N - group * kGroup);
    const size_t row_bytes = (size_t)blocks * bytes;
    map_pages(rows + (size_t)group * kGroup * row_bytes, count * row_bytes);
    for (int b = 0; b < blocks; b++) {
      Block& to = out[(size_t)group * blocks + b];
      if (count < kGroup) std::memset((void*)&to, 0, sizeof to);
      for (int row = 0; row < count; row++)
        put_row(kind, rows + ((size_t)(group * kGroup + row) * blocks + b) * bytes, to, row);
    }
  }
}

// out (count, K) = the rows of these numbers, exactly.
template <class Block>
void unpack_rows(const Block* weight, const int64_t* ids, float* out, int count, int K) {
  const int blocks = K / kValues<Block>;
#pragma omp parallel for schedule(static) if (count > 4)
  for (int t = 0; t < count; t++) {
    const Block* group = weight + (size_t)(ids[t] / kGroup) * blocks;
    const int row = ids[t] % kGroup;
    for (int b = 0; b < blocks; b++) {
      float* to = out + (size_t)t * K + (size_t)b * kValues<Block>;
      group[b].each([&](int k, f32xN w) { to[k] = w[row]; });
    }
  }
}

}  // namespace
