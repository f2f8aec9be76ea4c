// MiniLM's layers over one text, and the mean of its pieces: one call, one thread, nothing that is
// allocated in between. The same function as the graph in data/encoder.onnx (safety/training/export.py).

#include "product.h"

extern "C" {

struct Norm {
  const float *weight, *bias;
};

struct Layer {
  Product all_three, mixed, wide, narrow;
  Norm after_attention, after_all;
};

struct Encoder {
  Norm norm;
  const Layer* layers;
  int32_t count;
};
}

namespace {

constexpr int kSize = 384, kWide = 1536, kHeads = 12, kHead = kSize / kHeads;
constexpr float kEpsilon = 1e-12f;
constexpr int kTogether = 4;  // rows of attention
constexpr int kKeys = (kMaxRows + kLanes - 1) / kLanes;  // vectors that hold one value of every key

struct Room {
  alignas(64) float text[kMaxRows * kSize], mixed[kMaxRows * kSize];
  alignas(64) float joined[kMaxRows * 3 * kSize], wide[kMaxRows * kWide];
  alignas(64) float keys[kHead * kKeys * kLanes], shares[kTogether * kKeys * kLanes];
  Rounded rounded;
};

// Each row of `x` at a mean of zero and a variance of one, then as `norm` has it.
Range normalize(float* x, int rows, const Norm& norm) {
  Range range;
  for (int r = 0; r < rows; r++, x += kSize) {
    f32xN total = {}, squares = {};
    for (int i = 0; i < kSize; i += kLanes) total += floats(x + i);
    const float mean = sum(total) / kSize;
    for (int i = 0; i < kSize; i += kLanes) {
      const f32xN off = floats(x + i) - mean;
      squares = fused(off, off, squares);
    }
    const float scale = 1.0f / std::sqrt(sum(squares) / kSize + kEpsilon);
    for (int i = 0; i < kSize; i += kLanes) {
      const f32xN v = fused((floats(x + i) - mean) * scale, floats(norm.weight + i), floats(norm.bias + i));
      store(x + i, v);
      range.add(v);
    }
  }
  return range;
}

// How alike `Rows` queries are to all keys, a head's.
template <int Rows, int Vectors>
inline void compare(const float* queries, const float* keys, const f32xN* hidden, float* shares) {
  f32xN likeness[Rows][Vectors];
  for (int r = 0; r < Rows; r++)
    for (int v = 0; v < Vectors; v++) likeness[r][v] = hidden[v];
  for (int d = 0; d < kHead; d++, keys += Vectors * kLanes)
    for (int r = 0; r < Rows; r++)
      for (int v = 0; v < Vectors; v++)
        likeness[r][v] = fused(splat(queries[r * 3 * kSize + d]), floats(keys + v * kLanes), likeness[r][v]);
  for (int r = 0; r < Rows; r++)
    for (int v = 0; v < Vectors; v++) store(shares + (r * Vectors + v) * kLanes, likeness[r][v]);
}

// Likenesses of a row to shares, which sum to one.
template <int Vectors>
inline void softmax(float* shares) {
  f32xN most = floats(shares), total = {}, share[Vectors];
  for (int v = 1; v < Vectors; v++) most = larger(most, floats(shares + v * kLanes));
  const f32xN top = splat(largest(most));
  for (int v = 0; v < Vectors; v++) total += share[v] = exponential(floats(shares + v * kLanes) - top);
  const f32xN inverse = splat(1.0f / sum(total));
  for (int v = 0; v < Vectors; v++) store(shares + v * kLanes, share[v] * inverse);
}

// The values of a head, mixed by the shares of `Rows` rows.
template <int Rows, int Vectors>
inline void mix(const float* shares, const float* values, int count, float* out, Range& range) {
  constexpr int kParts = kHead / kLanes;
  f32xN sums[Rows][kParts] = {};
  for (int i = 0; i < count; i++, values += 3 * kSize)
    for (int r = 0; r < Rows; r++)
      for (int v = 0; v < kParts; v++)
        sums[r][v] = fused(splat(shares[r * Vectors * kLanes + i]), floats(values + v * kLanes), sums[r][v]);
  for (int r = 0; r < Rows; r++)
    for (int v = 0; v < kParts; v++) {
      store(out + r * kSize + v * kLanes, sums[r][v]);
      range.add(sums[r][v]);
    }
}

// Attention of all heads, `Rows` rows at a time: as many as there are at least. Joined are
// [rows][queries, keys, values]; queries are scaled already.
template <int Rows, int Vectors>
Range attend(Room& room, int rows) {
  Range range;
  f32xN hidden[Vectors] = {};  // keys that are none
  for (int i = rows; i < Vectors * kLanes; i++) hidden[i / kLanes][i % kLanes] = -1e30f;
  for (int head = 0; head < kHeads; head++) {
    const float* from = room.joined + head * kHead;
    for (int r = 0; r < rows; r++)
      for (int d = 0; d < kHead; d++) room.keys[d * Vectors * kLanes + r] = from[r * 3 * kSize + kSize + d];
    for (int r = 0; r < rows; r += Rows) {
      const int row = std::min(r, rows - Rows);  // the last ones overlap with those before
      compare<Rows, Vectors>(from + row * 3 * kSize, room.keys, hidden, room.shares);
      for (int i = 0; i < Rows; i++) softmax<Vectors>(room.shares + i * Vectors * kLanes);
      mix<Rows, Vectors>(room.shares, from + 2 * kSize, rows, room.mixed + row * kSize + head * kHead, range);
    }
  }
  return range;
}

Range attention(Room& room, int rows) {
  if (rows < kTogether) return attend<1, 1>(room, rows);
  if (rows <= kLanes) return attend<kTogether, 1>(room, rows);
  if (rows <= 2 * kLanes) return attend<kTogether, 2>(room, rows);
  return attend<kTogether, kKeys>(room, rows);
}

Range run(Room& room, int rows, const Layer& layer, const Range& range) {
  round_rows(room.text, range, rows * kSize, room.rounded);
  multiply(room.rounded, rows, layer.all_three,
           [&](int row, int column, f32xN v) { store(room.joined + row * 3 * kSize + column, v); });
  round_rows(room.mixed, attention(room, rows), rows * kSize, room.rounded);
  const auto add = [&](int row, int column, f32xN v) {
    float* at = room.text + row * kSize + column;
    store(at, floats(at) + v);
  };
  multiply(room.rounded, rows, layer.mixed, add);
  round_rows(room.text, normalize(room.text, rows, layer.after_attention), rows * kSize, room.rounded);
  Range wide;
  multiply(room.rounded, rows, layer.wide, [&](int row, int column, f32xN v) {
    v = gelu(v);
    store(room.wide + row * kWide + column, v);
    wide.add(v);
  });
  round_rows(room.wide, wide, rows * kWide, room.rounded);
  multiply(room.rounded, rows, layer.narrow, add);
  return normalize(room.text, rows, layer.after_all);
}

}  // namespace

extern "C" {

int32_t parley_encoder_panel() { return kPanel; }       // columns of a panel of packed weights
int32_t parley_encoder_max_rows() { return kMaxRows; }  // that a text may have

// Products of bytes from registers, which is what a processor can do at most: `rounds` times as many
// as are returned.
int32_t parley_encoder_products(int32_t rounds, const int8_t* weights, int32_t* out) {
  constexpr int kSums = 12;
  i32xN sums[kSums];
  const i32xN bytes = rounds - i32xN{};
#pragma GCC unroll 12
  for (int j = 0; j < kSums; j++) sums[j] = j - i32xN{};  // no two alike, or they would be computed once
  for (int i = 0; i < rounds; i++)
#pragma GCC unroll 12
    for (int j = 0; j < kSums; j++) sums[j] = add_products(sums[j], bytes, weights);
#pragma GCC unroll 12
  for (int j = 1; j < kSums; j++) sums[0] += sums[j];
  *out = sums[0][0];
  return kSums * kLanes * 4;
}

// vectors [rows, kSize], 1 to kMaxRows of them, to their mean [kSize].
void parley_encode(const Encoder* encoder, const float* vectors, int32_t rows, float* mean) {
  static thread_local Room own;
  Room* found = &own;
  asm("" : "+r"(found));  // or the compiler asks for the thread's address in the innermost loops
  Room& room = *found;
  std::memcpy(room.text, vectors, sizeof(float) * rows * kSize);
  Range range = normalize(room.text, rows, encoder->norm);
  for (int i = 0; i < encoder->count; i++) range = run(room, rows, encoder->layers[i], range);
  for (int i = 0; i < kSize; i += kLanes) {
    f32xN total = {};
    for (int r = 0; r < rows; r++) total += floats(room.text + r * kSize + i);
    store(mean + i, total / (float)rows);
  }
}
}
