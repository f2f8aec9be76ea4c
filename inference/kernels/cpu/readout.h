// Linear functions of what a layer leaves, for each row of a batch.

#pragma once

#include "vectors.h"

extern "C" {

// `count` functions of what enters layer `layer`: weight (count, hidden) and bias (count). Those of row m
// go to values (slots, count) at the row's slot.
struct ParleyReadout {
  int layer, count;
  const float *weight, *bias;
  float* values;
};
}

namespace {

// values (count) = weight @ x + bias, for one row x (hidden).
inline void read_row(const ParleyReadout& readout, const float* x, float* values, int hidden) {
  for (int r = 0; r < readout.count; r++) {
    const float* weight = readout.weight + (size_t)r * hidden;
    f32xN products = {};
    for (int k = 0; k < hidden; k += kLanes)
      products = fused(load<f32xN>(x + k), load<f32xN>(weight + k), products);
    values[r] = sum(products) + readout.bias[r];
  }
}

}  // namespace
