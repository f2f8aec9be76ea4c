// Products with activations rounded to int8: only where asked for, since it is not the float32
// model any more. 32 activations have a scale, off by at most 1/254 of their largest. With AVX-512 and
// weights of K-formats the scales of 256 are a unit by powers of two, off by twice as much, or 1/2032 of the
// largest of the 256. Weights are those of the file. Where the processor has AMX, many rows are rounded to
// bfloat16 instead (tiles.h), which is finer.

#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "blocks.h"
#include "room.h"

namespace {

struct Nothing {};

// 32 activations: x = scale * q.
struct Rounded {
  int8_t q[32];
  float scale;
  float total;  // scale * sum(q): what the constant of a sub-block is multiplied with
  int32_t less;  // -128 * sum(q): what is too much where weights are counted from -128,
  int32_t less_of_half[2];  // and -32 * sum(q) of either half, where from -32
  // Where the scales of several blocks are one unit by powers of two:
  float unit;
  int32_t shift;    // scale = unit * 2^shift
  int16_t pair[2];  // sum(q) * 2^shift of this block and of the next
};
static_assert(sizeof(Rounded) == 64, "a line of the cache");

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

// Whether a block's sub-blocks meet activations of one unit, which is multiplied once for all of them.
template <class Block>
constexpr bool kOneUnit = kShared<Block> != kBlock;

// What a block has beside its sub-blocks, and adds to sums of activations with one unit.
template <class Block>
inline auto constants(const Block& block, const Scales& scales) {
  if constexpr (kOneUnit<Block>)
    return constants_of(block, scales);
  else
    return Nothing{};
}

// Blocks of a group, unpacked as they are asked for: `action(at, sub-block)` for each of theirs, then
// `end(at, constants)`, where `at` is the block's first.
template <int Tokens, class Block, class Action, class End>
inline void each_sub_block(const Block* rows, int count, Action action, End end) {
  constexpr size_t bytes = sizeof(Block) / Block::kSubBlocks;
  for (int b = 0; b < count / Block::kSubBlocks; b++) {
    const Scales scales = rows[b].scales();
    for (int sub = 0; sub < Block::kSubBlocks; sub++) {
      const char* next = (const char*)(rows + b) + sub * bytes + kFetchAhead;
      for (size_t at = 0; (kFetches<Block> || Tokens >= kTokensThatHide) && at < bytes; at += kLine)
        __builtin_prefetch(next + at);
      action(b * Block::kSubBlocks + sub, unpack(rows[b], scales, sub));
    }
    end(b * Block::kSubBlocks, constants(rows[b], scales));
  }
}

// y (Tokens, of a group) = a group of rows by the tokens. Never inlined, as what follows: its sums fill the
// registers, and anything beside them would take turns with them.
template <int Tokens, class Block>
__attribute__((noinline)) void dot_packed(const Block* rows, const Rounded* x, float* y, int N, int count) {
  f32xN acc[Tokens] = {};
  if constexpr (kOneUnit<Block>) {
    f32xN own[Tokens] = {};  // a block's sums, in the activations' unit
    each_sub_block<Tokens>(
        rows, count,
        [&](int at, const auto& sub) {
          const auto* one = &sub;
          add_in_units<Tokens, 1>(&one, x + at, count, own);
        },
        [&](int at, const auto& beside) {
          add_constants<Tokens>(beside, x + at, count, own);
          for (int t = 0; t < Tokens; t++) {
            acc[t] = fused(own[t], splat(x[at + (size_t)t * count].unit), acc[t]);
            own[t] = f32xN{};
          }
          asm volatile("" : : "r"(acc) : "memory");  // it waits in memory: a block needs the registers
        });
  } else {
    each_sub_block<Tokens>(
        rows, count,
        [&](int at, const auto& sub) {
          const auto* one = &sub;
          add_sub_block<Tokens, 1>(&one, x + at, count, acc);
        },
        [](int, const auto&) {});
  }
  for (int t = 0; t < Tokens; t++) std::memcpy(y + (size_t)t * N, &acc[t], sizeof acc[t]);
}

// A block unpacked once for many tokens.
template <class Block>
struct UnpackedBlock {
  typedef Block Of;
  decltype(unpack(std::declval<const Block&>(), Scales{}, 0)) subs[Block::kSubBlocks];
  decltype(constants(std::declval<const Block&>(), Scales{})) beside;
};

// acc (Groups, Tokens) += a block of each group, `stride` of them apart, by tokens with one unit a block.
template <int Tokens, int Groups, class Unpacked>
__attribute__((noinline)) void add_block(const Unpacked* blocks, size_t stride, const Rounded* x, int count,
                                         f32xN* acc) {
  typedef typename Unpacked::Of Block;
  f32xN own[Groups * Tokens] = {};
  for (int sub = 0; sub < Block::kSubBlocks; sub++) {
    decltype(&blocks->subs[0]) groups[Groups];
    for (int g = 0; g < Groups; g++) groups[g] = &blocks[g * stride].subs[sub];
    add_in_units<Tokens, Groups>(groups, x + sub, count, own);
  }
  for (int g = 0; g < Groups; g++) {
    add_constants<Tokens>(blocks[g * stride].beside, x, count, own + g * Tokens);
    for (int t = 0; t < Tokens; t++) {
      f32xN& to = acc[g * Tokens + t];
      to = fused(own[g * Tokens + t], splat(x[(size_t)t * count].unit), to);
    }
  }
}

// y (Tokens, of these groups) = a slice of `Groups` of them, `stride` unpacked blocks each, by the tokens, each
// `count` sub-blocks long; added to what is there unless `first`.
template <int Tokens, int Groups, class Unpacked>
__attribute__((noinline)) void dot_unpacked(const Unpacked* blocks, size_t stride, const Rounded* x, float* y,
                                            int N, int count, bool first) {
  typedef typename Unpacked::Of Block;
  f32xN acc[Groups * Tokens] = {};
  for (int t = 0; t < Tokens && !first; t++)
    for (int g = 0; g < Groups; g++)
      std::memcpy(&acc[g * Tokens + t], y + (size_t)t * N + g * kGroup, sizeof acc[0]);
  for (size_t b = 0; b < stride; b++) {
    if constexpr (kOneUnit<Block>) {
      add_block<Tokens, Groups>(blocks + b, stride, x + b * Block::kSubBlocks, count, acc);
    } else {
      for (int sub = 0; sub < Block::kSubBlocks; sub++) {
        decltype(&blocks->subs[0]) groups[Groups];
        for (int g = 0; g < Groups; g++) groups[g] = &blocks[b + g * stride].subs[sub];
        add_sub_block<Tokens, Groups>(groups, x + b * Block::kSubBlocks + sub, count, acc);
      }
    }
  }
  for (int t = 0; t < Tokens; t++)
    for (int g = 0; g < Groups; g++)
      std::memcpy(y + (size_t)t * N + g * kGroup, &acc[g * Tokens + t], sizeof acc[0]);
}

// `action(std::integral_constant<int, tokens>())` for `tokens`, `Most` at most.
template <int Most, class Action>
inline void with_tokens(int tokens, Action action) {
  if (tokens == Most)
    action(std::integral_constant<int, Most>());
  else if constexpr (Most > 1)
    with_tokens<Most - 1>(tokens, action);
}

// So many sub-blocks are a slice: of a tile's tokens it stays in the nearest cache while all groups at hand
// meet it, and so many groups of it stay unpacked in the second one while all tokens do.
constexpr int kSliceSubs = 48, kSliceGroups = 16;

// y (M, of groups [0, groups)) = a slice of them, `stride` unpacked blocks each, by tokens `count` sub-blocks long;
// as `dot_unpacked`.
template <class Unpacked>
inline void multiply_slice(const Unpacked* blocks, int groups, size_t stride, const Rounded* x, float* y, int M,
                           int N, int count, bool first) {
  constexpr int kTokensOfTile = kTileTokens<typename Unpacked::Of>;
  for (int m = 0; m < M; m += kTokensOfTile)
    with_tokens<kTokensOfTile>(std::min(kTokensOfTile, M - m), [&](auto tokens) {
      const auto dot = [&](auto together, int g) {
        dot_unpacked<tokens(), together()>(blocks + g * stride, stride, x + (size_t)m * count,
                                           y + (size_t)m * N + g * kGroup, N, count, first);
      };
      int g = 0;
      for (; g + kTileGroups <= groups; g += kTileGroups) dot(std::integral_constant<int, kTileGroups>(), g);
      for (; g < groups; g++) dot(std::integral_constant<int, 1>(), g);
    });
}

// Columns [from, to) of y (M, N): multiples of a group, counted from the weight's first row. For many tokens
// weights are unpacked once, slice by slice; sums wait in y for the next slice.
template <class Block>
inline void rounded_part(const Block* weight, const Rounded* x, float* y, int M, int N, int subs,
                         int from, int to) {
  const int blocks = subs / Block::kSubBlocks;
  const auto packed = [&](int n) { return weight + (size_t)n / kGroup * blocks; };
  if (M <= 2 * kTokens) {
    for (int n = from; n < to; n += kGroup)
      for (int m = 0; m < M; m += kTokens)
        with_tokens<kTokens>(std::min(kTokens, M - m), [&](auto tokens) {
          dot_packed<tokens()>(packed(n), x + (size_t)m * subs, y + (size_t)m * N + n, N, subs);
        });
    return;
  }
  typedef UnpackedBlock<Block> Unpacked;
  const int most = std::min(kSliceSubs / Block::kSubBlocks, blocks);
  const int fit = std::min(kSliceGroups, (to - from) / kGroup);
  const Room<Unpacked> unpacked((size_t)fit * most);
  for (int n = from; n < to; n += fit * kGroup) {
    const int groups = std::min(fit, (to - n) / kGroup);
    for (int b = 0; b < blocks; b += most) {
      const int slice = std::min(most, blocks - b);
      Unpacked* next = unpacked.get();
      for (int g = 0; g < groups; g++)
        each_sub_block<kTokens>(
            packed(n + g * kGroup) + b, slice * Block::kSubBlocks,
            [&](int at, const auto& sub) { next->subs[at % Block::kSubBlocks] = sub; },
            [&](int, const auto& beside) { next++->beside = beside; });
      multiply_slice(unpacked.get(), groups, slice, x + (size_t)b * Block::kSubBlocks, y + n, M, N, subs, b == 0);
    }
  }
}
#else
constexpr bool kHasInt8 = false;

template <class Block>
constexpr int kShared = kBlock;

inline void round_row(const float*, Rounded*, int, int = kBlock) {}

template <class Block>
void rounded_part(const Block*, const Rounded*, float*, int, int, int, int, int) {}
#endif

// How many activations have one unit where a matrix has weights of this kind.
inline int shared_by(int kind) {
  int values = kBlock;
  with_block(kind, [&](auto none) {
    values = kShared<std::remove_const_t<std::remove_pointer_t<decltype(none)>>>;
  });
  return values;
}

// Rows of activations, M at most and `most` values wide at most, as a product takes them.
class RoundedRows {
 public:
  RoundedRows(int M, int most)
      : tiled_(takes_tiles(M)),
        rounded_(tiled_ ? 0 : (size_t)M * (most / kBlock)),
        tiles_(tiled_ ? tile_count(M) * (most / kBlock) : 0) {}

  // Row m's values from sub-block `first` on of `sub-blocks`, `count` values in whole sub-blocks; in int8,
  // `shared` of them have one unit.
  void put(const float* x, int m, int subs, int first, int count, int shared) {
    if (tiled_)
      put_tiles(x, tiles_.get(), m, subs, first, count);
    else
      round_row(x, &rounded_[(size_t)m * subs + first], count, shared);
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
  Room<Rounded> rounded_;
  Room<Tile16> tiles_;  // rows beyond M hold anything, and give rows that nobody reads
};

}  // namespace
