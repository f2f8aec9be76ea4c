// Products of many rows in AMX's tiles: both sides in bfloat16, sums in float32. A weight's sub-blocks
// become bfloat16 once for all rows, block by block in the cache, so a sum needs no scales. (Int8
// tiles would have to be emptied after every 32 values, for the scales: slower, and coarser.)

#pragma once

#include <algorithm>
#include <vector>

#include "blocks.h"

#if defined(PARLEY_AVX512) && defined(__AVX512VBMI__) && defined(__AVX512BF16__) && \
    defined(__AMX_TILE__) && defined(__AMX_BF16__) && defined(__linux__)
#define PARLEY_TILES
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {

// 16 rows of 32 bfloat16: of activations, or (a row for every two k, 16 columns of two) of weights.
struct alignas(64) Tile16 {
  uint16_t numbers[16][32];
};

// Of this process: tiles make a row's numbers depend on how many rows there are.
static int tiles_allowed = 0;

// Whether M rows are multiplied in tiles.
inline int least_tiled_rows();
inline bool takes_tiles(int M) { return least_tiled_rows() && M >= least_tiled_rows(); }

// Of activations' tiles for M rows, in pairs as they are multiplied.
inline size_t tile_count(int M) { return (size_t)(M + 31) / 32 * 2; }

#ifdef PARLEY_TILES
constexpr int kLeastTiled = 16;    // rows that are worth it
constexpr int kTiledDepth = 8;    // sub-blocks whose weights, for 32 columns, stay in the nearest cache
constexpr int kTiledRows = 512;    // rows by which a weight is multiplied when it is unpacked
constexpr int kTiledColumns = 256;  // columns whose sums lie in the second cache meanwhile

// Whether this process may use tiles; the kernel has to be asked.
inline bool has_tiles() {
  static const bool granted = [] {
    constexpr int kRequestPermission = 0x1023, kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return granted;
}

inline int least_tiled_rows() { return tiles_allowed && has_tiles() ? kLeastTiled : 0; }

struct alignas(64) TileShapes {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};
  TileShapes() {
    for (int tile = 0; tile < 8; tile++) bytes[tile] = 64, rows[tile] = 16;
  }
};

// A row's sub-blocks to their tiles: [rows / 16][sub-block][row % 16][32].
inline void put_tiles(const float* x, Tile16* tiles, int m, int subs, int first, int count) {
  for (int sub = first; sub < first + count / kBlock; sub++, x += kBlock) {
    const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + 16), _mm512_loadu_ps(x));
    std::memcpy(tiles[(size_t)(m / 16) * subs + sub].numbers[m % 16], &both, sizeof both);
  }
}

// A tile's row holds two values of each column: each column's scale twice, for the first eight and
// the last eight.
struct Twice {
  f32xN columns[2];
  explicit Twice(f32xN v) {
    const __m512i first = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    const __m512i last = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    columns[0] = (f32xN)_mm512_permutexvar_ps(first, (__m512)v);
    columns[1] = (f32xN)_mm512_permutexvar_ps(last, (__m512)v);
  }
};

// A part of a sub-block, value = d * q + m, to two rows of a tile.
inline void put_part(__m512i q, const Twice& d, const Twice& m, uint16_t (*rows)[32]) {
  // Where byte 4 c + k is to go: values k and k + 1 of eight columns.
  const __m512i pairs = _mm512_setr_epi32(0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29);
  for (int row = 0; row < 2; row++) {
    __m512 values[2];
    for (int half = 0; half < 2; half++) {
      const __m512i from = _mm512_add_epi32(pairs, _mm512_set1_epi32(2 * row + 32 * half));
      const __m512i bytes = _mm512_maskz_permutexvar_epi8(0x1111111111111111, from, q);
      values[half] = (__m512)(floats((i32xN)bytes) * d.columns[half] + m.columns[half]);
    }
    const __m512bh both = _mm512_cvtne2ps_pbh(values[1], values[0]);
    std::memcpy(rows[row], &both, sizeof both);
  }
}

inline void put_sub_block(const UnpackedNibbles& w, Tile16& tile) {
  const Twice d(w.d), m(w.m);
  for (int j = 0; j < 8; j++) put_part(w.q[j], d, m, tile.numbers + 2 * j);
}

inline void put_sub_block(const UnpackedSix& w, Tile16& tile) {
  for (int half = 0; half < 2; half++) {
    const Twice d(w.d[half]), m(w.d[half] * -32.0f);
    for (int j = 4 * half; j < 4 * half + 4; j++)
      put_part(w.q[j], d, m, tile.numbers + 2 * j);
  }
}

inline void put_sub_block(const UnpackedEight& w, Tile16& tile) {
  const Twice d(w.d), m(w.d * -128.0f);
  for (int j = 0; j < 8; j++) put_part(w.q[j], d, m, tile.numbers + 2 * j);
}

// Sub-blocks [first, first + count) of a group to tiles two apart (those of its neighbour between).
template <class Block>
inline void put_sub_blocks(const Block* rows, int first, int count, Tile16* tiles) {
  for (int at = first; at < first + count;) {
    const Block& block = rows[at / Block::kSubBlocks];
    const Scales scales = block.scales();
    const int end = std::min(first + count, (at / Block::kSubBlocks + 1) * Block::kSubBlocks);
    for (; at < end; at++)
      put_sub_block(unpack(block, scales, at % Block::kSubBlocks), tiles[2 * (at - first)]);
  }
}

struct alignas(64) SumTile {
  float sums[16][16];
};

// Where the sums of 32 rows by 32 columns lie: 2 x 2 tiles.
struct SumPlaces {
  float* tiles[4];
  size_t stride;  // bytes from one row to the next
};

// to = from (zero where it is null) + two tiles' rows of x by `count` pairs of weights.
inline void multiply_tiles(const Tile16* x, int subs, const Tile16* weights, int count,
                           const SumPlaces* from, const SumPlaces& to) {
  if (from) {
    _tile_loadd(0, from->tiles[0], from->stride);
    _tile_loadd(1, from->tiles[1], from->stride);
    _tile_loadd(2, from->tiles[2], from->stride);
    _tile_loadd(3, from->tiles[3], from->stride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int at = 0; at < count; at++) {
    _tile_loadd(4, x + at, 64);
    _tile_loadd(6, weights + 2 * at, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, weights + 2 * at + 1, 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, x + subs + at, 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, to.tiles[0], to.stride);
  _tile_stored(1, to.tiles[1], to.stride);
  _tile_stored(2, to.tiles[2], to.stride);
  _tile_stored(3, to.tiles[3], to.stride);
}

// Columns [from, to) of y (M, N): multiples of a group, counted from the weight's first row. Sums
// wait in tiles of their own until the last of their parts, which goes to y.
template <class Block>
inline void tiled_part(const Block* weight, const Tile16* x, float* y, int M, int N, int subs,
                       int from, int to) {
  const int blocks = subs / Block::kSubBlocks;
  const int most = std::min(kTiledColumns, (to - from + 31) / 32 * 32);
  const int most_rows = std::min(kTiledRows, (M + 31) / 32 * 32);
  std::vector<SumTile> sums((size_t)most / 16 * (most_rows / 16));
  std::vector<Tile16> weights((size_t)2 * kTiledDepth);
  const TileShapes shapes;
  _tile_loadconfig(&shapes);
  for (int m0 = 0; m0 < M; m0 += kTiledRows)
    for (int n0 = from; n0 < to; n0 += most) {
      const int rows = std::min(kTiledRows, M - m0), pairs = (rows + 31) / 32;
      const int columns = std::min(most, to - n0);
      for (int k0 = 0; k0 < subs; k0 += kTiledDepth) {
        const int count = std::min(kTiledDepth, subs - k0);
        for (int n = 0; n < columns; n += 32) {
          const int wide = std::min(32, columns - n);
          for (int side = 0; 16 * side < wide; side++)
            put_sub_blocks(weight + (size_t)((n0 + n) / kGroup + side) * blocks, k0, count,
                       weights.data() + side);
          asm volatile("" ::: "memory");  // tiles are loaded behind the compiler's back
          for (int pair = 0; pair < pairs; pair++) {
            SumTile* own = &sums[4 * ((size_t)n / 32 * pairs + pair)];
            float* out = y + (size_t)(m0 + 32 * pair) * N + n0 + n;
            const SumPlaces wait{{own[0].sums[0], own[1].sums[0], own[2].sums[0], own[3].sums[0]},
                                 sizeof own->sums[0]};
            const SumPlaces end{{out, out + 16, out + (size_t)16 * N, out + (size_t)16 * N + 16},
                                sizeof(float) * N};
            const int tall = std::min(32, rows - 32 * pair);
            const bool whole = wide == 32 && tall == 32, last = k0 + count == subs;
            multiply_tiles(x + (size_t)(m0 / 16 + 2 * pair) * subs + k0, subs, weights.data(),
                           count, k0 ? &wait : nullptr, last && whole ? end : wait);
            for (int m = 0; last && !whole && m < tall; m++)
              for (int side = 0; 16 * side < wide; side++)
                std::memcpy(out + (size_t)m * N + 16 * side, own[m / 16 * 2 + side].sums[m % 16], 64);
          }
        }
      }
    }
  _tile_release();
}
#else
inline int least_tiled_rows() { return 0; }
inline void put_tiles(const float*, Tile16*, int, int, int, int) {}

template <class Block>
void tiled_part(const Block*, const Tile16*, float*, int, int, int, int, int) {}
#endif

}  // namespace
