// Products with activations rounded to int8: only where asked for, since it is not the float32
// model any more. Activations are blocks of 32 with a scale each, off by at most 1/254 of the
// block's largest; weights are those of the file. Where the processor has AMX, many rows are rounded
// to bfloat16 instead (tiles.h), which is finer.

#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "blocks.h"

namespace {

// 32 activations: x = scale * q.
struct Rounded {
  int8_t q[32];
  float scale;
  float total;  // scale * sum(q): what the constant of a sub-block is multiplied with
  int32_t less;  // -128 * sum(q): what is too much where weights are counted from -128,
  int32_t less_of_half[2];  // and -32 * sum(q) of either half, where from -32
};

}  // namespace

#if defined(PARLEY_AVX512)
#include "int8_avx512.h"
#elif defined(__AVX2__) && defined(__F16C__)
#include "int8_avx2.h"
#endif
#include "tiles.h"

namespace {

#ifdef PARLEY_INT8
constexpr bool kHasInt8 = true;

// Whether packed weights are asked for ahead of time: with one or two tokens the processor sees by
// itself what comes, unless a sub-block lies in several places; with more it looks at their activations.
template <class Block>
constexpr bool kFetches = std::is_same<Block, SixBitsK>::value || std::is_same<Block, FiveBitsK>::value;
constexpr int kTokensThatHide = 4;
constexpr size_t kFetchAhead = 5 * 1024, kLine = 64;  // bytes

// A group's sub-blocks one after another, unpacked as they are asked for,
template <class Block>
struct PackedSubBlocks {
  const Block* rows;

  template <int Tokens, class Action>
  void each(int count, Action action) const {
    constexpr size_t bytes = sizeof(Block) / Block::kSubBlocks;
    for (int b = 0; b < count / Block::kSubBlocks; b++) {
      const Scales scales = rows[b].scales();
      for (int sub = 0; sub < Block::kSubBlocks; sub++) {
        const char* next = (const char*)(rows + b) + sub * bytes + kFetchAhead;
        for (size_t at = 0; (kFetches<Block> || Tokens >= kTokensThatHide) && at < bytes; at += kLine)
          __builtin_prefetch(next + at);
        action(b * Block::kSubBlocks + sub, unpack(rows[b], scales, sub));
      }
    }
  }
};

template <class Block>
using Unpacked = decltype(unpack(std::declval<const Block&>(), Scales{}, 0));

// or once for many tokens.
template <class SubBlock>
struct UnpackedSubBlocks {
  const SubBlock* subs;

  template <int Tokens, class Action>
  void each(int count, Action action) const {
    for (int at = 0; at < count; at++) action(at, subs[at]);
  }
};

// A group of rows by `Tokens` tokens.
template <int Tokens, class SubBlocks>
inline void dot_sub_blocks(const SubBlocks& rows, const Rounded* x, float* y, int N, int count) {
  f32xN acc[Tokens] = {};
  rows.template each<Tokens>(
      count, [&](int at, const auto& sub) { add_sub_block<Tokens>(sub, x + at, count, acc); });
  for (int t = 0; t < Tokens; t++) std::memcpy(y + (size_t)t * N, &acc[t], sizeof acc[t]);
}

// The same by `tokens`, `Most` at most.
template <int Most, class SubBlocks>
inline void dot_sub_blocks_few(int tokens, const SubBlocks& rows, const Rounded* x, float* y, int N,
                           int count) {
  if (tokens == Most)
    dot_sub_blocks<Most>(rows, x, y, N, count);
  else if constexpr (Most > 1)
    dot_sub_blocks_few<Most - 1>(tokens, rows, x, y, N, count);
}

template <class SubBlocks>
inline void dot_sub_blocks_all(const SubBlocks& rows, const Rounded* x, float* y, int M, int N, int count) {
  for (int m = 0; m < M; m += kTokens)
    dot_sub_blocks_few<kTokens>(std::min(kTokens, M - m), rows, x + (size_t)m * count,
                            y + (size_t)m * N, N, count);
}

// So many bytes of unpacked groups stay in the second cache while all tokens meet them.
constexpr size_t kUnpackedBytes = 256 * 1024;

// Columns [from, to) of y (M, N): multiples of a group, counted from the weight's first row. For
// many tokens some groups are unpacked once, into the cache; a few tokens meet all of them before the
// next ones do, so that it is the tokens that stay in the nearest cache.
template <class Block>
inline void rounded_part(const Block* weight, const Rounded* x, float* y, int M, int N, int subs,
                         int from, int to) {
  typedef Unpacked<Block> SubBlock;
  const auto packed = [&](int n) {
    return PackedSubBlocks<Block>{weight + (size_t)n / kGroup * (subs / Block::kSubBlocks)};
  };
  if (M <= 2 * kTokens) {
    for (int n = from; n < to; n += kGroup) dot_sub_blocks_all(packed(n), x, y + n, M, N, subs);
    return;
  }
  const int fit = std::max<int>(1, kUnpackedBytes / (sizeof(SubBlock) * subs)) * kGroup;
  const std::unique_ptr<SubBlock[]> unpacked(new SubBlock[(size_t)std::min(fit, to - from) / kGroup * subs]);
  for (int first = from; first < to; first += fit) {
    const int end = std::min(first + fit, to);
    SubBlock* next = unpacked.get();
    for (int n = first; n < end; n += kGroup)
      packed(n).template each<kTokens>(subs, [&](int, const auto& sub) { *next++ = sub; });
    for (int m = 0; m < M; m += kTokens)
      for (int n = first; n < end; n += kGroup)
        dot_sub_blocks_few<kTokens>(
            std::min(kTokens, M - m),
            UnpackedSubBlocks<SubBlock>{unpacked.get() + (size_t)(n - first) / kGroup * subs},
            x + (size_t)m * subs, y + (size_t)m * N + n, N, subs);
  }
}
#else
constexpr bool kHasInt8 = false;

inline void round_row(const float*, Rounded*, int) {}

template <class Block>
void rounded_part(const Block*, const Rounded*, float*, int, int, int, int, int) {}
#endif

// Rows of activations, M at most and `most` values wide at most, as a product takes them.
class RoundedRows {
 public:
  RoundedRows(int M, int most) : tiled_(takes_tiles(M)) {
    if (tiled_)
      tiles_.reset(new Tile16[tile_count(M) * (most / kBlock)]);
    else
      rounded_.reset(new Rounded[(size_t)M * (most / kBlock)]);
  }

  // Row m's values from sub-block `first` on of `sub-blocks`, `count` values in whole sub-blocks.
  void put(const float* x, int m, int subs, int first, int count) {
    if (tiled_)
      put_tiles(x, tiles_.get(), m, subs, first, count);
    else
      round_row(x, &rounded_[(size_t)m * subs + first], count);
  }

  // Row m of `subs` sub-blocks in int8; null where they are in tiles.
  const Rounded* row(int m, int subs) const { return tiled_ ? nullptr : &rounded_[(size_t)m * subs]; }

  // Columns [from, to) of y (M, N) = these rows (M, K) @ weight^T: multiples of a group, counted
  // from the weight's first row.
  template <class Block>
  void multiply(const Block* weight, float* y, int M, int N, int K, int from, int to) const {
    if (tiled_)
      tiled_part(weight, tiles_.get(), y, M, N, K / kBlock, from, to);
    else
      rounded_part(weight, rounded_.get(), y, M, N, K / kBlock, from, to);
  }

 private:
  bool tiled_;
  std::unique_ptr<Rounded[]> rounded_;
  std::unique_ptr<Tile16[]> tiles_;  // rows beyond M hold anything, and give rows that nobody reads
};

}  // namespace
