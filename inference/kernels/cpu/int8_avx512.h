// Rounding and products in AVX-512 with VNNI, which adds four products of bytes to a sum of 32 bits.

#pragma once

#define PARLEY_INT8

namespace {

constexpr int kTokens = 8;  // at once: their sums stay in registers
// The same where weights are unpacked, by groups: what is loaded serves several products. Sums of Q6_K take
// half as many products, so more of them hide what is done with each.
template <class Block>
constexpr int kTileTokens = std::is_same<Block, FourBitsK>::value || std::is_same<Block, FiveBitsK>::value ? 4 : 6;
constexpr int kTileGroups = 2;

// Values of a row that have one unit, where its weights are Blocks.
template <class Block>
constexpr int kShared = kValues<Block>;

inline float largest_of(const float* x) {
  return _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(_mm512_loadu_ps(x)),
                                            _mm512_abs_ps(_mm512_loadu_ps(x + kLanes))));
}

// 32 values by `scale`, whose inverse is given. `unit` and `shift` as in `Rounded`.
inline void round_block(const float* x, float scale, float inverse, float unit, int shift, Rounded* out) {
  __m512i q[2];
  for (int j = 0; j < 2; j++) {
    q[j] = _mm512_cvtps_epi32((__m512)(load<f32xN>(x + 16 * j) * inverse));
    _mm_storeu_si128((__m128i*)(out->q + 16 * j), _mm512_cvtepi32_epi8(q[j]));
  }
  const int first = _mm512_reduce_add_epi32(q[0]), second = _mm512_reduce_add_epi32(q[1]);
  out->scale = scale;
  out->total = scale * (float)(first + second);
  out->less = -128 * (first + second);
  out->less_of_half[0] = -32 * first;
  out->less_of_half[1] = -32 * second;
  out->unit = unit;
  out->shift = shift;
  out->pair[0] = (int16_t)((first + second) << shift);
}

// A unit is an eighth of the largest scale, so that `pair` has room for the others by two, four and eight.
constexpr int kSteps = 8;

inline void round_together(const float* x, Rounded* out, int blocks) {
  float largest[kValues<FourBitsK> / kBlock], most = 0;
  for (int b = 0; b < blocks; b++) most = std::max(most, largest[b] = largest_of(x + b * kBlock));
  const float unit = most / (127.0f * kSteps), inverse = most > 0 ? 127.0f * kSteps / most : 0.0f;
  for (int b = 0; b < blocks; b++) {
    const float steps = kSteps * largest[b];
    const int shift = (steps > most) + (steps > 2 * most) + (steps > 4 * most);
    const float power = (float)(1 << shift);
    round_block(x + b * kBlock, unit * power, inverse / power, unit, shift, out + b);
    if (b) out[b - 1].pair[1] = out[b].pair[0];
  }
}

// K values to blocks of 32, of which `shared` values have one unit.
inline void round_row(const float* x, Rounded* out, int K, int shared = kBlock) {
  if (shared > kBlock) {
    for (int k = 0; k < K; k += shared) round_together(x + k, out + k / kBlock, shared / kBlock);
    return;
  }
  for (int k = 0; k < K; k += kBlock) {
    const float most = largest_of(x + k);
    round_block(x + k, most / 127.0f, most > 0 ? 127.0f / most : 0.0f, 0, 0, out + k / kBlock);
  }
}

inline __m512i four_of(const int8_t* q) { return _mm512_set1_epi32(load<int32_t>(q)); }

// A sub-block of a group with a byte for each value, unsigned as one side of a product is to be.
struct UnpackedNibbles {  // value = d * q + m
  __m512i q[8];
  f32xN d, m;
};

struct UnpackedSix {  // value = d * (q - 32), d of either half
  __m512i q[8];
  f32xN d[2];
};

struct UnpackedEight {  // value = d * (q - 128)
  __m512i q[8];
  f32xN d;
};

inline void unpack_nibbles(const Part* from, __m512i* q) {
  const __m512i low = _mm512_set1_epi8(15);
  for (int j = 0; j < 4; j++) {
    __m512i both = _mm512_loadu_si512(from[j]);
    q[j] = _mm512_and_si512(both, low);
    q[4 + j] = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
  }
}

// q | (bits shifted by `Left`, to the right where it is negative) & mask.
template <int Left>
inline __m512i with_bits(__m512i q, __m512i bits, __m512i mask) {
  if constexpr (Left > 0) bits = _mm512_slli_epi16(bits, Left);
  if constexpr (Left < 0) bits = _mm512_srli_epi16(bits, -Left);
  return _mm512_ternarylogic_epi32(q, bits, mask, 0xf8);
}

inline void add_one_bit(const Part& high, __m512i* q) {
  const __m512i bits = _mm512_loadu_si512(high), mask = _mm512_set1_epi8(16);
  q[0] = with_bits<4>(q[0], bits, mask), q[1] = with_bits<3>(q[1], bits, mask);
  q[2] = with_bits<2>(q[2], bits, mask), q[3] = with_bits<1>(q[3], bits, mask);
  q[4] = with_bits<0>(q[4], bits, mask), q[5] = with_bits<-1>(q[5], bits, mask);
  q[6] = with_bits<-2>(q[6], bits, mask), q[7] = with_bits<-3>(q[7], bits, mask);
}

inline void add_two_bits(const Part* high, __m512i* q) {
  const __m512i mask = _mm512_set1_epi8(48);
  for (int half = 0; half < 2; half++, q += 4) {
    const __m512i bits = _mm512_loadu_si512(high[half]);
    q[0] = with_bits<4>(q[0], bits, mask), q[1] = with_bits<2>(q[1], bits, mask);
    q[2] = with_bits<0>(q[2], bits, mask), q[3] = with_bits<-2>(q[3], bits, mask);
  }
}

inline UnpackedNibbles unpack(const FourBits& w, const Scales& scales, int) {
  UnpackedNibbles out;
  unpack_nibbles(w.q, out.q);
  out.d = scales.d, out.m = scales.m;
  return out;
}

inline UnpackedNibbles unpack(const FiveBits& w, const Scales& scales, int) {
  UnpackedNibbles out;
  unpack_nibbles(w.q, out.q);
  add_one_bit(w.high, out.q);
  out.d = scales.d, out.m = scales.m;
  return out;
}

inline UnpackedNibbles unpack(const FourBitsK& w, const Scales& scales, int sub) {
  UnpackedNibbles out;
  unpack_nibbles(w.q[sub], out.q);
  const Scales own = w.of_sub_block(scales, sub);
  out.d = own.d, out.m = own.m;
  return out;
}

inline UnpackedNibbles unpack(const FiveBitsK& w, const Scales& scales, int sub) {
  UnpackedNibbles out;
  unpack_nibbles(w.q[sub], out.q);
  add_one_bit(w.high[sub], out.q);
  const Scales own = w.of_sub_block(scales, sub);
  out.d = own.d, out.m = own.m;
  return out;
}

inline UnpackedSix unpack(const SixBitsK& w, const Scales& scales, int sub) {
  UnpackedSix out;
  unpack_nibbles(w.q[sub], out.q);
  add_two_bits(w.high[sub], out.q);
  for (int half = 0; half < 2; half++) out.d[half] = w.of_half(scales, 2 * sub + half);
  return out;
}

inline UnpackedEight unpack(const EightBits& w, const Scales& scales, int) {
  UnpackedEight out;
  const __m512i top = _mm512_set1_epi8((char)0x80);
  for (int j = 0; j < 8; j++) out.q[j] = _mm512_xor_si512(_mm512_loadu_si512(w.q[j]), top);
  out.d = scales.d;
  return out;
}

// sums (Groups, Tokens) += parts [begin, end) of the weights by the tokens.
template <int Tokens, int Groups, class SubBlock>
inline void add_products(const SubBlock* const* w, int begin, int end, const Rounded* x, int stride,
                         __m512i* sums) {
#pragma GCC unroll 8
  for (int j = begin; j < end; j++) {
    __m512i part[Groups];
    for (int g = 0; g < Groups; g++) part[g] = w[g]->q[j];
    for (int t = 0; t < Tokens; t++) {
      const __m512i four = four_of(x[(size_t)t * stride].q + 4 * j);
      for (int g = 0; g < Groups; g++) {
        __m512i& sum = sums[g * Tokens + t];
        sum = _mm512_dpbusd_epi32(sum, part[g], four);
        asm("" : "+v"(sum));  // or GCC keeps some of Q6_K's in memory
      }
    }
  }
}

// Those of all parts, or of either half, from `less` on, and `scaled(sum, g, t)`.
template <int Tokens, int Groups, class SubBlock, class Less, class Action>
inline void each_sum(const SubBlock* const* w, int begin, int end, const Rounded* x, int stride, Less less,
                     Action scaled) {
  __m512i sums[Groups * Tokens];
  for (int t = 0; t < Tokens; t++) {
    const __m512i from = _mm512_set1_epi32(less(x[(size_t)t * stride]));
    for (int g = 0; g < Groups; g++) sums[g * Tokens + t] = from;
  }
  add_products<Tokens, Groups>(w, begin, end, x, stride, sums);
  for (int t = 0; t < Tokens; t++)
    for (int g = 0; g < Groups; g++) scaled(sums[g * Tokens + t], g, t);
}

// acc (Groups, Tokens) += a sub-block of each group by the tokens, `w` and `x` of its first.
template <int Tokens, int Groups>
inline void add_sub_block(const UnpackedNibbles* const* w, const Rounded* x, int stride, f32xN* acc) {
  each_sum<Tokens, Groups>(
      w, 0, 8, x, stride, [](const Rounded&) { return 0; },
      [&](__m512i sum, int g, int t) {
        const Rounded& at = x[(size_t)t * stride];
        f32xN& to = acc[g * Tokens + t];
        to = fused(floats((i32xN)sum), w[g]->d * at.scale, to);
        to = fused(w[g]->m, splat(at.total), to);
      });
}

template <int Tokens, int Groups>
inline void add_sub_block(const UnpackedSix* const* w, const Rounded* x, int stride, f32xN* acc) {
#pragma GCC unroll 2
  for (int half = 0; half < 2; half++)
    each_sum<Tokens, Groups>(
        w, 4 * half, 4 * half + 4, x, stride, [&](const Rounded& at) { return at.less_of_half[half]; },
        [&](__m512i sum, int g, int t) {
          f32xN& to = acc[g * Tokens + t];
          to = fused(floats((i32xN)sum), w[g]->d[half] * x[(size_t)t * stride].scale, to);
        });
}

template <int Tokens, int Groups>
inline void add_sub_block(const UnpackedEight* const* w, const Rounded* x, int stride, f32xN* acc) {
  each_sum<Tokens, Groups>(
      w, 0, 8, x, stride, [](const Rounded& at) { return at.less; },
      [&](__m512i sum, int g, int t) {
        f32xN& to = acc[g * Tokens + t];
        to = fused(floats((i32xN)sum), w[g]->d * x[(size_t)t * stride].scale, to);
      });
}

// A sub-block's sums in the unit of its activations.
inline f32xN in_units(__m512i sums, const Rounded& x) {
  return floats((i32xN)_mm512_sllv_epi32(sums, _mm512_set1_epi32(x.shift)));
}

// Sub-blocks whose activations have one unit: own += d * products, which it multiplies once a block.
template <int Tokens, int Groups>
inline void add_in_units(const UnpackedNibbles* const* w, const Rounded* x, int stride, f32xN* own) {
  each_sum<Tokens, Groups>(
      w, 0, 8, x, stride, [](const Rounded&) { return 0; },
      [&](__m512i sum, int g, int t) {
        f32xN& to = own[g * Tokens + t];
        to = fused(in_units(sum, x[(size_t)t * stride]), w[g]->d, to);
      });
}

template <int Tokens, int Groups>
inline void add_in_units(const UnpackedSix* const* w, const Rounded* x, int stride, f32xN* own) {
#pragma GCC unroll 2
  for (int half = 0; half < 2; half++)
    each_sum<Tokens, Groups>(
        w, 4 * half, 4 * half + 4, x, stride, [&](const Rounded& at) { return at.less_of_half[half]; },
        [&](__m512i sum, int g, int t) {
          f32xN& to = own[g * Tokens + t];
          to = fused(in_units(sum, x[(size_t)t * stride]), w[g]->d[half], to);
        });
}

// The constants of a block's sub-blocks: pairs of small integers, by those of the
// activations' sums.
struct Constants {
  __m512i pairs[4];
  f32xN m;
};

template <class Block>
inline Constants constants_of(const Block& w, const Scales& scales) {
  Constants out;
  for (int j = 0; j < 4; j++) {
    out.pairs[j] = (__m512i)(widen_bytes(w.least[2 * j]) | widen_bytes(w.least[2 * j + 1]) << 16);
  }
  out.m = scales.m;
  return out;
}

inline Nothing constants_of(const SixBitsK&, const Scales&) { return {}; }

template <int Tokens>
inline void add_constants(const Constants& w, const Rounded* x, int stride, f32xN* own) {
  for (int t = 0; t < Tokens; t++) {
    __m512i sum = {};
    for (int j = 0; j < 4; j++)
      sum = _mm512_dpwssd_epi32(sum, w.pairs[j],
                                _mm512_set1_epi32(load<int32_t>(x[(size_t)t * stride + 2 * j].pair)));
    own[t] = fused(floats((i32xN)sum), w.m, own[t]);
    asm("" : "+v"(own[t]));  // one token after another, or GCC keeps their sums in memory
  }
}

template <int Tokens>
inline void add_constants(const Nothing&, const Rounded*, int, f32xN*) {}

}  // namespace
