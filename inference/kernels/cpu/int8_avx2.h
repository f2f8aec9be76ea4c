// Rounding and products in AVX2, which multiplies bytes into sums of 16 bits.

#pragma once

#define PARLEY_INT8

namespace {

constexpr int kTokens = 4;  // at once: their sums stay in registers
template <class Block>
constexpr int kTileTokens = kTokens;
constexpr int kTileGroups = 1;

// Every sub-block meets activations with a scale of their own, so that these are never asked for.
template <class Block>
constexpr int kShared = kBlock;
template <int Tokens, int Groups, class SubBlock>
void add_in_units(const SubBlock* const*, const Rounded*, int, f32xN*);
template <int Tokens, class Constants>
void add_constants(const Constants&, const Rounded*, int, f32xN*);

inline void round_row(const float* x, Rounded* out, int K, int = kBlock) {
  for (int b = 0; b < K / 32; b++, out++) {
    f32xN v[4], largest = {};
    for (int j = 0; j < 4; j++) {
      v[j] = load<f32xN>(x + b * 32 + 8 * j);
      f32xN size = v[j] < 0 ? -v[j] : v[j];
      largest = size > largest ? size : largest;
    }
    float most = greatest(largest);
    float inverse = most > 0 ? 127.0f / most : 0.0f;
    i32xN count[2] = {};  // of either half
    for (int j = 0; j < 4; j++) {
      __m256i q = _mm256_cvtps_epi32((__m256)(v[j] * inverse));
      count[j / 2] += (i32xN)q;
      for (int i = 0; i < 8; i++) out->q[8 * j + i] = (int8_t)((i32xN)q)[i];
    }
    out->scale = most / 127.0f;
    out->total = out->scale * sum(floats(count[0] + count[1]));
    out->less = 0;
    for (int half = 0; half < 2; half++)
      out->less_of_half[half] = -32 * (int)sum(floats(count[half]));
  }
}

inline __m256i four_of(const int8_t* q) { return _mm256_set1_epi32(load<int32_t>(q)); }

// A sub-block's bytes are taken apart as they are multiplied.
template <class Block>
struct SubBlockOf {
  const Block* block;
  Scales scales;
  int sub;
};

template <class Block>
inline SubBlockOf<Block> unpack(const Block& w, const Scales& scales, int sub) {
  return {&w, scales, sub};
}

// A part of a sub-block, a byte for each value; parts 4 to 7 are the high halves.
inline __m256i nibbles(const Part* q, int part) {
  __m256i both = _mm256_loadu_si256((const __m256i*)q[part % 4]);
  if (part >= 4) both = _mm256_srli_epi16(both, 4);
  return _mm256_and_si256(both, _mm256_set1_epi8(15));
}

inline __m256i five_bits(const Part* q, const Part& high, int part) {
  __m256i bits = _mm256_loadu_si256((const __m256i*)high);
  bits = part < 4 ? _mm256_slli_epi16(bits, 4 - part) : _mm256_srli_epi16(bits, part - 4);
  return _mm256_or_si256(nibbles(q, part), _mm256_and_si256(bits, _mm256_set1_epi8(16)));
}

inline __m256i six_bits(const Part* q, const Part* high, int part) {
  __m256i bits = _mm256_loadu_si256((const __m256i*)high[part / 4]);
  const int shift = 4 - 2 * (part % 4);
  bits = shift >= 0 ? _mm256_slli_epi16(bits, shift) : _mm256_srli_epi16(bits, -shift);
  return _mm256_or_si256(nibbles(q, part), _mm256_and_si256(bits, _mm256_set1_epi8(48)));
}

inline __m256i part_of(const SubBlockOf<FourBits>& w, int part) { return nibbles(w.block->q, part); }
inline __m256i part_of(const SubBlockOf<FiveBits>& w, int part) {
  return five_bits(w.block->q, w.block->high, part);
}
inline __m256i part_of(const SubBlockOf<FourBitsK>& w, int part) {
  return nibbles(w.block->q[w.sub], part);
}
inline __m256i part_of(const SubBlockOf<FiveBitsK>& w, int part) {
  return five_bits(w.block->q[w.sub], w.block->high[w.sub], part);
}
inline __m256i part_of(const SubBlockOf<SixBitsK>& w, int part) {
  return six_bits(w.block->q[w.sub], w.block->high[w.sub], part);
}

inline Scales scales_of(const SubBlockOf<FourBits>& w) { return w.scales; }
inline Scales scales_of(const SubBlockOf<FiveBits>& w) { return w.scales; }
inline Scales scales_of(const SubBlockOf<FourBitsK>& w) { return w.block->of_sub_block(w.scales, w.sub); }
inline Scales scales_of(const SubBlockOf<FiveBitsK>& w) { return w.block->of_sub_block(w.scales, w.sub); }

// How many parts' products have room in 16 bits: two by the largest weight by 127 each.
template <class Block>
constexpr int kParts = 8;  // of 15
template <>
constexpr int kParts<FiveBits> = 4;  // of 31
template <>
constexpr int kParts<FiveBitsK> = 4;
template <>
constexpr int kParts<SixBitsK> = 2;  // of 63

// sums += parts [begin, end) of the weights by the tokens.
template <int Tokens, class Block>
inline void add_products(const SubBlockOf<Block>& w, int begin, int end, const Rounded* x, int stride,
                         __m256i* sums) {
  const __m256i ones = _mm256_set1_epi16(1);
  for (int first = begin; first < end; first += kParts<Block>) {
    __m256i pairs[Tokens] = {};
    for (int j = first; j < first + kParts<Block>; j++) {
      const __m256i bytes = part_of(w, j);
      for (int t = 0; t < Tokens; t++) {
        const int8_t* q = x[(size_t)t * stride].q;
        pairs[t] = _mm256_add_epi16(pairs[t], _mm256_maddubs_epi16(bytes, four_of(q + 4 * j)));
        asm("" : "+x"(pairs[t]));  // or GCC adds up all parts at the end, from memory
      }
    }
    for (int t = 0; t < Tokens; t++)
      sums[t] = _mm256_add_epi32(sums[t], _mm256_madd_epi16(pairs[t], ones));
  }
}

// acc (Tokens) += a sub-block of one group by the tokens.
template <int Tokens, int Groups, class Block>
inline void add_sub_block(const SubBlockOf<Block>* const* groups, const Rounded* x, int stride, f32xN* acc) {
  const SubBlockOf<Block>& w = **groups;
  __m256i sums[Tokens] = {};
  add_products<Tokens>(w, 0, 8, x, stride, sums);
  const Scales own = scales_of(w);
  for (int t = 0; t < Tokens; t++) {
    const Rounded& at = x[(size_t)t * stride];
    acc[t] = fused(floats((i32xN)sums[t]), own.d * at.scale, acc[t]);
    acc[t] = fused(own.m, splat(at.total), acc[t]);
  }
}

template <int Tokens, int Groups>
inline void add_sub_block(const SubBlockOf<SixBitsK>* const* groups, const Rounded* x, int stride, f32xN* acc) {
  const SubBlockOf<SixBitsK>& w = **groups;
  for (int half = 0; half < 2; half++) {
    __m256i sums[Tokens];
    for (int t = 0; t < Tokens; t++)
      sums[t] = _mm256_set1_epi32(x[(size_t)t * stride].less_of_half[half]);
    add_products<Tokens>(w, 4 * half, 4 * half + 4, x, stride, sums);
    const f32xN d = w.block->of_half(w.scales, 2 * w.sub + half);
    for (int t = 0; t < Tokens; t++)
      acc[t] = fused(floats((i32xN)sums[t]), d * x[(size_t)t * stride].scale, acc[t]);
  }
}

template <int Tokens, int Groups>
inline void add_sub_block(const SubBlockOf<EightBits>* const* groups, const Rounded* x, int stride, f32xN* acc) {
  const SubBlockOf<EightBits>& w = **groups;
  __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[Tokens] = {};
  for (int j = 0; j < 8; j++) {
    __m256i signs = _mm256_loadu_si256((const __m256i*)w.block->q[j]);
    __m256i sizes = _mm256_abs_epi8(signs);  // maddubs wants one side unsigned
    for (int t = 0; t < Tokens; t++) {
      __m256i turned = _mm256_sign_epi8(four_of(x[(size_t)t * stride].q + 4 * j), signs);
      __m256i pairs = _mm256_maddubs_epi16(sizes, turned);
      sums[t] = _mm256_add_epi32(sums[t], _mm256_madd_epi16(pairs, ones));
    }
  }
  for (int t = 0; t < Tokens; t++)
    acc[t] = fused(floats((i32xN)sums[t]), w.scales.d * x[(size_t)t * stride].scale, acc[t]);
}

}  // namespace
