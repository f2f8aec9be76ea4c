// What is done to one row of activations around the products.

#pragma once

#include "vectors.h"

namespace {

// out = x / rms(x) * weight, after x += delta where given.
inline void norm_row(float* x, const float* delta, const float* weight, float* out, int K,
                     float eps) {
  f32xN squares = {};
  for (int k = 0; k < K; k += kLanes) {
    f32xN v = load<f32xN>(x + k);
    if (delta) {
      v += load<f32xN>(delta + k);
      std::memcpy(x + k, &v, sizeof v);
    }
    squares = fused(v, v, squares);
  }
  float scale = 1.0f / std::sqrt(sum(squares) / K + eps);
  for (int k = 0; k < K; k += kLanes) {
    f32xN v = load<f32xN>(x + k) * scale * load<f32xN>(weight + k);
    std::memcpy(out + k, &v, sizeof v);
  }
}

// Rotary position embedding of one head in place, by the cos and sin (D) of its position.
inline void rotate_row(float* head, const float* cosines, const float* sines, int D) {
  int half = D / 2;
  for (int i = 0; i < half; i++) {
    float first = head[i], second = head[i + half];
    head[i] = first * cosines[i] - second * sines[i];
    head[i + half] = second * cosines[i + half] + first * sines[i + half];
  }
}

// out = silu(gate) * up.
inline void swiglu_row(const float* gate, const float* up, float* out, int count) {
  for (int i = 0; i < count; i += kLanes) {
    f32xN g = load<f32xN>(gate + i);
    f32xN v = g / (1.0f + exponential(-g)) * load<f32xN>(up + i);
    std::memcpy(out + i, &v, sizeof v);
  }
}

}  // namespace
